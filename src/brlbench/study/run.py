"""Run a study in a folder: train and play what is missing, and write down what comes of it.

Only this process writes to the folder. Workers are given units of work and give back the content
of files, so that killing any process at any moment loses no more than the units it was at.
"""

import signal
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ..errors import ExecutorError
from ..executors import Executor
from ..executors.child import Done, Failed, Limits, Outcome
from ..protocol.waiting import LOOK_SECONDS
from .folder import Folder, Range
from .schema import Job, LimitsTable, Study
from .units import PREPARATION_SECONDS, ExperimentRequest, Played, PlayRequest, TrainRequest

_LONG_SECONDS = 30 * 86400.0
_NOW_SECONDS = 1.0  # how often `now.json` is written


@dataclass(eq=False)
class Work:
    """A job on its way."""

    job: Job
    left: int  # trajectories in no part yet
    seconds_each: float | None = None
    failed: bool = False


@dataclass(eq=False)
class Unit:
    """What a worker is given: the training of some jobs' agent, or trajectories of one job."""

    works: list[Work]
    played: Range | None = None

    def __str__(self) -> str:
        work = self.works[0]
        if self.played is None:
            return f"training {work.job.label} on {work.job.experiment.prior.name}"
        return f"{work.job}, trajectories {self.played[0]} to {self.played[1] - 1}"


@dataclass(frozen=True)
class Progress:
    """How far a run is."""

    total: int
    done: int
    failed: int
    seconds_left: float | None
    running: list[str]
    stopping: bool


@dataclass(frozen=True)
class Outlook:
    """What a run finds in its folder."""

    done: list[Job]
    failed: list[Job]
    missing: list[Job]


def look(folder: Folder, study: Study) -> Outlook:
    """Which jobs of a study are done, failed or missing."""
    done, failed, missing = [], [], []
    for job in study.jobs:
        if folder.result(job).exists():
            done.append(job)
        elif folder.has_failed(job):
            failed.append(job)
        else:
            missing.append(job)
    return Outlook(done, failed, missing)


