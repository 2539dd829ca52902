"""Results, experiments and trained agents on disk: written once, whole or not at all.

Results and experiments are Parquet files whose metadata is a JSON text; trained agents are JSON.
A digest of all other bytes is kept inside, and a file that does not match it is refused unread.
"""

import hashlib
import io
import json
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl

from ..agents import AGENTS, describe, make_agent
from ..agents.base import Task
from ..errors import InvalidInput, StoreError, WrongKind
from ..files import atomic_write, read_bytes
from ..problems import formats as distributions
from ..protocol import machine
from ..protocol.evaluate import TrainedAgent, Training, load, save, train
from ..protocol.experiment import Experiment
from ..protocol.result import Result

FORMAT = 1
_KEY = "brlbench"
_SEAL = "brlbench-sha256:"
_RECORD = ("states", "actions", "rewards", "nanoseconds", "cpu_nanoseconds")
_OPEN_SEAL = _SEAL + 64 * "0"  # where the digest goes, once the rest is known


def write_result(
    path: Path, result: Result, trajectories: bool = False, overwrite: bool = False
) -> None:
    """Write a result: one row a trajectory; states and actions too if `trajectories`."""
    atomic_write(path, pack_result(result, trajectories), overwrite)


def pack_result(result: Result, trajectories: bool = False) -> bytes:
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
    if trajectories and result.states is not None and result.actions is not None:
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
    return _pack_table("result", columns, metadata)


def read_result(path: Path) -> Result:
    """Read a result."""
    table, metadata = _read_table(path, "result")
    mdps = table["mdp"].n_unique()

    def array(name: str) -> Any:
        numbers = table[name].to_numpy()
        return numbers.reshape(mdps, -1, *numbers.shape[1:])

    return Result(
        settings=metadata.pop("experiment"),
        **metadata,
        rewards=array("rewards"),
        nanoseconds=array("nanoseconds"),
        cpu_nanoseconds=array("cpu_nanoseconds"),
        states=array("states") if "states" in table.columns else None,
        actions=array("actions") if "actions" in table.columns else None,
    )


def pack_part(records: Sequence[Any], training: Training, made_on: dict[str, Any]) -> bytes:
    """Some of the trajectories of a result as the content of a file."""
    columns = {
        name: np.concatenate([getattr(record, name) for record in records])
        for name in _RECORD
        if getattr(records[0], name) is not None
    }
    return _pack_table("part", columns, {"training": training, "machine": made_on})


def read_part(path: Path) -> tuple[Any, Training, dict[str, Any]]:
    """Some of the trajectories of a result, as `pack_part` was given them."""
    table, metadata = _read_table(path, "part")
    arrays = {name: table[name].to_numpy() for name in table.columns}
    record = SimpleNamespace(**(dict.fromkeys(_RECORD) | arrays))
    return record, Training(*metadata["training"]), metadata["machine"]


def write_compact(
    path: Path, columns: dict[str, Any], experiments: list[dict[str, Any]], overwrite: bool = False
) -> None:
    """Write what reports need of many results: one row a result."""
    data = _pack_table("compact", columns, {"experiments": experiments})
    atomic_write(path, data, overwrite)


def read_compact(path: Path) -> tuple[pl.DataFrame, list[dict[str, Any]]]:
    """Read what reports need of many results, and their experiments."""
    table, metadata = _read_table(path, "compact")
    return table, metadata["experiments"]


def write_table(path: Path, table: pl.DataFrame, overwrite: bool = False) -> None:
    """Write a table of a report, marked as such so that it is not taken for a result."""
    atomic_write(path, _pack_table("table", table.to_dict(), {}), overwrite)


def write_experiment(path: Path, experiment: Experiment, overwrite: bool = False) -> None:
    """Write an experiment: its settings, its distributions and its MDPs, one row an MDP."""
    columns = {
        "mdp": np.arange(experiment.num_mdps),
        "probabilities": np.array(experiment.probabilities),
    }
    metadata = {
        "settings": experiment.settings(),
        "hash": experiment.hash,
        "prior": distributions.to_json(experiment.prior),
        "test": distributions.to_json(experiment.test),
    }
    atomic_write(path, _pack_table("experiment", columns, metadata), overwrite)


def read_experiment(path: Path) -> Experiment:
    """Read an experiment and check that it is what was written."""
    table, metadata = _read_table(path, "experiment")
    settings = metadata["settings"]
    chosen = ("num_mdps", "discount", "horizon", "seed", "trajectories", "deadline")
    experiment = Experiment(
        distributions.from_json(metadata["prior"]),
        distributions.from_json(metadata["test"]),
        **{name: settings[name] for name in chosen if name in settings},
    )
    experiment.give_mdps(table["probabilities"].to_numpy())
    if experiment.hash != metadata["hash"]:
        raise StoreError(f"{path} is damaged: its MDPs don't match its hash; make it again")
    return experiment


def write_agent(path: Path, trained: TrainedAgent, overwrite: bool = False) -> None:
    """Write a trained agent."""
    atomic_write(path, pack_agent(trained), overwrite)


