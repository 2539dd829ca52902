"""The functions that workers call: train an agent, or play a part of a job.

A request holds everything they need, as plain data, and they return the content of a file, so
workers need no access to the folder. `notify` tells the main process that something is finished;
it returns True if the call should end early.
"""

import math
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..agents import make_agent
from ..agents.base import Agent, CompiledAgent
from ..errors import AgentError, StoreError, said
from ..executors import wire
from ..executors.base import Notify
from ..mdps.sparse import Floats
from ..problems import formats
from ..protocol import machine
from ..protocol.experiment import Experiment
from ..protocol.footprint import return_free_memory
from ..protocol.luck import known_start_values, remember_start_values
from ..protocol.playing import Part, play_part, warm_up_environment
from ..protocol.recording import check_part, keeps_decisions, make_part
from ..protocol.training import TrainedAgent, check_plays, load, save, train, warm_up
from ..results.adjusted import StartValues
from ..results.files import pack_part, pack_result, read_part, read_result
from ..results.result import join
from ..results.sealed import is_intact
from ..schemas import parse_table
from ..storage.agents import pack_agent, unpack_agent
from .plan import Job


class WrongValue(Exception):
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

    @property
    def returns(self) -> Floats:
        """The return [n] of each trajectory."""
        return np.frombuffer(self.packed_returns)

    @classmethod
    def read(cls, value: Any, wanted: Part, job: Job) -> "PartFile":
        """The file that a worker returned; raises unless it holds the beginning of a part.

        It is read as it will be later, so that whatever is kept can be read.
        """
        try:
            (first, end), seconds, data, is_whole, returns = value
            part = Part(int(first), int(end))
            file = cls(part, float(seconds), intact(data), bool(is_whole), returns)
            numbers = file.returns
        except (TypeError, ValueError):
            raise WrongValue("its process returned no played part") from None
        is_sound = 0 <= file.seconds < math.inf and np.isfinite(numbers).all()
        if not is_sound or len(numbers) != part.size:
            raise WrongValue("its process returned times or returns that can't be")
        if part.first != wanted.first or not 0 <= part.size <= wanted.size:
            raise WrongValue(f"its process returned another part than {tuple(wanted)}")
        if part.size:
            file.check_content(job)
        return file

    def check_content(self, job: Job) -> None:
        """Raise unless the file holds the part, and can be joined with others of the job."""
        place = Path(f"trajectories {self.part.first} to {self.part.end - 1}")
        read = read_result if self.is_whole_result else read_part
        try:
            result = read(place, data=self.data)
            check_part(result, job.experiment, job.keep_paths, self.part)
            if not np.array_equal(result.columns["return"], self.returns):
                raise ValueError("its returns are others than those it was sent with")
        except (StoreError, ValueError) as error:
            cause = error.__cause__ or error
            raise WrongValue(f"its process returned a wrong file: {said(cause)}") from None


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


def untrained(data: list[Any]) -> tuple[Agent, Experiment]:
    """The agent of a training's request, compiled, and its experiment."""
    request = TrainRequest(*data)
    agent = make_agent(request.algorithm, **request.parameters)
    if isinstance(agent, CompiledAgent):
        warm_up(agent)
    return agent, unpack_experiment(request.experiment)


def train_agent(data: list[Any], notify: Notify) -> bytes:
    """Train an agent and return its file."""
    agent, experiment = untrained(data)
    machine.describe()
    notify(None)  # limits count from here
    trained = train(agent, experiment.prior, experiment.task, experiment.seed)
    file = pack_agent(save(trained))
    _remember(file, trained)
    return file


def play_job(data: list[Any], notify: Notify) -> PartFile:
    """Play a part until its end, or until the time for one file is used up."""
    request = PlayRequest(*data)
    trained, experiment = _trained(request.agent), unpack_experiment(request.experiment)
    check_plays(trained, experiment)
    agent = trained.agent
    if isinstance(agent, CompiledAgent):
        warm_up(agent)
    warm_up_environment(experiment, isinstance(agent, CompiledAgent))
    made_on = machine.describe()
    return_free_memory()
    notify(None)  # limits count from here
    waiting = machine.Waiting()
    played = play_part(
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
    made_on = {**made_on, "waiting_share": waiting.share()}
    part = make_part(agent, experiment, trained.training, played, made_on)
    is_whole = played.part.size == experiment.num_trajectories
    file = pack_result(join([part]), request.keep_paths) if is_whole else pack_part(part)
    returns = part.columns["return"].tobytes()
    return PartFile(played.part, played.seconds, file, is_whole, returns)


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
    expected, mdps = known_start_values(experiment), experiment.given_mdps
    content = {
        "prior": formats.to_json(experiment.prior),
        "test": formats.to_json(experiment.test),
        "settings": experiment.arguments(),
        "hash": experiment.hash,
        "mdps": None if mdps is None else mdps.tobytes(),
        "origin": experiment.origin,
        "expected": None if expected is None else vars(expected),
    }
    return wire.pack(content)


@lru_cache(maxsize=8)
def unpack_experiment(data: bytes) -> Experiment:
    """The experiment in a request, with the same MDPs."""
    content = wire.unpack(data)
    experiment = Experiment(
        formats.from_json(content["prior"]),
        formats.from_json(content["test"]),
        **content["settings"],
        mdps=None if content["mdps"] is None else np.frombuffer(content["mdps"]),
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