class Run:
    """One run of a study."""

    def __init__(
        self,
        study: Study,
        folder: Folder,
        executor: Executor,
        part_seconds: float,
        show: Callable[[Progress], None] = lambda progress: None,
    ) -> None:
        self.study, self.folder, self.executor, self.show = study, folder, executor, show
        self.part_seconds = part_seconds
        outlook = look(folder, study)
        for job in outlook.done:  # its parts were left if the last run was killed after joining
            folder.drop_parts(job)
        for job in outlook.missing:  # it may have failed within other limits
            folder.failure(job).unlink(missing_ok=True)
        self.done, self.failed = len(outlook.done), len(outlook.failed)
        self.works = [
            Work(job, sum(end - first for first, end in folder.gaps(job)))
            for job in outlook.missing
        ]
        self.ready: deque[Unit] = deque()
        self.pending: dict[Future[Outcome], Unit] = {}
        self.stopping = self.interrupted = False
        self._told = self._written = 0.0

    def __call__(self) -> bool:
        """Work until all is done; return whether it is, or was stopped before."""
        self._begin()
        with self._signals():
            try:
                while self.pending or (self.ready and not self.stopping):
                    if self.interrupted and not self.stopping:
                        self.stop()
                    self._submit()
                    if self.stopping and all(unit.played is None for unit in self._units()):
                        break  # a training that is cut short leaves nothing
                    finished, _ = wait(self.pending, LOOK_SECONDS, FIRST_COMPLETED)
                    for future in finished:
                        self._finish(self.pending.pop(future), future.result())
                    self._tell()
            except BaseException:
                self.executor.kill()
                raise
        if self.stopping:
            self.executor.kill()
        self._tell(at_once=True)
        return not self.stopping

    def stop(self) -> None:
        """Begin nothing new, and end soon what has begun."""
        self.stopping = True
        self.executor.stop()
        for future in [future for future in self.pending if future.cancel()]:
            del self.pending[future]

    def _units(self) -> Iterator[Unit]:
        return iter(self.pending.values())

    @contextmanager
    def _signals(self) -> Iterator[None]:
        """The first interrupt stops cleanly, the second at once."""

        def handle(number: int, frame: Any) -> None:
            if self.interrupted:
                raise KeyboardInterrupt
            self.interrupted = True

        before = {
            number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)
        }
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _begin(self) -> None:
        """Line up the training of agents, and what can be played at once."""
        groups: dict[str, list[Work]] = {}
        for work in self.works:
            groups.setdefault(work.job.training_key, []).append(work)
        for works in groups.values():
            if self.folder.agent(works[0].job).exists():
                for work in works:
                    self._line_up(work)
            else:
                self.ready.append(Unit(works))

    def _line_up(self, work: Work) -> None:
        gaps = self.folder.gaps(work.job)
        if gaps:
            self.ready.extend(Unit([work], gap) for gap in gaps)
        else:  # killed after the last part was written
            self._complete(work)

    def _submit(self) -> None:
        most = 2 * self.executor.num_workers  # so that no worker waits for this process
        while self.ready and not self.stopping and len(self.pending) < most:
            unit = self.ready.popleft()
            if unit.works[0].failed:
                continue
            self.pending[self._submitted(unit)] = unit

    def _submitted(self, unit: Unit) -> Future[Outcome]:
        work = unit.works[0]
        job, limits = work.job, work.job.agent.limits
        experiment = ExperimentRequest.of(job.experiment)
        if unit.played is None:
            train = TrainRequest(job.agent.algorithm, job.agent.parameters, experiment)
            name = "brlbench.study.units:train_unit"
            return self.executor.submit(name, train, _limits(limits.training, limits))
        first, end = unit.played
        seconds = limits.trajectory_seconds(job.experiment.horizon)
        play = PlayRequest(
            agent=self.folder.agent(job).read_bytes(),
            experiment=experiment,
            first=first,
            end=end,
            part_seconds=self.part_seconds,
            decision_seconds=limits.decision,
            one_by_one=seconds is not None,
            keep_trajectories=self.study.table.output.trajectories,
        )
        name = "brlbench.study.units:play_unit"
        return self.executor.submit(name, play, _limits(seconds, limits, limits.training))

    def _finish(self, unit: Unit, outcome: Outcome) -> None:
        """Write down what came of a unit, and line up what follows from it."""
        if isinstance(outcome, Done):
            if unit.played is None:
                self.folder.write_agent(unit.works[0].job, outcome.value)
                for work in unit.works:
                    self._line_up(work)
            else:
                self._played(unit.works[0], unit.played, outcome.value)
        elif isinstance(outcome, Failed):
            where = "training: " if unit.played is None else ""
            for work in unit.works:
                self._fail(work, where + outcome.reason)
        elif not self.stopping:
            raise ExecutorError(f"{unit}: {outcome.reason}")

    def _played(self, work: Work, wanted: Range, played: Played) -> None:
        number = played.end - played.first
        work.left -= number
        if number:
            work.seconds_each = played.seconds / number
        if played.is_whole_result:
            self.folder.write_result(work.job, played.data)
            self.done += 1
            return
        if number:
            self.folder.write_part(work.job, (played.first, played.end), played.data)
        self.ready.extendleft(
            reversed([Unit([work], part) for part in self._split(work, (played.end, wanted[1]))])
        )
        if work.left == 0 and not work.failed:
            self._complete(work)

    def _split(self, work: Work, gap: Range) -> Iterator[Range]:
        """Divide trajectories into parts that take about the time for one."""
        first, end = gap
        size = max(1, int(self.part_seconds / max(work.seconds_each or 0.0, 1e-6)))
        for at in range(first, end, size):
            yield at, min(at + size, end)

    def _complete(self, work: Work) -> None:
        self.folder.join_parts(work.job)
        self.done += 1

    def _fail(self, work: Work, reason: str) -> None:
        if not work.failed:
            work.failed = True
            self.failed += 1
            self.folder.write_failure(work.job, reason)

    def _tell(self, at_once: bool = False) -> None:
        if not at_once and time.monotonic() - self._told < LOOK_SECONDS:
            return
        self._told = time.monotonic()
        progress = Progress(
            len(self.study.jobs),
            self.done,
            self.failed,
            self._seconds_left(),
            [str(unit) for unit in self._units()][: self.executor.num_workers],
            self.stopping,
        )
        self.show(progress)
        if at_once or time.monotonic() - self._written > _NOW_SECONDS:
            self._written = time.monotonic()
            self.folder.write_now({**vars(progress), "at": time.time()})

    def _seconds_left(self) -> float | None:
        """The time for what is left; unknown speeds are those of the algorithm, or of all."""
        known: dict[str, list[float]] = {}
        for work in self.works:
            if work.seconds_each is not None:
                known.setdefault(work.job.agent.algorithm, []).append(work.seconds_each)
        if not known:
            return None
        means = {algorithm: sum(times) / len(times) for algorithm, times in known.items()}
        overall = sum(means.values()) / len(means)
        left = sum(
            work.left * (work.seconds_each or means.get(work.job.agent.algorithm, overall))
            for work in self.works
            if not work.failed
        )
        return left / self.executor.num_workers


def _limits(seconds: float | None, table: LimitsTable, training: float | None = 0.0) -> Limits:
    """Limits that count from the first report; an agent may have to be trained before that."""
    preparation = PREPARATION_SECONDS + (_LONG_SECONDS if training is None else training)
    return Limits(seconds, table.memory, preparation)
