"""Parquet tables with metadata, sealed by a digest.

The metadata is a JSON text. Each file holds a digest of its other bytes. A file that does not match
its digest is not parsed.
"""

import hashlib
import io
import json
from pathlib import Path
from typing import Any

import polars as pl

from ..errors import StoreError, WrongKind
from ..files import atomic_write, read_bytes

FORMAT = 1
_KEY = "brlbench"
_SEAL = "brlbench-sha256:"
OPEN_SEAL = _SEAL + 64 * "0"  # where the digest goes, once the rest is known


def write_table(path: Path, table: pl.DataFrame, overwrite: bool = False) -> None:
    """Write a table of a report, marked so that it is not mistaken for a result."""
    atomic_write(path, pack_table("table", table.to_dict(), {}), overwrite)


def pack_table(kind: str, columns: dict[str, Any], metadata: dict[str, Any]) -> bytes:
    """A table with its metadata as the content of a file."""
    content = json.dumps({"kind": kind, "format": FORMAT, **metadata}, default=str)
    header = {_KEY: content, "digest": OPEN_SEAL}
    buffer = io.BytesIO()
    pl.DataFrame(columns).write_parquet(
        buffer, compression="zstd", compression_level=1, metadata=header
    )
    return sealed(buffer.getvalue())


def read_table(path: Path, kind: str) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Read a table of the given kind and its metadata."""
    data = read_bytes(path)
    damaged = f"{path} is damaged, or not a file of brlbench: make it again"
    if not is_intact(data):  # Polars can crash on a damaged file
        raise StoreError(damaged)
    try:
        metadata = json.loads(pl.read_parquet_metadata(io.BytesIO(data))[_KEY])
        check_kind(path, metadata, kind)
        table = pl.read_parquet(io.BytesIO(data))
    except (KeyError, TypeError, ValueError, pl.exceptions.PolarsError) as error:
        raise StoreError(damaged) from error
    del metadata["kind"], metadata["format"]
    return table, metadata


def check_kind(path: Path, content: dict[str, Any], kind: str) -> None:
    """Raise unless metadata names this kind, and the format that this version reads."""
    if content["kind"] != kind:
        raise WrongKind(f"{path} is a file with kind {content['kind']!r}: must be {kind!r}")
    if content["format"] != FORMAT:
        raise StoreError(
            f"{path} has format {content['format']}, this version reads {FORMAT}: "
            "use the version of brlbench that wrote it"
        )


def sealed(data: bytes) -> bytes:
    """The content of a file with its digest in place of the open seal."""
    digest = hashlib.sha256(data).hexdigest()
    before, _, after = data.rpartition(OPEN_SEAL.encode())
    return before + (_SEAL + digest).encode() + after


def is_intact(data: bytes) -> bool:
    """True if the content of a file matches its digest."""
    place = data.rfind(_SEAL.encode())
    seal = data[place : place + len(OPEN_SEAL)]
    opened = data[:place] + OPEN_SEAL.encode() + data[place + len(OPEN_SEAL) :]
    return seal == (_SEAL + hashlib.sha256(opened).hexdigest()).encode()
