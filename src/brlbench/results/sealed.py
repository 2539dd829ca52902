"""Parquet tables with metadata, sealed by a digest: the format of all tables that are stored.

The metadata is a JSON text. Each file holds a digest of its other bytes. A file that does not match
its digest is not parsed.
"""

import dataclasses
import hashlib
import io
import json
import os
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from ..errors import InvalidInput, StoreError, WrongKind, short
from ..files import PARSED_BYTES, parse_json, read_stored
from ..memory import check_memory

DAMAGE = (
    ArithmeticError,
    AttributeError,
    LookupError,
    MemoryError,
    RecursionError,
    TypeError,
    ValueError,
    pl.exceptions.PolarsError,
    pl.exceptions.PanicException,
)
"""Exceptions raised by malformed content."""

FORMAT = 1
_KEY = "brlbench"
_SEAL = "brlbench-sha256:"
OPEN_SEAL = _SEAL + 64 * "0"  # where the digest goes, once the rest is known
_MAGIC = b"PAR1"  # begins and ends a Parquet file
_TAIL = 8  # bytes: the length of the footer, and the magic
_MOST_FOOTER = 2**24
COLUMN_TYPES = {int: pl.Int64, float: pl.Float64}
_TYPES = (*COLUMN_TYPES.values(), pl.String, pl.Null)  # of columns, or of their lists

Parse = Callable[[bytes], tuple[pl.LazyFrame, str]]
"""Parses a Parquet file into its table and its metadata."""


@contextmanager
def reading(path: Path | str) -> Iterator[None]:
    """Turn exceptions raised by malformed content into an error that names the file."""
    try:
        yield
    except InvalidInput as error:
        raise StoreError(f"{path} can't be used: {error}") from None
    except DAMAGE as error:
        raise StoreError(f"{path} is damaged, or not a file of brlbench: make it again") from error


def pack_table(
    kind: str, columns: dict[str, Any] | pl.DataFrame, metadata: dict[str, Any]
) -> bytes:
    """A table with its metadata as the content of a file."""
    content = json.dumps({"kind": kind, "format": FORMAT, **metadata}, default=_plain)
    header = {_KEY: content, "digest": OPEN_SEAL}
    buffer = io.BytesIO()
    pl.DataFrame(columns).write_parquet(
        buffer, compression="zstd", compression_level=1, metadata=header
    )
    return sealed(buffer.getvalue())


def parse_parquet(data: bytes) -> tuple[pl.LazyFrame, str]:
    """Parse a file that is trusted: Polars allocates whatever it announces."""
    return pl.scan_parquet(io.BytesIO(data)), pl.read_parquet_metadata(io.BytesIO(data))[_KEY]


def parse_for_parent(data: bytes, notify: Any) -> tuple[bytes, str]:
    """Parse a file in a child process, which may end or grow; returns the table as Arrow IPC."""
    with open(os.devnull, "wb") as nothing:  # Polars prints why it ends the process
        os.dup2(nothing.fileno(), 2)
    frame, metadata = parse_parquet(data)
    _check_schema(frame.collect_schema())
    buffer = io.BytesIO()
    frame.collect().write_ipc(buffer)
    return buffer.getvalue(), metadata


def _plain(value: Any) -> Any:
    """A dataclass as a table of its fields, NumPy's numbers as Python's; anything else as text."""
    if isinstance(value, np.generic):
        return value.item()
    return vars(value) if dataclasses.is_dataclass(value) else str(value)


def read_table(
    path: Path,
    kind: str,
    wanted: Collection[str] | None = None,
    nullable: Collection[str] = (),
    parse: Parse = parse_parquet,
    data: bytes | None = None,
) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Read a table of the given kind, all of it or the wanted columns, and its metadata.

    Empty places are allowed in nullable columns only. `data` is the content of a file that is yet
    to be written.
    """
    data = read_stored(path) if data is None else data
    with reading(path):
        if not is_intact(data):  # Polars can crash on a damaged file
            raise ValueError("its digest is wrong")
        frame, text = parse(data)
        check_memory(len(text) * PARSED_BYTES, "what its metadata holds", "use a smaller file")
        metadata = parse_json(text)
        check_kind(path, metadata, kind)
        schema = frame.collect_schema()
        _check_schema(schema)
        names = [name for name in schema.names() if wanted is None or name in wanted]
        _check_size(frame, [schema[name] for name in names])
        table = frame.select(names).collect()
        _check_content(table, nullable)
    del metadata["kind"], metadata["format"]
    return table, metadata


def footer_of(path: Path) -> bytes | None:
    """The end of a Parquet file, which has its metadata; None if the file is not whole.

    It is quick to read, but its digest is not checked.
    """
    try:
        if not path.is_file():  # opening a pipe would wait
            return None
        with path.open("rb", buffering=0) as file:
            end = file.seek(0, os.SEEK_END) - _TAIL
            file.seek(max(end, 0))
            tail = file.read(_TAIL)
            length = int.from_bytes(tail[:4], "little")
            if tail[4:] != _MAGIC or not 0 < length <= min(end - len(_MAGIC), _MOST_FOOTER):
                return None
            file.seek(end - length)
            return file.read(length)
    except OSError:
        return None


def metadata_in(footer: bytes) -> dict[str, Any]:
    """The metadata in the end of a file, whose JSON has ASCII characters alone."""
    text = footer.decode("latin-1")
    content, _ = json.JSONDecoder().raw_decode(text, text.index('{"kind": '))
    return dict(content)


def _check_schema(schema: dict[str, pl.DataType]) -> None:
    """Check the types of columns."""
    for name, kind in schema.items():
        inner = kind.inner if isinstance(kind, pl.Array | pl.List) else kind
        if inner not in _TYPES:
            raise ValueError(f"column {name} has type {kind}")


def _check_size(frame: pl.LazyFrame, types: list[pl.DataType]) -> None:
    """Check the size of a table before it is made: a small file can hold many equal rows."""
    width = sum(8 * (kind.size if isinstance(kind, pl.Array) else 1) for kind in types)
    rows = int(frame.select(pl.len()).collect().item())
    check_memory(rows * width, "what it expands to", "use a smaller file")


def _check_content(table: pl.DataFrame, nullable: Collection[str]) -> None:
    """Check that there are rows without gaps, and the total length of texts."""
    if table.is_empty():
        raise ValueError("it has no rows")
    length = 0
    for column in table.get_columns():
        if column.name not in nullable and _has_gaps(column):
            raise ValueError(f"column {column.name} has empty places")
        if column.dtype == pl.String:
            length += int(column.str.len_bytes().cast(pl.UInt64).sum())
    check_memory(length * PARSED_BYTES, "what its texts hold", "use a smaller file")


def _has_gaps(column: pl.Series) -> bool:
    """Whether a place of a column, or of its lists, is empty."""
    numbers = column
    if isinstance(column.dtype, pl.Array):
        numbers = column.reshape((-1,))
    elif isinstance(column.dtype, pl.List):
        numbers = column.filter(column.list.len() > 0).explode()
    return column.null_count() + numbers.null_count() > 0


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
