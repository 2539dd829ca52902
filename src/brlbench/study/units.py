"""The units of a study, as a worker performs them: train an agent, or play a part of a job.

A worker is given all it needs and returns the content of a file, so it needs no access to the
folder. Requests are sent to it as plain data. `notify` tells the main process that something is
finished; it returns True if the unit should end early.
"""

import json
import math
import time
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..agents import make_agent
from ..agents.base import Agent, CompiledAgent
from ..errors import AgentError
from ..executors.base import Limits, Notify
from ..files import parse_json
from ..mdps.sparse import Floats
from ..problems import formats
from ..protocol import machine, start_values
from ..protocol.experiment import ARGUMENTS, Experiment
from ..protocol.footprint import Meter, settle
from ..protocol.playing import Part, play
from ..protocol.result import join_records
from ..protocol.totals import PartTotals, keeps_decisions, returns_of, totals_of
from ..protocol.training import TrainedAgent, check_plays, load, save, train, warm_up
from ..storage.agents import pack_agent, unpack_agent
from ..storage.results import pack_part, pack_result
from ..storage.tables import is_intact

if TYPE_CHECKING:  # importing kernels takes long
    from ..kernels.loop.trajectory import Record
    from .schema import LimitsTable

# Limits count from a unit's first message; until then it may import and compile for this long.
PREPARATION_SECONDS = 600.0


class WrongValue(Exception):
    """A worker returned something that no unit returns: an agent may do anything to its process."""


def intact(data: Any) -> bytes:
    """The content of a file from a worker; raises if it is not one."""
    if not isinstance(data, bytes) or not is_intact(data):
        raise WrongValue("its process returned a damaged file")
    return data


class Played(NamedTuple):
    """A played part, as the content of a file, and its returns."""

    part: Part
    seconds: float
    data: bytes
    is_whole_result: bool
    packed_returns: bytes

    @property
    def returns(self) -> Floats:
        """The return [n] of each trajectory."""
        return np.frombuffer(self.packed_returns)

    @classmethod
    def read(cls, value: Any, wanted: Part) -> "Played":
        """What a worker returned; raises unless it is the beginning of the part wanted."""
        try:
            (first, end), seconds, data, is_whole, returns = value
            part = Part(int(first), int(end))
            played = cls(part, float(seconds), intact(data), bool(is_whole), returns)
            numbers = played.returns
        except (TypeError, ValueError):
            raise WrongValue("its process returned no played part") from None
        is_sound = 0 <= played.seconds < math.inf and np.isfinite(numbers).all()
        if not is_sound or len(numbers) != part.size:
            raise WrongValue("its process returned times or returns that can't be")
        if played.part.first != wanted.first or not 0 <= played.part.size <= wanted.size:
            raise WrongValue(f"its process returned another part than {tuple(wanted)}")
        return played


class ExperimentRequest(NamedTuple):
    """An experiment on its way to a worker."""

    prior: str  # JSON
    test: str  # JSON
    settings: tuple[tuple[str, Any], ...]
    hash: str
    mdps: bytes | None  # None: the worker draws them
    origin: str | None  # of the MDPs
    expected: str | None  # JSON; the expected start values, if they are known

    @classmethod
    @cache
    def of(cls, experiment: Experiment) -> "ExperimentRequest":
        """The request for an experiment, made once per experiment."""
        return cls(
            formats.to_json(experiment.prior),
            formats.to_json(experiment.test),
            tuple((name, getattr(experiment, name)) for name in ARGUMENTS),
            experiment.hash,
            None if experiment.given_mdps is None else experiment.given_mdps.tobytes(),
            experiment.origin,
            _packed_start_values(experiment),
        )

    @classmethod
    def read(cls, data: list[Any]) -> "ExperimentRequest":
        """The request in plain data."""
        prior, test, settings, *others = data
        return cls(prior, test, tuple((name, value) for name, value in settings), *others)


def _packed_start_values(experiment: Experiment) -> str | None:
    known = start_values.known_start_values(experiment)
    return None if known is None else json.dumps(start_values.pack(known))


class TrainRequest(NamedTuple):
    """An agent to be trained for an experiment."""

    algorithm: str
    parameters: dict[str, Any]
    experiment: ExperimentRequest

    @classmethod
    def read(cls, data: list[Any]) -> "TrainRequest":
        """The request in plain data."""
        algorithm, parameters, experiment = data
        return cls(algorithm, parameters, ExperimentRequest.read(experiment))


class PlayRequest(NamedTuple):
    """A part to be played."""

    agent: bytes  # the file of a trained agent
    experiment: ExperimentRequest
    part: Part
    part_seconds: float  # after this time, the rest is left to other units
    decision_seconds: float | None  # a decision that takes longer is a failure
    one_by_one: bool  # notify after every trajectory
    keep_paths: bool

    @classmethod
    def read(cls, data: list[Any]) -> "PlayRequest":
        """The request in plain data."""
        agent, experiment, part, *others = data
        return cls(agent, ExperimentRequest.read(experiment), Part(*part), *others)


