"""What a study will take, from short probes of every job that is missing."""

import copy
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..agents import make_agent
from ..agents.base import Agent, CompiledAgent
from ..agents.policy_search import PolicySearch
from ..errors import AgentError
from ..executors import Executor
from ..executors.child import Done, Limits
from ..protocol.evaluate import train, warm_up
from ..protocol.experiment import Experiment
from ..protocol.machine import Waiting
from ..protocol.playing import play
from ..protocol.waiting import completed
from .folder import Folder
from .schema import Job
from .units import PREPARATION_SECONDS, ExperimentRequest, Report, build_experiment

PROBE_SECONDS = 0.5
_UNIT = "brlbench.study.estimate:probe_unit"


class ProbeRequest(NamedTuple):
    """An agent to be tried for a short time."""

    algorithm: str
    parameters: dict[str, Any]
    experiment: ExperimentRequest
    seconds: float


class Probe(NamedTuple):
    """What an agent takes, extrapolated."""

    training_seconds: float
    trajectory_seconds: float


@dataclass(frozen=True)
class Estimate:
    """What one job will take; None if its probe failed."""

    job: Job
    training_seconds: float | None
    playing_seconds: float | None
    failure: str = ""

    @property
    def seconds(self) -> float:
        """All of it, as far as it is known."""
        return (self.training_seconds or 0.0) + (self.playing_seconds or 0.0)


def estimate(
    jobs: Iterable[Job],
    folder: Folder,
    executor: Executor,
    probe_seconds: float = PROBE_SECONDS,
    advance: Callable[[], None] = lambda: None,
) -> list[Estimate]:
    """Probe jobs, and say what is left of each; a training counts for one of its jobs only."""
    futures = {}
    for job in jobs:
        request = ProbeRequest(
            job.agent.algorithm,
            job.agent.parameters,
            ExperimentRequest.of(job.experiment),
            probe_seconds,
        )
        limits = Limits(60 * probe_seconds, job.agent.limits.memory, PREPARATION_SECONDS)
        futures[executor.submit(_UNIT, request, limits)] = job
    found = []
    trained = set()
    for future in completed(futures):
        job, outcome = futures[future], future.result()
        advance()
        if not isinstance(outcome, Done):
            found.append(Estimate(job, None, None, outcome.reason))
            continue
        probe: Probe = outcome.value
        left = sum(end - first for first, end in folder.gaps(job))
        is_trained = job.training_key in trained or folder.agent(job).exists()
        trained.add(job.training_key)
        training = 0.0 if is_trained else probe.training_seconds
        found.append(Estimate(job, training, left * probe.trajectory_seconds))
    return found


def probe_unit(request: ProbeRequest, report: Report) -> Probe:
    """Train and play for a short time, and extrapolate."""
    agent = make_agent(request.algorithm, **request.parameters)
    experiment = build_experiment(request.experiment)
    if isinstance(agent, CompiledAgent):
        warm_up(agent)
    report(None)
    agent, training_seconds, trajectory_seconds = _train(agent, experiment, request.seconds)
    if trajectory_seconds is None:
        trajectory_seconds = _trajectory_seconds(agent, experiment, request.seconds)
    return Probe(training_seconds, trajectory_seconds)


class _EnoughError(Exception):
    """Ends a search that has been watched for long enough."""


def _train(
    agent: Agent, experiment: Experiment, seconds: float
) -> tuple[Agent, float, float | None]:
    """The trained agent, and what training takes; of a search cut short also its trajectories."""
    started, waiting = time.perf_counter(), Waiting()
    done, total, elapsed = 0, 0, 0.0

    def watch(done_now: int, total_now: int) -> None:
        nonlocal done, total, elapsed
        done, total = done_now, total_now
        elapsed = time.perf_counter() - started - waiting.seconds()
        if elapsed > seconds:
            raise _EnoughError

    if isinstance(agent, PolicySearch):
        agent = agent.with_progress(watch)
    try:
        training = train(agent, experiment.prior, experiment.task, experiment.seed)
    except AgentError as error:
        if not isinstance(error.__cause__, _EnoughError):
            raise
        # In a search, one trajectory is played for each unit of its progress.
        return agent, elapsed * total / done, elapsed / done
    return agent, training.seconds, None


def _trajectory_seconds(agent: Agent, experiment: Experiment, seconds: float) -> float:
    """The mean time of trajectories, or of as many decisions as there is time for, extrapolated."""
    before, took_before = 0, 0.0
    _time(agent, _shortened(experiment, 1), 0, 1)  # compiles what is not compiled yet
    for decisions in _doubling(experiment.horizon):
        took = _time(agent, _shortened(experiment, decisions), 0, 1)
        if decisions == experiment.horizon:
            break
        if took > seconds / 2:  # what the beginning takes is not to be multiplied
            each = max(took - took_before, 0.0) / (decisions - before)
            return took + each * (experiment.horizon - decisions)
        before, took_before = decisions, took
    # Many at a time, as they are played in a study.
    first, total, size = 0, 0.0, 1
    while total < seconds / 2 and first + size <= experiment.num_trajectories:
        total += _time(agent, experiment, first, first + size)
        first += size
        size = 2 * size if total < seconds / 10 else size
    return total / first


def _doubling(last: int) -> Iterator[int]:
    number = 1
    while number < last:
        yield number
        number *= 2
    yield last


def _shortened(experiment: Experiment, horizon: int) -> Experiment:
    short = copy.copy(experiment)
    short.horizon = horizon
    return short


def _time(agent: Agent, experiment: Experiment, first: int, end: int) -> float:
    """What playing takes on a core of its own."""
    started, waiting = time.perf_counter(), Waiting()
    play(agent, experiment, first, end)
    return time.perf_counter() - started - waiting.seconds()
