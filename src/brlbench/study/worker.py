"""The functions that workers call: train an agent, or play a part of a job.

A request holds everything they need, as plain data, and they return the content of a file, so
workers need no access to the folder. `notify` tells the main process that something is finished;
it returns True if the call should end early.
"""

import math
from functools import cache, lru_cache, partial
from pathlib import Path
from time import thread_time
from typing import Any, NamedTuple

import numpy as np
from pydantic import ValidationError

from ..agents import make_agent
from ..agents.base import Agent, CompiledAgent
from ..beliefs.base import Family
from ..errors import AgentError, BrlbenchError, StoreError, said
from ..executors import wire
from ..executors.base import Notify
from ..hosting import Steps, hosted
from ..mdps.batch import MDPs
from ..mdps.sparse import Floats
from ..problems import formats
from ..protocol import machine
from ..protocol.experiment import Experiment
from ..protocol.footprint import return_free_memory
from ..protocol.luck import known_start_values, remember_start_values
from ..protocol.playing import Part, part_steps, warm_up_environment
from ..protocol.recording import check_part, keeps_decisions, make_part
from ..protocol.tracing import check_follows
from ..protocol.tracing import warm_up as warm_up_tracing
from ..protocol.training import TrainedAgent, check_plays, load, save, train, warm_up
from ..results.adjusted import StartValues
from ..results.files import pack_part, pack_result, read_part, read_result
from ..results.result import Result, join
from ..results.sealed import is_intact
from ..schemas import parse_table, sentence
from ..storage.agents import pack_agent, unpack_agent
from .plan import Job

# A process may use more processor time than its agent: this times the agent's, and for packing,
# for the steps of the environment, and for making the part again, which is timed.
_MORE = 2.0
_SECONDS_PER_TRAINING = 2.0
_SECONDS_PER_PART = 0.5
_SECONDS_PER_TRAJECTORY = 5e-3
_SECONDS_PER_DECISION = 1e-4
_REPEATS = 5.0


class WrongValue(BrlbenchError):
    """A worker returned a malformed value: an agent may do anything to its process."""


def intact(data: Any) -> bytes:
    """The content of a file from a worker; raises if it is not one."""
    if not isinstance(data, bytes) or not is_intact(data):
        raise WrongValue("its process returned a damaged file")
    return data


class PartFile(NamedTuple):
    """A played part as the content of a file, and its returns."""

    part: Part
    seconds: float
    data: bytes
    is_whole_result: bool
    packed_returns: bytes
    actions: bytes  # of an agent of a user's

    @property
    def returns(self) -> Floats:
        """The return [n] of each trajectory."""
        return np.frombuffer(self.packed_returns)

    @classmethod
    def read(cls, value: Any, wanted: Part, experiment: Experiment, keep_paths: bool) -> "PartFile":
        """The file that a worker returned; raises unless it holds the beginning of a part.

        It is read as it will be later, so that whatever is kept can be read.
        """
        file = cls.of(value, wanted)
        if file.part.size:
            file.content(experiment, keep_paths)
        return file

    @classmethod
    def of(cls, value: Any, wanted: Part) -> "PartFile":
        """The file that a worker returned, with any content; raises if it is none of the part."""
        try:
            (first, end), seconds, data, is_whole, returns, actions = value
            part = Part(int(first), int(end))
            file = cls(part, float(seconds), intact(data), bool(is_whole), returns, actions)
            numbers, _ = file.returns, memoryview(actions)
        except (TypeError, ValueError):
            raise WrongValue("its process returned no played part") from None
        is_sound = 0 <= file.seconds < math.inf and np.isfinite(numbers).all()
        if not is_sound or len(numbers) != part.size:
            raise WrongValue("its process returned times or returns that can't be")
        if part.first != wanted.first or not 0 <= part.size <= wanted.size:
            raise WrongValue(f"its process returned another part than {tuple(wanted)}")
        return file

    def content(self, experiment: Experiment, keep_paths: bool, traced: bool = False) -> Result:
        """The part; raises unless the file holds it, and it can be joined with others of its job.

        If it is to be traced, all but its times must follow from its actions.
        """
        place = Path(f"trajectories {self.part.first} to {self.part.end - 1}")
        read = read_result if self.is_whole_result else read_part
        try:
            result = read(place, data=self.data)
            check_part(result, experiment, keep_paths, self.part)
            if not np.array_equal(result.columns["return"], self.returns):
                raise ValueError("its returns are others than those it was sent with")
            if traced:
                check_follows(result, experiment, range(*self.part), keep_paths, self.actions)
        except (StoreError, ValueError) as error:
            cause = error.__cause__ or error
            what = sentence(cause) if isinstance(cause, ValidationError) else said(cause)
            raise WrongValue(f"its process returned a wrong file: {what}") from None
        return result


class TrainRequest(NamedTuple):
    """An agent to be trained for an experiment."""

    algorithm: str
    parameters: dict[str, Any]
    experiment: bytes

    @classmethod
    def of(cls, job: Job) -> "TrainRequest":
        """The training that a job needs."""
        return cls(job.agent.algorithm, job.agent.parameters, pack_experiment(job.experiment))


class PlayRequest(NamedTuple):
    """A part to be played."""

    agent: bytes  # the file of a trained agent
    experiment: bytes
    part: Part
    part_seconds: float  # after this time, the rest is left to other workers
    decision_seconds: float | None  # a decision that takes longer is a failure
    one_by_one: bool  # notify after every trajectory
    keep_paths: bool


