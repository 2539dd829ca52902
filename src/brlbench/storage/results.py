"""Results, and parts of results, as Parquet files with one row per trajectory."""

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from ..files import atomic_write
from ..protocol.result import Result
from ..protocol.training import Training
from .tables import pack_table, read_table

_RECORD = ("states", "actions", "rewards", "nanoseconds", "cpu_nanoseconds")


def write_result(
    path: Path, result: Result, keep_paths: bool = False, overwrite: bool = False
) -> None:
    """Write a result; states and actions too if `keep_paths`."""
    atomic_write(path, pack_result(result, keep_paths), overwrite)


def pack_result(result: Result, keep_paths: bool = False) -> bytes:
    """A result as the content of a file."""
    mdps, per_mdp, horizon = result.rewards.shape
    columns: dict[str, Any] = {
        "mdp": np.repeat(np.arange(mdps), per_mdp),
        "trajectory": np.tile(np.arange(per_mdp), mdps),
        "return": result.trajectory_returns.ravel(),
        "cpu_nanoseconds": result.cpu_nanoseconds.ravel(),
        "rewards": result.rewards.reshape(-1, horizon),
        "nanoseconds": result.nanoseconds.reshape(-1, horizon),
    }
    if keep_paths and result.states is not None and result.actions is not None:
        columns["states"] = result.states.reshape(-1, horizon + 1)
        columns["actions"] = result.actions.reshape(-1, horizon)
    metadata = {
        "algorithm": result.algorithm,
        "parameters": result.parameters,
        "experiment": result.settings,
        "experiment_hash": result.experiment_hash,
        "offline_seconds": result.offline_seconds,
        "offline_cpu_seconds": result.offline_cpu_seconds,
        "machine": result.machine,
    }
    return pack_table("result", columns, metadata)


def read_result(path: Path) -> Result:
    """Read a result."""
    table, metadata = read_table(path, "result")
    settings = renamed_settings(metadata.pop("experiment"))
    mdps = table["mdp"].n_unique()

    def array(name: str) -> Any:
        numbers = table[name].to_numpy()
        return numbers.reshape(mdps, -1, *numbers.shape[1:])

    return Result(
        settings=settings,
        **metadata,
        rewards=array("rewards"),
        nanoseconds=array("nanoseconds"),
        cpu_nanoseconds=array("cpu_nanoseconds"),
        states=array("states") if "states" in table.columns else None,
        actions=array("actions") if "actions" in table.columns else None,
    )


def pack_part(records: Sequence[Any], training: Training, made_on: dict[str, Any]) -> bytes:
    """A part of a result as the content of a file."""
    columns = {
        name: np.concatenate([getattr(record, name) for record in records])
        for name in _RECORD
        if getattr(records[0], name) is not None
    }
    return pack_table("part", columns, {"training": training, "machine": made_on})


def read_part(path: Path) -> tuple[Any, Training, dict[str, Any]]:
    """A part of a result, as it was given to `pack_part`."""
    table, metadata = read_table(path, "part")
    arrays = {name: table[name].to_numpy() for name in table.columns}
    record = SimpleNamespace(**(dict.fromkeys(_RECORD) | arrays))
    return record, Training(*metadata["training"]), metadata["machine"]


def renamed_settings(settings: dict[str, Any]) -> dict[str, Any]:
    """Settings of an experiment under their current names; older files say `trajectories`."""
    if "trajectories" not in settings:
        return settings
    rest = {key: value for key, value in settings.items() if key != "trajectories"}
    return {**rest, "trajectories_per_mdp": settings["trajectories"]}
