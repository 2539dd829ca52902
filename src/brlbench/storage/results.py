"""Results, and parts of results, as Parquet files with one row per trajectory."""

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from ..files import atomic_write
from ..protocol import start_values
from ..protocol.display import columns_of
from ..protocol.luck import NUM_BASELINES
from ..protocol.result import Result
from ..protocol.summary import Stopped
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
    is_size,
    is_table,
    is_text,
    is_time,
    optional,
    reading,
)
from .tables import pack_table, read_table

_LUCK = ("noise", "start_values")
_RECORD = ("states", "actions", "rewards", "nanoseconds", "cpu_nanoseconds", *_LUCK)
_TOTALS = ("returns", "cpu_nanoseconds", *_LUCK)
_MOST_LUCK = 1e150  # squares are added
_METADATA: dict[str, Rule] = {
    "algorithm": is_text,
    "parameters": is_table,
    "settings": is_settings,
    "experiment_hash": is_text,
    "offline_seconds": is_time,
    "offline_cpu_seconds": optional(is_time),
    "machine": is_machine,
}


def write_result(
    path: Path, result: Result, keep_paths: bool = False, overwrite: bool = False
) -> None:
    """Write a result; states and actions too if `keep_paths`."""
    atomic_write(path, pack_result(result, keep_paths), overwrite)


def pack_result(result: Result, keep_paths: bool = False) -> bytes:
    """A result as the content of a file."""
    metadata = {
        "algorithm": result.algorithm,
        "parameters": result.parameters,
        "experiment": result.settings,
        "experiment_hash": result.experiment_hash,
        "offline_seconds": result.offline_seconds,
        "offline_cpu_seconds": result.offline_cpu_seconds if result.is_measured else None,
        "online_seconds": result.online_seconds,
        "overruns": result.overruns,
        "machine": result.machine,
    }
    if result.defaults is not None:
        metadata["defaults"] = result.defaults
    if result.stopped is not None:
        metadata["stopped"] = result.stopped
    if result.peak_bytes is not None:
        metadata["peak_bytes"] = result.peak_bytes
    if (expected := result.expected_start_values) is not None:
        metadata["expected_start_values"] = start_values.pack(expected)
    return pack_table("result", columns_of(result, keep_paths), metadata)


def read_result(path: Path, decisions: bool = True) -> Result:
    """Read a result; without single decisions if they are not needed and its totals are stored."""
    table, metadata = read_table(path, "result", _all_columns if decisions else _columns_of_totals)
    with reading(path):
        metadata["settings"] = renamed_settings(metadata.pop("experiment"))
        check(metadata, _METADATA)
        check(metadata, {"defaults": optional(is_table), "peak_bytes": optional(is_size)})
        stopped = stopped_of(metadata.get("stopped"))
        mdps = _check_rows(table, metadata["settings"], stopped is not None)

        def array(name: str) -> Any:
            if name not in table.columns:
                return None
            numbers = table[name].to_numpy()
            return numbers.reshape(mdps, -1, *numbers.shape[1:])

        totals = None
        if "nanoseconds" not in table.columns:  # older files have no totals, but every decision
            check(metadata, {"online_seconds": is_features, "overruns": optional(is_time)})
            totals = Totals(array("return"), metadata["online_seconds"], metadata["overruns"])
        expected = metadata.get("expected_start_values")
        expected = None if expected is None else start_values.unpack(expected)
        return Result(
            **{name: metadata[name] for name in _METADATA},
            **{name: array(name) for name in _RECORD},
            totals=totals,
            expected=expected,
            defaults=metadata.get("defaults"),
            stopped=stopped,
            peak_bytes=metadata.get("peak_bytes"),
        )


def read_stopped(path: Path) -> Stopped | None:
    """Why the result in a file has fewer MDPs than its experiment; None if it has all."""
    _, metadata = read_table(path, "result", lambda metadata: ["mdp"])
    with reading(path):
        return stopped_of(metadata.get("stopped"))


def stopped_of(content: Any) -> Stopped | None:
    """Why playing was stopped, as a file has it."""
    if content is None:
        return None
    stopped = Stopped(*content)
    check(stopped._asdict(), {"rule": is_text, "reason": is_text})
    return stopped


