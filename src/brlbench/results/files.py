"""Results, and parts of results, as Parquet files: the table, with the header as metadata."""

from contextlib import suppress
from dataclasses import fields
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from ..files import atomic_write
from ..schemas import parse_table
from .result import Header, Result, Stopped
from .schema import COLUMNS
from .sealed import (
    COLUMN_TYPES,
    DAMAGE,
    footer_of,
    metadata_in,
    pack_table,
    read_table,
    reading,
)
from .times import KNOWN_FEATURES, ONLINE_FEATURES


def write_result(
    path: Path, result: Result, keep_paths: bool = False, overwrite: bool = False
) -> None:
    """Write a result; states and actions too if `keep_paths`."""
    atomic_write(path, pack_result(result, keep_paths), overwrite)


def pack_result(result: Result, keep_paths: bool = False) -> bytes:
    """A result as the content of a file."""
    frame = result.to_polars()
    if not keep_paths:
        frame = frame.select(name for name in frame.columns if not COLUMNS[name].is_path)
    return pack_table("result", frame, _metadata(result))


def pack_part(part: Result) -> bytes:
    """A part of a result as the content of a file."""
    return pack_table("part", part.to_polars(), _metadata(part))


def _metadata(result: Result) -> dict[str, Any]:
    header = {each.name: getattr(result, each.name) for each in fields(Header)}
    return header | {"expected": result.expected_start_values or result.expected}


def read_result(path: Path, decisions: bool = True, data: bytes | None = None) -> Result:
    """Read a result, without columns of single decisions if they are not needed.

    `data` is the content of a file that is yet to be written.
    """
    result = _read(path, "result", decisions, data)
    with reading(path):
        settings, per_mdp = result.settings, result.settings["trajectories_per_mdp"]
        rows, complete = len(result.columns["mdp"]), settings["num_mdps"] * per_mdp
        is_fit = 0 < rows <= complete and (rows == complete or result.stopped is not None)
        starts_late = result.columns["mdp"][0] or result.columns["trajectory"][0]
        if not is_fit or rows % per_mdp or starts_late:
            raise ValueError("its rows are not those of its experiment")
        if result.online_seconds.keys() not in (set(ONLINE_FEATURES), set(KNOWN_FEATURES)):
            raise ValueError("it lacks times")
    return result


def read_part(path: Path, data: bytes | None = None) -> Result:
    """Read a part of a result; `data` is the content of a file that is yet to be written."""
    return _read(path, "part", True, data)


def _read(path: Path, kind: str, decisions: bool, data: bytes | None) -> Result:
    wanted = [name for name, each in COLUMNS.items() if decisions or not each.of_decisions]
    table, metadata = read_table(path, kind, wanted, data=data)
    with reading(path):
        header = parse_table(Header, metadata)
        if "offline_seconds" not in header.measured:
            raise ValueError("it lacks times")
        _check_table(table, header.settings)
        columns = {name: table[name].to_numpy() for name in table.columns}
        return Result(**vars(header), columns=columns)


def read_stopped(path: Path) -> Stopped | None:
    """Why the result in a file has fewer MDPs than its experiment, if that can be read."""
    with suppress(*DAMAGE):
        return parse_table(Stopped, metadata_in(footer_of(path) or b"")["stopped"])
    return None


def _check_table(table: pl.DataFrame, settings: dict[str, Any]) -> None:
    """Check the types, lengths and limits of columns, and that rows are consecutive."""
    horizon = table["rewards"].to_numpy().shape[1] if "rewards" in table.columns else 0
    per_mdp = settings["trajectories_per_mdp"]
    for name, quantity in COLUMNS.items():
        if name not in table.columns:
            continue
        width, kind = quantity.axis.width(horizon), COLUMN_TYPES[quantity.kind]
        if table.schema[name] != (kind if width is None else pl.Array(kind, width)):
            raise ValueError(f"column {name} has type {table.schema[name]}")
        if isfinite(quantity.least) or isfinite(quantity.most):
            numbers = table[name].to_numpy()
            # Written so that NaN is refused too.
            if not ((numbers >= quantity.least) & (numbers <= quantity.most)).all():
                raise ValueError(f"column {name} has numbers that no trajectory leads to")
    places = table["mdp"].to_numpy() * per_mdp + table["trajectory"].to_numpy()
    if len(places) == 0 or (np.diff(places) != 1).any() or (table["trajectory"] >= per_mdp).any():
        raise ValueError("its rows are not consecutive")
    if "return" not in table.columns:
        raise ValueError("it has no returns")