def training_limits(limits: "LimitsTable") -> Limits:
    """The limits of a training."""
    return Limits(total=limits.training, memory=limits.memories[0], preparation=PREPARATION_SECONDS)


def playing_limits(limits: "LimitsTable", seconds: float | None) -> Limits:
    """The limits of a part; before its first message, an agent may have to be retrained."""
    retraining = math.inf if limits.training is None else limits.training
    return Limits(seconds, limits.playing, limits.memories[1], PREPARATION_SECONDS + retraining)


def train_unit(data: list[Any], notify: Notify) -> bytes:
    """Train an agent and return its file."""
    request = TrainRequest.read(data)
    agent = make_agent(request.algorithm, **request.parameters)
    experiment = build_experiment(request.experiment)
    if isinstance(agent, CompiledAgent):
        warm_up(agent)
    machine.describe()
    notify(None)  # limits count from here
    trained = train(agent, experiment.prior, experiment.task, experiment.seed)
    file = pack_agent(save(trained))
    _remember(file, trained)
    return file


def play_unit(data: list[Any], notify: Notify) -> Played:
    """Play a part until its end, or until the time for one file is used up."""
    request = PlayRequest.read(data)
    trained, experiment = _trained(request.agent), build_experiment(request.experiment)
    check_plays(trained, experiment)
    agent = trained.agent
    if isinstance(agent, CompiledAgent):
        warm_up(agent)
    made_on = machine.describe()
    settle()
    notify(None)  # limits count from here
    waiting, meter = machine.Waiting(), Meter()
    records, played, seconds = _play_while_in_time(agent, experiment, request, notify, meter)
    made_on = {**made_on, "waiting_share": waiting.share()}
    is_whole = played.size == experiment.num_trajectories
    if is_whole:
        result = join_records(
            agent, experiment, trained.training, records, made_on, meter.peak_bytes
        )
        file = pack_result(result, request.keep_paths)
    else:
        file = pack_part(records, trained.training, made_on, seconds, meter.peak_bytes)
    returns = np.concatenate([returns_of(record, experiment) for record in records])
    return Played(played, seconds, file, is_whole, returns.tobytes())


def _play_while_in_time(
    agent: Agent, experiment: Experiment, request: PlayRequest, notify: Notify, meter: Meter
) -> "tuple[list[Record | PartTotals], Part, float]":
    """Play in growing steps; return what to keep, the part played, and the seconds it took."""
    at, size, seconds = request.part.first, 1, 0.0
    kept: list[Record | PartTotals] = []
    while at < request.part.end:
        step = Part(at, min(at + size, request.part.end))
        started = time.perf_counter()
        record = play(agent, experiment, step, meter)
        took = time.perf_counter() - started
        _check_decisions(record, step, request.decision_seconds, experiment)
        kept.append(_to_keep(record, experiment, request.keep_paths))
        at, seconds = step.end, seconds + took
        if notify(at) or seconds > request.part_seconds:
            break
        if not request.one_by_one and took < request.part_seconds / 20:
            size = min(4 * size, experiment.trajectories_at_once)
    return kept, Part(request.part.first, at), seconds


def _to_keep(record: Any, experiment: Experiment, keep_paths: bool) -> "Record | PartTotals":
    if keep_paths:
        return record  # type: ignore[no-any-return]
    if keeps_decisions(experiment, keep_paths):
        return record._replace(states=None, actions=None)  # type: ignore[no-any-return]
    return totals_of(record, experiment)


def _check_decisions(
    record: "Record", part: Part, limit: float | None, experiment: Experiment
) -> None:
    """Raise if a decision took longer than the limit."""
    if limit is None or record.nanoseconds.max() <= limit * 1e9:
        return
    i, step = np.unravel_index(record.nanoseconds.argmax(), record.nanoseconds.shape)
    mdp = (part.first + int(i)) // experiment.trajectories_per_mdp
    raise AgentError(
        f"its decision {step} in MDP {mdp} took "
        f"{record.nanoseconds[i, step] / 1e9:.3g} s, more than {limit:g} s"
    )


_agents: dict[bytes, TrainedAgent] = {}


def _trained(data: bytes) -> TrainedAgent:
    """A trained agent from its file; one that can't save itself is retrained once per process."""
    if data not in _agents:
        _remember(data, load(unpack_agent(data, "the trained agent")))
    return _agents[data]


def _remember(data: bytes, trained: TrainedAgent) -> None:
    while len(_agents) >= 4:
        del _agents[next(iter(_agents))]
    _agents[data] = trained


@lru_cache(maxsize=8)
def build_experiment(request: ExperimentRequest) -> Experiment:
    """An experiment from its request, with the same MDPs."""
    experiment = Experiment(
        formats.from_json(request.prior),
        formats.from_json(request.test),
        **dict(request.settings),
        mdps=None if request.mdps is None else np.frombuffer(request.mdps),
        origin=request.origin,
    )
    if experiment.hash != request.hash:
        raise AgentError(
            "this worker draws other MDPs than the main process: install the same versions of "
            "brlbench and NumPy for both"
        )
    if request.expected is not None:
        start_values.remember(experiment, start_values.unpack(parse_json(request.expected)))
    return experiment
