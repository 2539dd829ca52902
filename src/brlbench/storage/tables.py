"""Parquet tables with metadata, sealed by a digest.

The metadata is a JSON text. Each file holds a digest of its other bytes. A file that does not match
its digest is not parsed.
"""

import hashlib
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

from ..errors import StoreError, WrongKind, short
from ..files import PARSED_BYTES, atomic_write, parse_json, read_bytes
from ..memory import check_memory
from .checks import reading
from .parquet import check_sizes

FORMAT = 1
_KEY = "brlbench"
_SEAL = "brlbench-sha256:"
OPEN_SEAL = _SEAL + 64 * "0"  # where the digest goes, once the rest is known
_TYPES = (pl.Int64, pl.Float64, pl.String, pl.Null)  # of columns, or of their lists
_NULLABLE = ("overruns", "adjusted_ci95", "peak_bytes")

Columns = Callable[[dict[str, Any]], list[str] | None]
"""The columns to read from a file with this metadata; None means all."""


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


def read_table(
    path: Path, kind: str, needed: Columns = lambda metadata: None
) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Read a table of the given kind, all of it or the columns needed, and its metadata."""
    data = read_bytes(path)
    with reading(path):
        if not is_intact(data):  # Polars can crash on a damaged file
            raise ValueError("its digest is wrong")
        rows, values = check_sizes(data)
        text = pl.read_parquet_metadata(io.BytesIO(data))[_KEY]
        check_memory(len(text) * PARSED_BYTES, "what its metadata holds", "use a smaller file")
        metadata = parse_json(text)
        check_kind(path, metadata, kind)
        frame, columns = pl.scan_parquet(io.BytesIO(data)), needed(metadata)
        _check_schema(frame.collect_schema(), rows, values)
        table = (frame if columns is None else frame.select(columns)).collect()
        _check_content(table)
    del metadata["kind"], metadata["format"]
    return table, metadata


def _check_schema(schema: dict[str, pl.DataType], rows: int, values: list[int]) -> None:
    """Check the types of columns, and that each has as many values as its type says."""
    for (name, kind), number in zip(schema.items(), values, strict=True):
        inner = kind.inner if isinstance(kind, pl.Array | pl.List) else kind
        width = kind.size if isinstance(kind, pl.Array) else 1
        if inner not in _TYPES or (number != rows * width and not isinstance(kind, pl.List)):
            raise ValueError(f"column {name} has {number} values of type {kind}")


def _check_content(table: pl.DataFrame) -> None:
    """Check that nothing is missing, and how long all texts are together."""
    length = 0
    for column in table.get_columns():
        numbers = column.reshape((-1,)) if isinstance(column.dtype, pl.Array) else column
        if column.name not in _NULLABLE and numbers.null_count():
            raise ValueError(f"column {column.name} has empty places")
        if column.dtype == pl.String:
            length += int(column.str.len_bytes().cast(pl.UInt64).sum())
    check_memory(length * PARSED_BYTES, "what its texts hold", "use a smaller file")


def check_kind(path: Path, content: dict[str, Any], kind: str) -> None:
    """Raise unless metadata names this kind, and the format that this version reads."""
    if content["kind"] != kind:
        raise WrongKind(f"{path} is a file with kind {short(content['kind'])}: must be {kind!r}")
    if content["format"] != FORMAT:
        raise StoreError(
            f"{path} has format {short(content['format'])}, this version reads {FORMAT}: "
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
    content = memoryview(data)  # slices of it are not copies
    digest = hashlib.sha256(content[: max(place, 0)])
    digest.update(OPEN_SEAL.encode())
    digest.update(content[place + len(OPEN_SEAL) :])
    return seal == (_SEAL + digest.hexdigest()).encode()
