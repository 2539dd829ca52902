"""Reading and writing whole files."""

import errno
import json
import os
import re
import secrets
import stat
import tempfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from .errors import InvalidInput, StoreError, short
from .memory import SHARE, check_memory, usable_bytes

PARSED_BYTES = 40  # approximate bytes per parsed byte
_CHUNK = 2**24
_ZLIB_START = b"\x78"
_TEMPORARY = re.compile(r"\.brlbench-[0-9a-f]{16}\.tmp")  # what atomic_write writes first
_MAX_DEPTH = 50  # of JSON; what the package writes is a few levels deep


def read_bytes(path: Path, growth: int = 1) -> bytes:
    """The content of a file; parsing it takes `growth` bytes of memory per byte."""
    try:
        status = path.stat()
        if stat.S_ISCHR(status.st_mode) or stat.S_ISBLK(status.st_mode):
            raise StoreError(f"{path} can't be read: it is a device, not a file")
        with path.open("rb") as file:
            check_memory(status.st_size * growth, f"reading {path}", "shorten it")
            chunks, size = [], 0
            while chunk := file.read(_CHUNK):
                chunks.append(chunk)
                size += len(chunk)
                if size > status.st_size:  # a pipe, or a file that grows
                    check_memory(size * growth, f"reading {path}", "shorten it")
        return b"".join(chunks)
    except OSError as error:
        raise StoreError(f"{path} can't be read: {error.strerror}") from None
    except InvalidInput as error:
        raise StoreError(str(error)) from None
    except ValueError as error:  # a name with a zero byte
        raise StoreError(f"{str(path)!r} can't be read: {error}") from None


def read_stored(path: Path, growth: int = 1) -> bytes:
    """The content of a file that was found in a folder: opening a pipe there would wait."""
    with suppress(OSError, ValueError):  # reading says why
        if stat.S_ISFIFO(path.stat().st_mode):
            raise StoreError(f"{path} can't be read: it is a pipe, not a file")
    return read_bytes(path, growth)


def expanded(data: bytes, source: str | Path) -> bytes:
    """The content of a file that zlib may have compressed; plain content is returned as it is."""
    if not data.startswith(_ZLIB_START):
        return data
    stream, content = zlib.decompressobj(), b""
    most = int(SHARE * usable_bytes() / PARSED_BYTES)
    with suppress(zlib.error):
        content = stream.decompress(data, most + 1)  # its size shows only now
    what = f"{source}: what it expands to"
    check_memory(len(content) * PARSED_BYTES, what, "use a smaller problem")
    if not stream.eof:
        raise StoreError(f"{source} is damaged: it can't be decompressed")
    return content


def decode(data: bytes, source: str | Path) -> str:
    """The text of a file's content."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise InvalidInput(f"{source}: line {line} is not UTF-8 text") from None


def parse_json(text: str | bytes) -> Any:
    """The content of a JSON text; ValueError if it is damaged or could not be printed or copied.

    That is the case if a key is given twice, if it is nested too deeply, or if its texts have
    halves of characters (surrogates).
    """
    if isinstance(text, bytes):
        text = text.decode("utf-8-sig")
    try:
        content = json.loads(text, object_pairs_hook=_without_doubles)
    except RecursionError:
        raise ValueError(f"it is nested more than {_MAX_DEPTH} levels deep") from None
    _check_depth([content])
    if re.search(r"\\u[dD]", text):
        _check_characters(content)
    return content


def _check_characters(content: Any) -> None:
    try:
        json.dumps(content, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        half = error.object[error.start : error.end]
        raise ValueError(f"a text has half of a character, {half!r}") from None


def _check_depth(values: Iterable[Any], depth: int = 0) -> None:
    if depth > _MAX_DEPTH:
        raise ValueError(f"it is nested more than {_MAX_DEPTH} levels deep")
    for value in values:
        if isinstance(value, dict | list):
            _check_depth(value.values() if isinstance(value, dict) else value, depth + 1)


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        (twice, _), *_ = (Counter(name for name, _ in pairs)).most_common(1)
        raise ValueError(f"the key {short(twice)} is given twice")
    return content


def check_free(path: Path, overwrite: bool = False) -> None:
    """Raise if a file exists and must not be overwritten, or if its folder does not exist.

    Called before long work, so that the work is not wasted.
    """
    try:
        if not overwrite and path.exists():
            raise StoreError(
                f"{path} exists already: choose another name, or replace it with --overwrite "
                "(in Python: overwrite=True)"
            )
        if not path.parent.is_dir():
            reason = errno.ENOTDIR if path.parent.exists() else errno.ENOENT
            raise StoreError(f"{path} can't be written: {os.strerror(reason)}")
    except OSError as error:  # such as a name that is too long
        raise StoreError(f"{path} can't be written: {error.strerror}") from None


def make_folder(folder: Path) -> None:
    """Make a folder, and those that it is in, unless it exists."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"{folder} can't be made: {error.strerror}") from None


def slugs(names: Iterable[str], default: str = "experiment") -> list[str]:
    """Names made fit for files: letters, digits and hyphens, distinct even in capitals."""
    made: list[str] = []
    taken: set[str] = set()
    for number, name in enumerate(names, start=1):
        slug = re.sub(r"[^A-Za-z0-9]+", "-", name)[:60].strip("-") or default
        while slug.lower() in taken:
            slug = f"{slug}-{number}"
        made.append(slug)
        taken.add(slug.lower())
    return made


def files_below(
    folder: Path, pattern: str, on_error: Callable[[OSError], object] | None = None
) -> list[Path]:
    """All files in and below a folder whose paths end like a pattern, sorted.

    Folders that can't be read, or vanish meanwhile, are left out; the callback `on_error` gets the
    error.
    """
    tree = os.walk(folder, onerror=on_error)
    paths = (Path(parent, name) for parent, _, names in tree for name in names)
    return sorted(path for path in paths if path.match(pattern))


def atomic_write(path: Path, data: bytes, overwrite: bool = False) -> None:
    """Write a file whole or not at all, even if writing is interrupted."""
    temporary = path.parent / f".brlbench-{secrets.token_hex(8)}.tmp"
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


def remove_leftovers(folder: Path) -> None:
    """Remove the files in a folder that `atomic_write` was killed in writing."""
    with suppress(FileNotFoundError), os.scandir(folder) as entries:
        for entry in entries:
            if _TEMPORARY.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                os.unlink(entry)


def cache_folder(name: str) -> Path | None:
    """A folder for what can be made again, or None if there is no place for it."""
    for find_root in (_chosen_root, _temporary_root):
        with suppress(OSError, RuntimeError):  # there may be no home, or no place for files
            folder = find_root() / name
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                return folder
    return None


def _chosen_root() -> Path:
    if chosen := os.environ.get("BRLBENCH_CACHE_DIR"):
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "brlbench"


def _temporary_root() -> Path:
    """A folder of this user's own: compiled code that is read from it can do anything."""
    root = Path(tempfile.gettempdir(), f"brlbench-{os.getuid()}")
    root.mkdir(mode=0o700, exist_ok=True)
    status = root.lstat()
    if status.st_uid != os.getuid() or status.st_mode & 0o022:
        raise PermissionError(f"{root} belongs to others")
    return root
