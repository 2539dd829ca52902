"""Summaries of many results in one small Parquet file, one row per result."""

from pathlib import Path
from typing import Any

import polars as pl

from ..files import atomic_write
from .tables import pack_table, read_table


def write_compact(
    path: Path, columns: dict[str, Any], experiments: list[dict[str, Any]], overwrite: bool = False
) -> None:
    """Write summaries and their experiments."""
    data = pack_table("compact", columns, {"experiments": experiments})
    atomic_write(path, data, overwrite)


def read_compact(path: Path) -> tuple[pl.DataFrame, list[dict[str, Any]]]:
    """Read summaries and their experiments."""
    table, metadata = read_table(path, "compact")
    return table, metadata["experiments"]
