"""Estimates how long a study will take, from short probes of every missing job."""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..agents.base import Agent, TrainingStopped
from ..executors.base import Call, Done, Executor, Limits, Notify, completed
from ..hosting import Steps, hosted
from ..protocol.experiment import Experiment
from ..protocol.machine import Waiting
from ..protocol.playing import Part, play
from ..protocol.training import train, with_progress
from .folder import Folder
from .plan import Job
from .worker import TrainRequest, untrained

PROBE_SECONDS = 0.5
PROBE_COST_SECONDS = 2 * PROBE_SECONDS  # at most, about: training, then playing
_PROBE = "brlbench.study.estimate:probe_agent"


NOTHING_STOPS: Mapping[Job, float] = {}


class Probe(NamedTuple):
    """Extrapolated times of an agent."""

    training_seconds: float
    trajectory_seconds: float


@dataclass(frozen=True)
class JobEstimate:
    """Seconds that one job will take; None if its probe failed."""

    job: Job
    training_seconds: float | None
    playing_seconds: float | None
    failure: str = ""

    @property
    def seconds(self) -> float:
        """The total, as far as it is known."""
        return (self.training_seconds or 0.0) + (self.playing_seconds or 0.0)


def estimate(
    jobs: Iterable[Job],
    folder: Folder,
    executor: Executor,
    probe_seconds: float = PROBE_SECONDS,
    on_probe: Callable[[], None] = lambda: None,
    expected_mdps: Mapping[Job, float] = NOTHING_STOPS,
) -> list[JobEstimate]:
    """Probe jobs and estimate the rest of each; a shared training counts for one of its jobs.

    Jobs that are expected to play fewer MDPs than their experiments have are counted with these.
    """
    futures = {}
    for job in jobs:
        own = (job.agent.limits.of_training, job.agent.limits.of_playing(horizon=1))
        memories = [limits.memory for limits in own if limits.memory is not None]
        memory = max(memories) if len(memories) == 2 else None  # it trains and plays
        limits = Limits(60 * probe_seconds, memory=memory, preparation=own[0].preparation)
        request = (TrainRequest.of(job), probe_seconds)
        futures[executor.submit(Call(_PROBE, request, limits, job.guest))] = job
    estimates = []
    trained = set()
    for future in completed(futures):
        job, outcome = futures[future], future.result()
        on_probe()
        if not isinstance(outcome, Done):
            estimates.append(JobEstimate(job, None, None, outcome.reason))
            continue
        probe = Probe(*map(float, outcome.value))
        left = _trajectories_left(job, folder, expected_mdps.get(job))
        is_trained = job.training_key in trained or folder.agent(job).exists()
        trained.add(job.training_key)
        training = 0.0 if is_trained else probe.training_seconds
        estimates.append(JobEstimate(job, training, left * probe.trajectory_seconds))
    return estimates


def _trajectories_left(job: Job, folder: Folder, expected_mdps: float | None) -> float:
    """The trajectories that a job has yet to play, at most or as expected."""
    left = sum(gap.size for gap in folder.gaps(job))
    if expected_mdps is None:
        return left
    played = job.experiment.num_trajectories - left
    return max(0.0, expected_mdps * job.experiment.trajectories_per_mdp - played)


@hosted
def probe_agent(data: list[Any], notify: Notify) -> Steps[Probe]:
    """Train and play for a short time, and extrapolate."""
    request, seconds = data
    agent, experiment = yield from untrained(request)
    notify(None)
    elapsed = _stopwatch()

    def watch(done: int, total: int) -> None:
        if (took := elapsed()) > seconds:  # progress of searches is counted in trajectories
            raise _ProbeOver(Probe(took * total / done, took / done))

    try:
        trained = train(
            with_progress(agent, watch), experiment.prior, experiment.task, experiment.seed
        )
    except _ProbeOver as over:
        return over.probe
    return Probe(trained.training.seconds, _each_seconds(trained.agent, experiment, seconds))


class _ProbeOver(TrainingStopped):
    """Ends a search that has been watched for long enough."""

    def __init__(self, probe: Probe) -> None:
        super().__init__("a search was cut short to estimate its time")
        self.probe = probe


def _each_seconds(agent: Agent, experiment: Experiment, seconds: float) -> float:
    """Seconds per trajectory: a mean, or extrapolated from the first decisions of one."""
    before, took_before = 0, 0.0
    _time(agent, experiment.replace(horizon=1), Part(0, 1))  # compiles what is not compiled yet
    powers_of_2 = [1 << i for i in range((experiment.horizon - 1).bit_length())]
    for decisions in powers_of_2:
        took = _time(agent, experiment.replace(horizon=decisions), Part(0, 1))
        if took > seconds / 2:  # the first decisions' extra time is not extrapolated
            each = max(took - took_before, 0.0) / (decisions - before)
            return took + each * (experiment.horizon - decisions)
        before, took_before = decisions, took
    # Many at a time, as a study plays them.
    first, total, size = 0, 0.0, 1
    while total < seconds / 2 and first + size <= experiment.num_trajectories:
        total += _time(agent, experiment, Part(first, first + size))
        first += size
        size = 2 * size if total < seconds / 10 else size
    return total / first


def _time(agent: Agent, experiment: Experiment, part: Part) -> float:
    elapsed = _stopwatch()
    play(agent, experiment, part)
    return elapsed()


def _stopwatch() -> Callable[[], float]:
    """A function that returns the seconds since now, without those spent waiting for a core."""
    started, waiting = time.perf_counter(), Waiting()
    # The waiting is read first, so that the difference is not negative.
    return lambda: -waiting.seconds() + time.perf_counter() - started
