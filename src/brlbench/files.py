"""Reading and writing whole files."""

import errno
import os
import secrets
from contextlib import suppress
from pathlib import Path

from .errors import StoreError


def read_bytes(path: Path) -> bytes:
    """The content of a file."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise StoreError(f"{path} can't be read: {error.strerror}") from None


def check_free(path: Path, overwrite: bool = False) -> None:
    """Raise if a file exists and must not be overwritten, or if its folder does not exist.

    Called before long work, so that the work is not wasted.
    """
    if not overwrite and path.exists():
        raise StoreError(f"{path} exists already: choose another name, or allow overwriting")
    if not path.parent.is_dir():
        reason = errno.ENOTDIR if path.parent.exists() else errno.ENOENT
        raise StoreError(f"{path} can't be written: {os.strerror(reason)}")


def atomic_write(path: Path, data: bytes, overwrite: bool = False) -> None:
    """Write a file whole or not at all, even if writing is interrupted."""
    temporary = path.parent / f".{secrets.token_hex(8)}.tmp"
    try:
        check_free(path, overwrite)
        with temporary.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        raise StoreError(f"{path} can't be written: {error.strerror}") from None
    finally:
        with suppress(OSError):
            temporary.unlink()
