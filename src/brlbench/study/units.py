"""The units of work of a study, as a worker does them: train an agent, or play some trajectories.

A worker is given all it needs and gives back the content of a file, so that it needs no access to
the folder. `report` tells the main process that something has been finished, and tells back if
the unit should end early.
"""

import time
from collections.abc import Callable
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..agents import make_agent
from ..agents.base import CompiledAgent
from ..errors import AgentError
from ..problems import formats as distributions
from ..protocol import machine
from ..protocol.evaluate import TrainedAgent, check_trained_for, joined, train, warm_up
from ..protocol.experiment import Experiment
from ..protocol.playing import play
from .. import storage

Report = Callable[[Any], bool]

# Limits count from a unit's first report; so long may it take to import and compile before.
PREPARATION_SECONDS = 600.0


class Played(NamedTuple):
    """Trajectories first, …, end - 1, as the content of a file."""

    first: int
    end: int
    seconds: float
    data: bytes
    is_whole_result: bool


class ExperimentRequest(NamedTuple):
    """An experiment on its way to a worker."""

    prior: str  # JSON
    test: str  # JSON
    settings: tuple[tuple[str, Any], ...]
    hash: str
    mdps: bytes | None  # if they are given, and not to be drawn again

    @classmethod
    @cache
    def of(cls, experiment: Experiment) -> "ExperimentRequest":
        """The request for an experiment, made once."""
        names = ("num_mdps", "discount", "horizon", "seed", "trajectories", "deadline")
        return cls(
            distributions.to_json(experiment.prior),
            distributions.to_json(experiment.test),
            tuple((name, getattr(experiment, name)) for name in names),
            experiment.hash,
            experiment.probabilities.tobytes() if experiment.mdps_are_given else None,
        )


class TrainRequest(NamedTuple):
    """An agent to be trained for an experiment."""

    algorithm: str
    parameters: dict[str, Any]
    experiment: ExperimentRequest


class PlayRequest(NamedTuple):
    """Trajectories to be played."""

    agent: bytes  # the file of a trained agent
    experiment: ExperimentRequest
    first: int
    end: int
    part_seconds: float
    decision_seconds: float | None  # a decision that takes longer is a failure
    one_by_one: bool  # report after every trajectory
    keep_trajectories: bool


def train_unit(request: TrainRequest, report: Report) -> bytes:
    """Train an agent and give back its file."""
    agent = make_agent(request.algorithm, **request.parameters)
    experiment = build_experiment(request.experiment)
    if isinstance(agent, CompiledAgent):
        warm_up(agent)
    machine.describe()
    report(None)  # limits count from here
    training = train(agent, experiment.prior, experiment.task, experiment.seed)
    trained = TrainedAgent(agent, experiment.prior, experiment.task, experiment.seed, training)
    data = store.pack_agent(trained)
    _remember(data, trained)
    return data


def play_unit(request: PlayRequest, report: Report) -> Played:
    """Play trajectories until all are done, or the time for a part is used up."""
    trained, experiment = _trained(request.agent), build_experiment(request.experiment)
    check_trained_for(trained, experiment)
    made_on = machine.describe()
    first, end, size, seconds = request.first, request.end, 1, 0.0
    records: list[Any] = []
    report(None)  # limits count from here
    waiting = machine.Waiting()
    while first < end:
        size = min(size, end - first)
        started = time.perf_counter()
        record = play(trained.agent, experiment, first, first + size)
        took = time.perf_counter() - started
        _check_decisions(record, first, request.decision_seconds, experiment)
        records.append(record if request.keep_trajectories else _without_path(record))
        first, seconds = first + size, seconds + took
        if report(first) or seconds > request.part_seconds:
            break
        if not request.one_by_one and took < request.part_seconds / 20:
            size *= 4
    made_on = {**made_on, "waiting_share": waiting.share()}
    is_whole = first - request.first == experiment.num_trajectories
    if is_whole:
        result = joined(trained.agent, experiment, trained.training, records, made_on)
        data = store.pack_result(result, request.keep_trajectories)
    else:
        data = store.pack_part(records, trained.training, made_on)
    return Played(request.first, first, seconds, data, is_whole)


def _without_path(record: Any) -> Any:
    return record._replace(states=None, actions=None)


def _check_decisions(record: Any, first: int, limit: float | None, experiment: Experiment) -> None:
    """Refuse a decision that took longer than it may."""
    if limit is None or record.nanoseconds.max() <= limit * 1e9:
        return
    i, step = np.unravel_index(record.nanoseconds.argmax(), record.nanoseconds.shape)
    raise AgentError(
        f"its decision {step} in MDP {(first + int(i)) // experiment.trajectories} took "
        f"{record.nanoseconds[i, step] / 1e9:.3g} s, more than {limit:g} s"
    )


_agents: dict[bytes, TrainedAgent] = {}


def _trained(data: bytes) -> TrainedAgent:
    """A trained agent from its file; one without a `save` is trained again, once a process."""
    if data not in _agents:
        _remember(data, store.unpack_agent(data, Path("the trained agent")))
    return _agents[data]


def _remember(data: bytes, trained: TrainedAgent) -> None:
    while len(_agents) >= 4:
        del _agents[next(iter(_agents))]
    _agents[data] = trained


@lru_cache(maxsize=8)
def build_experiment(request: ExperimentRequest) -> Experiment:
    """An experiment from its request, with the same MDPs."""
    experiment = Experiment(
        distributions.from_json(request.prior),
        distributions.from_json(request.test),
        **dict(request.settings),
    )
    if request.mdps is not None:
        experiment.give_mdps(np.frombuffer(request.mdps))
    if experiment.hash != request.hash:
        raise AgentError(
            "this worker draws other MDPs than the main process: give both the same versions of "
            "brlbench and NumPy"
        )
    return experiment