def untrained(data: list[Any]) -> Steps[tuple[Agent, Experiment]]:
    """The agent of a training's request, compiled, and its experiment."""
    request = TrainRequest(*data)
    agent = yield partial(make_agent, request.algorithm, **request.parameters)
    experiment = unpack_experiment(request.experiment)
    if isinstance(agent, CompiledAgent):
        warm_up(agent, experiment.prior, experiment.task)
    return agent, experiment


@hosted
def train_agent(data: list[Any], notify: Notify) -> Steps[bytes]:
    """Train an agent and return its file."""
    agent, experiment = yield from untrained(data)
    machine.describe()
    notify(None)  # limits count from here
    task = (experiment.prior, experiment.task, experiment.seed)
    trained = yield partial(train, agent, *task)
    file = pack_agent((yield partial(save, trained)))
    _remember(file, trained)
    return file


def check_train_agent(data: Any, value: Any, seconds: float | None) -> None:
    """Raise unless a worker returned the file of an agent, with the time that it took."""
    training = unpack_agent(intact(value), "its file").training
    _check_seconds(seconds, training.cpu_seconds, _SECONDS_PER_TRAINING)


def _check_seconds(seconds: float | None, told: float | None, more: float) -> None:
    """Raise if a process worked for much longer than it says; None is unknown."""
    if seconds is not None and told is not None and seconds > _MORE * told + more:
        raise WrongValue(
            f"its process worked for {seconds:.3g} s, but says {told:.3g} s: it changed clocks, or "
            "worked where no time is measured"
        )


@hosted
def play_job(data: list[Any], notify: Notify) -> Steps[PartFile]:
    """Play a part until its end, or until the time for one file is used up."""
    request = PlayRequest(*data)
    experiment = unpack_experiment(request.experiment)
    trained = yield partial(_trained, request.agent)
    check_plays(trained, experiment)
    agent = trained.agent
    if isinstance(agent, CompiledAgent):
        warm_up(agent, experiment.prior, experiment.task)
    warm_up_environment(experiment, agent)
    made_on = machine.describe()
    return_free_memory()
    notify(None)  # limits count from here
    played = yield from part_steps(
        agent,
        experiment,
        Part(*request.part),
        keeps_decisions(experiment, request.keep_paths),
        request.keep_paths,
        on_batch=lambda batch: notify(batch.end),
        batch_seconds=request.part_seconds / 20,
        seconds=request.part_seconds,
        decision_seconds=request.decision_seconds,
        one_by_one=request.one_by_one,
    )
    part = make_part(agent, experiment, trained.training, played, made_on)
    is_whole = played.part.size == experiment.num_trajectories
    file = pack_result(join([part]), request.keep_paths) if is_whole else pack_part(part)
    returns = part.columns["return"].tobytes()
    return PartFile(played.part, played.seconds, file, is_whole, returns, played.actions)


def check_play_job(data: list[Any], value: Any, seconds: float | None) -> None:
    """Raise unless a worker returned what its agent's actions lead to, with the time it took."""
    request = PlayRequest(*data)
    experiment = unpack_experiment(request.experiment)
    file = PartFile.of(value, Part(*request.part))
    if file.part.size == 0:
        return
    warm_up_tracing(experiment)
    began = thread_time()
    result = file.content(experiment, request.keep_paths, traced=True)
    told = float(result.columns["cpu_nanoseconds"].sum()) * 1e-9
    each = _SECONDS_PER_TRAJECTORY + _SECONDS_PER_DECISION * experiment.horizon
    own = _SECONDS_PER_PART + _REPEATS * (thread_time() - began) + each * file.part.size
    _check_seconds(seconds, told, own)


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


@cache
def pack_experiment(experiment: Experiment) -> bytes:
    """An experiment for workers, which draw its MDPs again unless these were given."""
    expected = known_start_values(experiment)
    content = {
        "prior": formats.to_json(experiment.prior),
        "test": formats.to_json(experiment.test),
        "settings": experiment.arguments(),
        "hash": experiment.hash,
        "mdps": _pack_mdps(experiment),
        "origin": experiment.origin,
        "expected": None if expected is None else vars(expected),
    }
    return wire.pack(content)


def _pack_mdps(experiment: Experiment) -> bytes | dict[str, Any] | None:
    mdps = experiment.given_mdps
    if mdps is None or experiment.has_plain_mdps:
        return None if mdps is None else mdps.probability.tobytes()
    columns = {name: column.tobytes() for name, column in mdps.columns().items()}
    return {
        "places": mdps.places.place.tobytes(),
        "columns": columns,
        "binary": mdps.is_binary,
    }


def _unpack_mdps(test: Family, packed: Any) -> MDPs | Floats | None:
    if not isinstance(packed, dict):
        return None if packed is None else np.frombuffer(packed)
    columns = {name: np.frombuffer(data) for name, data in packed["columns"].items()}
    places = np.frombuffer(packed["places"], np.int64)
    sizes = test.num_states, test.num_actions
    return MDPs.from_columns(*sizes, places, columns, packed["binary"])


@lru_cache(maxsize=8)
def unpack_experiment(data: bytes) -> Experiment:
    """The experiment in a request, with the same MDPs."""
    content = wire.unpack(data)
    test = formats.from_json(content["test"])
    experiment = Experiment(
        formats.from_json(content["prior"]),
        test,
        **content["settings"],
        mdps=_unpack_mdps(test, content["mdps"]),
        origin=content["origin"],
    )
    if experiment.hash != content["hash"]:
        raise AgentError(
            "this worker draws other MDPs than the main process: install the same versions of "
            "brlbench and NumPy for both"
        )
    if content["expected"] is not None:
        remember_start_values(experiment, parse_table(StartValues, content["expected"]))
    return experiment
