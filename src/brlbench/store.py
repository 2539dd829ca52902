"""Results, experiments and trained agents on disk: written once, whole or not at all.

Results and experiments are Parquet files whose metadata is a JSON text; trained agents are JSON.
A digest of the content is kept inside, and a file that does not match it is refused.
"""

import hashlib
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from . import machine
from .agents import describe, make_agent
from .agents.base import Task
from .errors import InvalidInput, StoreError
from .execution import TrainedAgent, Training, train
from .experiment import Experiment
from .files import atomic_write, read_bytes
from .problems import files as distributions
from .result import Result

FORMAT = 1
_KEY = "brlbench"


def write_result(
    path: Path, result: Result, trajectories: bool = False, overwrite: bool = False
) -> None:
    """Write a result: one row a trajectory; states and actions too if `trajectories`."""
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
        "experiment": result.experiment,
        "experiment_hash": result.experiment_hash,
        "offline_seconds": result.offline_seconds,
        "offline_cpu_seconds": result.offline_cpu_seconds,
        "machine": result.machine,
    }
    _write_table(path, "result", columns, metadata, overwrite)


def read_result(path: Path) -> Result:
    """Read a result."""
    table, metadata = _read_table(path, "result")
    mdps = table["mdp"].n_unique()

    def array(name: str) -> Any:
        numbers = table[name].to_numpy()
        return numbers.reshape(mdps, -1, *numbers.shape[1:])

    return Result(
        **metadata,
        rewards=array("rewards"),
        nanoseconds=array("nanoseconds"),
        cpu_nanoseconds=array("cpu_nanoseconds"),
        states=array("states") if "states" in table.columns else None,
        actions=array("actions") if "actions" in table.columns else None,
    )


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
    _write_table(path, "experiment", columns, metadata, overwrite)


def read_experiment(path: Path) -> Experiment:
    """Read an experiment and check that it is what was written."""
    table, metadata = _read_table(path, "experiment")
    settings = metadata["settings"]
    chosen = ("num_mdps", "discount", "horizon", "seed", "trajectories")
    experiment = Experiment(
        distributions.from_json(metadata["prior"]),
        distributions.from_json(metadata["test"]),
        **{name: settings[name] for name in chosen},
    )
    probabilities = table["probabilities"].to_numpy().copy()
    probabilities.flags.writeable = False
    experiment.__dict__["probabilities"] = probabilities  # the cached property's place
    if experiment.hash != metadata["hash"]:
        raise StoreError(f"{path} is damaged: its MDPs don't match its hash; make it again")
    return experiment


def write_agent(path: Path, trained: TrainedAgent, overwrite: bool = False) -> None:
    """Write a trained agent."""
    algorithm, parameters = describe(trained.agent)
    save = getattr(trained.agent, "save", None)
    content = {
        "algorithm": algorithm,
        "parameters": parameters,
        "prior": json.loads(distributions.to_json(trained.prior)),
        "discount": trained.task.discount,
        "horizon": trained.task.horizon,
        "seed": trained.seed,
        "offline_seconds": trained.training.seconds,
        "offline_cpu_seconds": trained.training.cpu_seconds,
        "saved": _plain(save()) if save else None,
        "machine": machine.describe(),
    }
    lines = [
        f"{json.dumps(key)}: {json.dumps(value)}"
        for key, value in {"kind": "agent", "format": FORMAT, **content}.items()
    ]
    atomic_write(path, ("{\n" + ",\n".join(lines) + "\n}\n").encode(), overwrite)


def read_agent(path: Path) -> TrainedAgent:
    """Read a trained agent; one that saved nothing is trained again, from the same stream."""
    try:
        content = json.loads(read_bytes(path))
        _check_kind(path, content, "agent")
        agent = make_agent(content["algorithm"], **content["parameters"])
        prior = distributions.from_json(json.dumps(content["prior"]))
        task = Task(content["discount"], content["horizon"])
        training = Training(content["offline_seconds"], content["offline_cpu_seconds"])
        saved, seed = content["saved"], content["seed"]
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, InvalidInput):
            raise InvalidInput(f"{path}: {error}") from None
        raise StoreError(f"{path} is damaged, or not a trained agent: train it again") from error
    if saved is None:
        train(agent, prior, task, seed)
    else:
        agent.load(_arrays(saved))  # type: ignore[attr-defined]
    return TrainedAgent(agent, prior, task, seed, training)


def _plain(value: Any) -> Any:
    """What an agent saved, as JSON can hold it."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return {"dtype": str(value.dtype), "array": value.tolist()}
    if isinstance(value, np.generic):
        return value.item()
    return value


def _arrays(value: Any) -> Any:
    """What an agent saved, as it was."""
    if isinstance(value, dict):
        if set(value) == {"dtype", "array"}:
            return np.array(value["array"], dtype=value["dtype"])
        return {key: _arrays(item) for key, item in value.items()}
    return value


def _write_table(
    path: Path, kind: str, columns: dict[str, Any], metadata: dict[str, Any], overwrite: bool
) -> None:
    content = json.dumps({"kind": kind, "format": FORMAT, **metadata}, default=str)
    table = pl.DataFrame(columns)
    header = {_KEY: content, "digest": _digest(content, table)}
    buffer = io.BytesIO()
    table.write_parquet(buffer, compression="zstd", metadata=header)
    atomic_write(path, buffer.getvalue(), overwrite)


def _read_table(path: Path, kind: str) -> tuple[pl.DataFrame, dict[str, Any]]:
    data = read_bytes(path)
    try:
        header = pl.read_parquet_metadata(io.BytesIO(data))
        table = pl.read_parquet(io.BytesIO(data))
        content = header[_KEY]
        intact = header["digest"] == _digest(content, table)
    except Exception as error:
        raise StoreError(f"{path} is damaged, or not a file of brlbench: make it again") from error
    if not intact:
        raise StoreError(f"{path} is damaged: its content doesn't match its digest; make it again")
    metadata = json.loads(content)
    _check_kind(path, metadata, kind)
    del metadata["kind"], metadata["format"]
    return table, metadata


def _check_kind(path: Path, content: dict[str, Any], kind: str) -> None:
    if content["kind"] != kind:
        raise StoreError(f"{path} is a file with kind {content['kind']!r}: must be {kind!r}")
    if content["format"] != FORMAT:
        raise StoreError(
            f"{path} has format {content['format']}, this version reads {FORMAT}: "
            "use the version of brlbench that wrote it"
        )


def _digest(content: str, table: pl.DataFrame) -> str:
    digest = hashlib.sha256(content.encode())
    for column in table.get_columns():
        digest.update(column.name.encode())
        digest.update(np.ascontiguousarray(column.to_numpy()).tobytes())
    return digest.hexdigest()