def _check_rows(table: pl.DataFrame, settings: dict[str, Any], is_stopped: bool) -> int:
    """The number of MDPs, if rows are complete and in order."""
    _check_record(table)
    mdps, per_mdp = settings["num_mdps"], settings["trajectories_per_mdp"]
    if is_stopped:
        mdps = min(mdps, max(1, len(table) // per_mdp))
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
        length = NUM_BASELINES if name in _LUCK else length
        if name in _KINDS and kind != _type_of(name, length):
            raise ValueError(f"column {name} has type {kind}")
        if name in _LUCK and not (np.abs(table[name].to_numpy()) < _MOST_LUCK).all():
            raise ValueError(f"column {name} has numbers that no trajectory leads to")
    times = [name for name in ("cpu_nanoseconds", "nanoseconds") if name in table.columns]
    check_times(*(table[name].to_numpy() for name in times))


_KINDS = dict.fromkeys(("rewards", "return", "returns", *_LUCK), pl.Float64) | dict.fromkeys(
    ("states", "actions", "nanoseconds", "cpu_nanoseconds"), pl.Int64
)


def _type_of(name: str, length: int) -> pl.DataType:
    is_one_number = name in ("return", "returns", "cpu_nanoseconds")
    return _KINDS[name]() if is_one_number else pl.Array(_KINDS[name], length)


def _all_columns(metadata: dict[str, Any]) -> None:
    return None


def _columns_of_totals(metadata: dict[str, Any]) -> list[str] | None:
    if "online_seconds" not in metadata:
        return None
    luck = _LUCK if "expected_start_values" in metadata else ()
    is_measured = metadata.get("offline_cpu_seconds") is not None  # not if it was imported
    return ["mdp", "return", *(["cpu_nanoseconds"] if is_measured else []), *luck]


class StoredPart(NamedTuple):
    """A part of a result in a file."""

    record: Any  # a record, or totals
    training: Training
    machine: dict[str, Any]
    seconds: float  # that playing it took; 0 in older files
    peak_bytes: int | None = None  # of playing it; None if it is not known


def pack_part(
    records: Sequence[Any],
    training: Training,
    made_on: dict[str, Any],
    seconds: float,
    peak_bytes: int | None = None,
) -> bytes:
    """A part of a result, given as records or as totals, as the content of a file."""
    is_totals = isinstance(records[0], PartTotals)
    columns = {
        name: np.concatenate([getattr(record, name) for record in records])
        for name in (_TOTALS if is_totals else _RECORD)
        if getattr(records[0], name) is not None and getattr(records[0], name).size
    }
    metadata: dict[str, Any] = {"training": training, "machine": made_on, "seconds": seconds}
    if peak_bytes is not None:
        metadata["peak_bytes"] = peak_bytes
    if is_totals:
        metadata["times"] = TimeCounts.joined(part.times for part in records).to_json()
    return pack_table("part", columns, metadata)


def read_part(path: Path) -> StoredPart:
    """A part of a result, as it was given to `pack_part`."""
    table, metadata = read_table(path, "part")
    with reading(path):
        _check_record(table)
        metadata.setdefault("seconds", 0.0)
        is_known = {"machine": is_machine, "seconds": is_time, "peak_bytes": optional(is_size)}
        check(metadata, is_known)
        training = Training(*metadata["training"])
        times = {"seconds": is_time, "cpu_seconds": is_time}
        check(training._asdict(), {**times, "peak_bytes": optional(is_size)})
        arrays: dict[str, Any] = {
            name: table[name].to_numpy() for name in table.columns if name in _KINDS
        }
        record: Any = SimpleNamespace(**(dict.fromkeys(_RECORD) | arrays))
        if "times" in metadata:
            totals: dict[str, Any] = dict.fromkeys(_LUCK) | arrays
            record = PartTotals(**totals, times=TimeCounts.from_json(metadata["times"]))
    return StoredPart(
        record, training, metadata["machine"], metadata["seconds"], metadata.get("peak_bytes")
    )


def renamed_settings(settings: dict[str, Any]) -> dict[str, Any]:
    """Settings of an experiment under their current names; older files say `trajectories`."""
    if "trajectories" not in settings:
        return settings
    rest = {key: value for key, value in settings.items() if key != "trajectories"}
    return {**rest, "trajectories_per_mdp": settings["trajectories"]}