def pack_agent(trained: TrainedAgent) -> bytes:
    """A trained agent as the content of a file."""
    algorithm, parameters = describe(trained.agent)
    own = type(trained.agent)
    comes_with_the_package = AGENTS.get(algorithm) is own
    content = {
        "kind": "agent",
        "format": FORMAT,
        "agent": algorithm if comes_with_the_package else f"{own.__module__}:{own.__qualname__}",
        "parameters": _plain(parameters),
        "prior": json.loads(distributions.to_json(trained.prior)),
        "discount": trained.task.discount,
        "horizon": trained.task.horizon,
        "deadline": trained.task.deadline,
        "seed": trained.seed,
        "offline_seconds": trained.training.seconds,
        "offline_cpu_seconds": trained.training.cpu_seconds,
        "saved": _plain(save(trained.agent)),
        "machine": machine.describe(),
        "digest": _OPEN_SEAL,
    }
    try:
        lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in content.items()]
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            f"{algorithm} can't be written to a file ({error}): its parameters, and what it saves, "
            "must be arrays, numbers and strings"
        ) from None
    return _sealed(("{\n" + ",\n".join(lines) + "\n}\n").encode())


def read_agent(path: Path) -> TrainedAgent:
    """Read a trained agent; one that saved nothing is trained again, from the same stream."""
    return unpack_agent(read_bytes(path), path)


def unpack_agent(data: bytes, path: Path) -> TrainedAgent:
    """A trained agent from the content of a file."""
    try:
        content = json.loads(data if is_intact(data) else b"")
        _check_kind(path, content, "agent")
        parameters, saved = _arrays(content["parameters"]), _arrays(content["saved"])
        prior = distributions.from_json(json.dumps(content["prior"]))
        task = Task(content["discount"], content["horizon"], content.get("deadline"))
        training = Training(content["offline_seconds"], content["offline_cpu_seconds"])
    except (KeyError, TypeError, ValueError) as error:
        raise StoreError(f"{path} is damaged, or not a trained agent: train it again") from error
    try:
        agent = make_agent(content["agent"], **parameters)
    except InvalidInput as error:
        raise InvalidInput(f"{path}: {error}") from None
    if saved is None:
        train(agent, prior, task, content["seed"])
    else:
        load(agent, saved)
    return TrainedAgent(agent, prior, task, content["seed"], training)


def _plain(value: Any) -> Any:
    """What an agent saved, as JSON can hold it."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, np.ndarray):
        return {"dtype": str(value.dtype), "shape": value.shape, "array": value.tolist()}
    if isinstance(value, np.generic):
        return value.item()
    return value


def _arrays(value: Any) -> Any:
    """What an agent saved, as it was."""
    if isinstance(value, dict):
        if set(value) == {"dtype", "shape", "array"}:
            return np.array(value["array"], dtype=value["dtype"]).reshape(value["shape"])
        return {key: _arrays(item) for key, item in value.items()}
    return [_arrays(item) for item in value] if isinstance(value, list) else value


def _pack_table(kind: str, columns: dict[str, Any], metadata: dict[str, Any]) -> bytes:
    content = json.dumps({"kind": kind, "format": FORMAT, **metadata}, default=str)
    header = {_KEY: content, "digest": _OPEN_SEAL}
    buffer = io.BytesIO()
    pl.DataFrame(columns).write_parquet(
        buffer, compression="zstd", compression_level=1, metadata=header
    )
    return _sealed(buffer.getvalue())


def _read_table(path: Path, kind: str) -> tuple[pl.DataFrame, dict[str, Any]]:
    data = read_bytes(path)
    damaged = f"{path} is damaged, or not a file of brlbench: make it again"
    if not is_intact(data):  # Polars can crash on a damaged file
        raise StoreError(damaged)
    try:
        metadata = json.loads(pl.read_parquet_metadata(io.BytesIO(data))[_KEY])
        _check_kind(path, metadata, kind)
        table = pl.read_parquet(io.BytesIO(data))
    except (KeyError, TypeError, ValueError, pl.exceptions.PolarsError) as error:
        raise StoreError(damaged) from error
    del metadata["kind"], metadata["format"]
    return table, metadata


def _check_kind(path: Path, content: dict[str, Any], kind: str) -> None:
    if content["kind"] != kind:
        raise WrongKind(f"{path} is a file with kind {content['kind']!r}: must be {kind!r}")
    if content["format"] != FORMAT:
        raise StoreError(
            f"{path} has format {content['format']}, this version reads {FORMAT}: "
            "use the version of brlbench that wrote it"
        )


def _sealed(data: bytes) -> bytes:
    """The content of a file with a digest of it in the place that was left open."""
    digest = hashlib.sha256(data).hexdigest()
    before, _, after = data.rpartition(_OPEN_SEAL.encode())
    return before + (_SEAL + digest).encode() + after


def is_intact(data: bytes) -> bool:
    """Whether the content of a file of this package is what its digest says."""
    place = data.rfind(_SEAL.encode())
    seal = data[place : place + len(_OPEN_SEAL)]
    opened = data[:place] + _OPEN_SEAL.encode() + data[place + len(_OPEN_SEAL) :]
    return seal == (_SEAL + hashlib.sha256(opened).hexdigest()).encode()
