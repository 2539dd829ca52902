"""Results, and parts of results, as Parquet files with one row per trajectory."""

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl

from ..files import atomic_write
from ..protocol.result import Result
from ..protocol.times import TimeCounts
from ..protocol.totals import PartTotals, Totals
from ..protocol.training import Training
from .checks import (
    Rule,
    check,
    check_times,
    is_features,
    is_machine,
    is_settings,
    is_table,
    is_text,
    is_time,
    optional,
    reading,
)
from .tables import pack_table, read_table

_RECORD = ("states", "actions", "rewards", "nanoseconds", "cpu_nanoseconds")
_TOTALS = ("returns", "cpu_nanoseconds")
_METADATA: dict[str, Rule] = {
    "algorithm": is_text,
    "parameters": is_table,
    "settings": is_settings,
    "experiment_hash": is_text,
    "offline_seconds": is_time,
    "offline_cpu_seconds": is_time,
    "machine": is_machine,
}


def write_result(
    path: Path, result: Result, keep_paths: bool = False, overwrite: bool = False
) -> None:
    """Write a result; states and actions too if `keep_paths`."""
    atomic_write(path, pack_result(result, keep_paths), overwrite)


def pack_result(result: Result, keep_paths: bool = False) -> bytes:
    """A result as the content of a file."""
    returns = result.trajectory_returns
    mdps, per_mdp = returns.shape
    columns: dict[str, Any] = {
        "mdp": np.repeat(np.arange(mdps), per_mdp),
        "trajectory": np.tile(np.arange(per_mdp), mdps),
        "return": returns.ravel(),
        "cpu_nanoseconds": result.cpu_nanoseconds.ravel(),
    }
    names = [] if result.totals is not None else ["rewards", "nanoseconds"]
    if keep_paths and result.states is not None and result.actions is not None:
        names += ["states", "actions"]
    columns |= {name: _rows(getattr(result, name)) for name in names}
    metadata = {
        "algorithm": result.algorithm,
        "parameters": result.parameters,
        "experiment": result.settings,
        "experiment_hash": result.experiment_hash,
        "offline_seconds": result.offline_seconds,
        "offline_cpu_seconds": result.offline_cpu_seconds,
        "online_seconds": result.online_seconds,
        "overruns": result.overruns,
        "machine": result.machine,
    }
    return pack_table("result", columns, metadata)


def _rows(array: Any) -> Any:
    """One row per trajectory."""
    return array.reshape(-1, array.shape[-1])


def read_result(path: Path, decisions: bool = True) -> Result:
    """Read a result; without single decisions if they are not needed and its totals are stored."""
    table, metadata = read_table(path, "result", _all_columns if decisions else _columns_of_totals)
    with reading(path):
        metadata["settings"] = renamed_settings(metadata.pop("experiment"))
        check(metadata, _METADATA)
        mdps = _check_rows(table, metadata["settings"])

        def array(name: str) -> Any:
            if name not in table.columns:
                return None
            numbers = table[name].to_numpy()
            return numbers.reshape(mdps, -1, *numbers.shape[1:])

        totals = None
        if "rewards" not in table.columns:  # older files have no totals, but every decision
            check(metadata, {"online_seconds": is_features, "overruns": optional(is_time)})
            totals = Totals(array("return"), metadata["online_seconds"], metadata["overruns"])
        return Result(
            **{name: metadata[name] for name in _METADATA},
            **{name: array(name) for name in _RECORD},
            totals=totals,
        )


def _check_rows(table: pl.DataFrame, settings: dict[str, Any]) -> int:
    """The number of MDPs, if rows are complete and in order."""
    _check_record(table)
    mdps, per_mdp = settings["num_mdps"], settings["trajectories_per_mdp"]
    if mdps * per_mdp != len(table) or not np.array_equal(
        table["mdp"].to_numpy(), np.repeat(np.arange(mdps), per_mdp)
    ):
        raise ValueError("its rows are not those of its experiment")
    return int(mdps)


def _check_record(table: pl.DataFrame) -> None:
    """Check the types and lengths of the columns that a record, or its totals, have."""
    horizon = table["rewards"].to_numpy().shape[1] if "rewards" in table.columns else 0
    for name, kind in table.schema.items():
        length = horizon + 1 if name == "states" else horizon
        if name in _KINDS and kind != _type_of(name, length):
            raise ValueError(f"column {name} has type {kind}")
    check_times(table["cpu_nanoseconds"].to_numpy())
    if horizon:
        check_times(table["nanoseconds"].to_numpy())


_KINDS = {"rewards": pl.Float64, "return": pl.Float64, "returns": pl.Float64} | dict.fromkeys(
    ("states", "actions", "nanoseconds", "cpu_nanoseconds"), pl.Int64
)


def _type_of(name: str, length: int) -> pl.DataType:
    is_one_number = name in ("return", "returns", "cpu_nanoseconds")
    return _KINDS[name]() if is_one_number else pl.Array(_KINDS[name], length)


def _all_columns(metadata: dict[str, Any]) -> None:
    return None


def _columns_of_totals(metadata: dict[str, Any]) -> list[str] | None:
    return ["mdp", "return", "cpu_nanoseconds"] if "online_seconds" in metadata else None


def pack_part(records: Sequence[Any], training: Training, made_on: dict[str, Any]) -> bytes:
    """A part of a result, given as records or as totals, as the content of a file."""
    is_totals = isinstance(records[0], PartTotals)
    columns = {
        name: np.concatenate([getattr(record, name) for record in records])
        for name in (_TOTALS if is_totals else _RECORD)
        if getattr(records[0], name) is not None
    }
    metadata: dict[str, Any] = {"training": training, "machine": made_on}
    if is_totals:
        metadata["times"] = TimeCounts.joined(part.times for part in records).to_json()
    return pack_table("part", columns, metadata)


def read_part(path: Path) -> tuple[Any, Training, dict[str, Any]]:
    """A part of a result, as it was given to `pack_part`."""
    table, metadata = read_table(path, "part")
    with reading(path):
        _check_record(table)
        check(metadata, {"machine": is_machine})
        training = Training(*metadata["training"])
        check(training._asdict(), {"seconds": is_time, "cpu_seconds": is_time})
        arrays = {name: table[name].to_numpy() for name in table.columns if name in _KINDS}
        record: Any = SimpleNamespace(**(dict.fromkeys(_RECORD) | arrays))
        if "times" in metadata:
            record = PartTotals(**arrays, times=TimeCounts.from_json(metadata["times"]))
    return record, training, metadata["machine"]


def renamed_settings(settings: dict[str, Any]) -> dict[str, Any]:
    """Settings of an experiment under their current names; older files say `trajectories`."""
    if "trajectories" not in settings:
        return settings
    rest = {key: value for key, value in settings.items() if key != "trajectories"}
    return {**rest, "trajectories_per_mdp": settings["trajectories"]}
