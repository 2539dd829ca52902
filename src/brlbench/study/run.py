"""Run a study in a folder: train and play what is missing, and write the results.

A job is divided here: into the parts that have no file yet, and these into parts of equal time.
Only this process writes to the folder. Workers return the content of files, so killing any process
at any moment loses no more than the parts and trainings it was working on.
"""

import math
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..executors.base import POLL_SECONDS, Call, Done, Executor, Failed, Limits, Outcome
from ..executors.child import TOOK_LONG
from ..protocol.experiment import Experiment
from ..protocol.luck import OnDrawn, can_adjust, find_start_values
from ..protocol.playing import Part
from .folder import Folder
from .levels import expected_mdps
from .plan import Job
from .schema import HalvingTable, RacingTable
from .stopping import Stopping, Verdict
from .tally import Progress, Running, Tally
from .worker import (
    PartFile,
    PlayRequest,
    TrainRequest,
    WrongValue,
    intact,
    pack_experiment,
)

_MOST_DEATHS = 3  # of an assignment; then its jobs are left to the next run
_NOW_SECONDS = 1.0  # between two versions of `now.json`


@dataclass(eq=False)
class OpenJob:
    """A job that is not finished."""

    job: Job
    left: int  # trajectories without a file
    tally: Tally
    left_now: int = 0  # of them, those before its next look
    seconds_each: float | None = None
    given_up: bool = False  # in this run: it failed, or its processes were ended too often

    @property
    def playing_seconds_left(self) -> float:
        """The seconds of playing that its limit leaves."""
        limit = self.job.agent.limits.playing
        return math.inf if limit is None else limit - self.tally.seconds


@dataclass(eq=False)
class Assignment:
    """The work of one worker: the training of some jobs' agent, or a part of one job."""

    open_jobs: list[OpenJob]
    part: Part | None = None  # None: training
    deaths: int = 0  # of its processes, ended from outside

    def __str__(self) -> str:
        open_job = self.open_jobs[0]
        if self.part is None:
            return f"training {open_job.job.label} on {open_job.job.experiment.prior.name}"
        return f"{open_job.job}, trajectories {self.part.first} to {self.part.end - 1}"

    def running(self) -> Running:
        """The job and its score so far, for progress bars."""
        tally = self.open_jobs[0].tally
        if self.part is None or tally.score is None:
            return Running(str(self))
        return Running(str(self), *tally.score, tally.num_mdps)


class Outlook(NamedTuple):
    """The jobs of a study by their state when a run starts."""

    done: list[Job]
    failed: list[Job]
    missing: list[Job]


def survey(folder: Folder, jobs: Iterable[Job]) -> Outlook:
    """Sort jobs into done, failed and missing."""
    done, failed, missing = [], [], []
    for job in jobs:
        if folder.is_done(job):
            done.append(job)
        elif folder.has_failed(job):
            failed.append(job)
        else:
            missing.append(job)
    return Outlook(done, failed, missing)


def find_expected_luck(
    experiments: Iterable[Experiment],
    watch: Callable[[Experiment], AbstractContextManager[OnDrawn | None]] = lambda _: nullcontext(),
) -> None:
    """Find the expected start values of experiments, so that workers need not estimate them."""
    for experiment in dict.fromkeys(experiments):
        if can_adjust(experiment):
            with watch(experiment) as on_drawn:
                find_start_values(experiment, on_drawn)


class StudyRun:
    """One run of the jobs of a study."""

    def __init__(
        self,
        jobs: Sequence[Job],
        folder: Folder,
        executor: Executor,
        part_seconds: float,
        show: Callable[[Progress], None] = lambda progress: None,
        rule: RacingTable | HalvingTable | None = None,
    ) -> None:
        self.folder, self.executor, self.show = folder, executor, show
        self.part_seconds = part_seconds
        self.rules = Stopping(folder, jobs, rule)
        self._expected = expected_mdps(jobs, rule)
        self._outlook = outlook = survey(folder, jobs)
        self.done, self.failed = len(outlook.done), len(outlook.failed)
        self.open_jobs = {
            job: OpenJob(job, sum(gap.size for gap in folder.gaps(job)), folder.tally(job))
            for job in outlook.missing
        }
        self.ready: deque[Assignment] = deque()
        self.pending: dict[Future[Outcome], Assignment] = {}
        self.stopping = self.interrupted = False
        self._told = self._written = 0.0

    def __call__(self) -> bool:
        """Work until all is done or the run is stopped; return True if all is done."""
        self._begin()
        with self._signals():
            try:
                while self.pending or (self.ready and not self.stopping):
                    if self.interrupted and not self.stopping:
                        self.stop()
                    self._submit()
                    if self.stopping and all(each.part is None for each in self.pending.values()):
                        break  # an unfinished training leaves nothing to keep
                    finished, _ = wait(self.pending, POLL_SECONDS, FIRST_COMPLETED)
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
        """Start nothing new, and end running assignments early."""
        self.stopping = True
        self.executor.stop()
        for future in [future for future in self.pending if future.cancel()]:
            del self.pending[future]

    @contextmanager
    def _signals(self) -> Iterator[None]:
        """Let the first interrupt stop the run cleanly, and the second at once.

        Only the main thread can watch for them.
        """
        if threading.current_thread() is not threading.main_thread():
            yield
            return

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
        """Remove leftovers; line up the trainings, and the parts that can be played already."""
        for job in self._outlook.done:  # a run that was killed after joining leaves parts
            if self.folder.result(job).exists():
                self.folder.drop_parts(job)
        for job in self._outlook.missing:  # the job may have failed under other limits
            self.folder.failure(job).unlink(missing_ok=True)
        find_expected_luck(job.experiment for job in self.open_jobs)
        self.rules.begin(self.open_jobs)
        groups: dict[str, list[OpenJob]] = {}
        for open_job in self.open_jobs.values():
            groups.setdefault(open_job.job.training_key, []).append(open_job)
        for open_jobs in groups.values():
            if self.folder.agent(open_jobs[0].job).exists():
                for open_job in open_jobs:
                    self._line_up(open_job)
            else:
                self.ready.append(Assignment(open_jobs))

    def _line_up(self, open_job: OpenJob) -> None:
        gaps = self.folder.gaps(open_job.job, self.rules.end(open_job.job))
        self.ready.extend(Assignment([open_job], gap) for gap in gaps)
        open_job.left_now = sum(gap.size for gap in gaps)
        if not gaps:  # killed after the last part was written
            self._reach(open_job)

    def _reach(self, open_job: OpenJob) -> None:
        """All is played before the job's next look, or all of it."""
        job = open_job.job
        if self.rules.end(job) == job.experiment.num_trajectories:
            self.folder.join_parts(job)
            self._complete(job)
        else:
            self._judge(self.rules.reached(job))

    def _complete(self, job: Job) -> None:
        """A job has its whole result."""
        self.done += 1
        self._judge(self.rules.leave(job))

    def _judge(self, verdicts: list[Verdict]) -> None:
        """End jobs that stop early, and line up the others, the cheapest first."""
        going_on = []
        for job, stopped in verdicts:
            open_job = self.open_jobs[job]
            if stopped is None:
                going_on.append(open_job)
            else:
                self.folder.join_parts(job, stopped)
                open_job.left = 0
                self.done += 1
        for open_job in sorted(going_on, key=lambda each: each.seconds_each or 0.0):
            self._line_up(open_job)

    def _submit(self) -> None:
        most = 2 * self.executor.num_workers  # so that no worker waits for this process
        while self.ready and not self.stopping and len(self.pending) < most:
            assignment = self.ready.popleft()
            if assignment.open_jobs[0].given_up:
                continue
            self.pending[self._submitted(assignment)] = assignment

    def _submitted(self, assignment: Assignment) -> Future[Outcome]:
        open_job = assignment.open_jobs[0]
        job, agent = open_job.job, open_job.job.agent
        if assignment.part is None:
            return self._call("train_agent", TrainRequest.of(job), job, agent.limits.of_training)
        limits = agent.limits.of_playing(job.experiment.horizon)
        play = PlayRequest(
            agent=self.folder.agent(job).read_bytes(),
            experiment=pack_experiment(job.experiment),
            part=assignment.part,
            part_seconds=min(self.part_seconds, open_job.playing_seconds_left),
            decision_seconds=agent.limits.decision,
            one_by_one=limits.seconds is not None,
            keep_paths=job.keep_paths,
        )
        return self._call("play_job", play, job, limits)

    def _call(self, name: str, request: Any, job: Job, limits: Limits) -> Future[Outcome]:
        worker, folder = "brlbench.study.worker:", str(self.folder.path.absolute())
        # A distribution of a user's draws MDPs by code whose time and numbers can't be checked.
        is_checked = job.guest == job.agent.guest
        return self.executor.submit(
            Call(
                function_name=worker + name,
                argument=request,
                limits=limits,
                guest=job.guest,
                check=f"{worker}check_{name}" if is_checked else None,
                read_only=folder,
            )
        )

    def _finish(self, assignment: Assignment, outcome: Outcome) -> None:
        """Write the outcome of an assignment to the folder, and line up what follows."""
        if isinstance(outcome, Done):
            try:
                self._keep(assignment, outcome.value)
            except WrongValue as error:
                self._fail(assignment, str(error))
        elif isinstance(outcome, Failed):
            self._fail(assignment, outcome.reason, traceback=outcome.traceback)
        elif not self.stopping:
            assignment.deaths += 1
            if assignment.deaths < _MOST_DEATHS:
                self.ready.append(assignment)  # last, when the cause may be gone
            else:
                reason = f"{outcome.reason}, {assignment.deaths} times"
                self._fail(assignment, reason, is_interruption=True)

    def _keep(self, assignment: Assignment, value: Any) -> None:
        """Write the value of an assignment, and line up what follows."""
        open_job = assignment.open_jobs[0]
        if assignment.part is None:
            self.folder.write_agent(open_job.job, intact(value))
            for open_job in assignment.open_jobs:
                self._line_up(open_job)
            return
        job = open_job.job
        file = PartFile.read(value, assignment.part, job.experiment, job.keep_paths)
        number = file.part.size
        open_job.left -= number
        open_job.left_now -= number
        if number:
            open_job.seconds_each = file.seconds / number
        if file.is_whole_result:
            self.folder.write_result(open_job.job, file.data)
            self._complete(open_job.job)
            return
        if number:
            self.folder.write_part(open_job.job, file.part, file.data)
            open_job.tally.add(file.part, file.returns, file.seconds)
        if open_job.playing_seconds_left < 0:
            limit = open_job.job.agent.limits.text("playing")
            self._fail(assignment, f"{TOOK_LONG} {limit}")
            return
        # In parts that take the study's `part` seconds.
        size = max(1, int(self.part_seconds / max(open_job.seconds_each or 0.0, 1e-6)))
        rest = Part(file.part.end, assignment.part.end).divide(size)
        self.ready.extendleft(reversed([Assignment([open_job], part) for part in rest]))
        if open_job.left_now == 0 and not open_job.given_up:
            self._reach(open_job)

    def _fail(
        self,
        assignment: Assignment,
        reason: str,
        is_interruption: bool = False,
        traceback: Sequence[str] = (),
    ) -> None:
        """Write down why jobs get no result; the next run tries interrupted ones again."""
        where = "training: " if assignment.part is None else ""
        for open_job in assignment.open_jobs:
            if not open_job.given_up:
                open_job.given_up = True
                self.failed += not is_interruption
                self.folder.write_failure(open_job.job, where + reason, is_interruption, traceback)
                self._judge(self.rules.leave(open_job.job))

    def _tell(self, at_once: bool = False) -> None:
        if not at_once and time.monotonic() - self._told < POLL_SECONDS:
            return
        self._told = time.monotonic()
        progress = Progress(
            done=self.done,
            failed=self.failed,
            trajectories_left=sum(open_job.left for open_job in self.open_jobs.values()),
            seconds_left=self._seconds_left(),
            running=[each.running() for each in self.pending.values()][: self.executor.num_workers],
            stopping=self.stopping,
            at=time.time(),
        )
        self.show(progress)
        if at_once or time.monotonic() - self._written > _NOW_SECONDS:
            self._written = time.monotonic()
            self.folder.write_now(progress)

    def _seconds_left(self) -> float | None:
        """Seconds left; unknown speeds use the algorithm's mean, else the overall mean."""
        known: dict[str, list[float]] = {}
        for open_job in self.open_jobs.values():
            if open_job.seconds_each is not None:
                known.setdefault(open_job.job.agent.algorithm, []).append(open_job.seconds_each)
        if not known:
            return None
        means = {algorithm: sum(times) / len(times) for algorithm, times in known.items()}
        overall = sum(means.values()) / len(means)
        left = sum(
            self._expected_left(open_job)
            * (open_job.seconds_each or means.get(open_job.job.agent.algorithm, overall))
            for open_job in self.open_jobs.values()
            if not open_job.given_up
        )
        return left / self.executor.num_workers

    def _expected_left(self, open_job: OpenJob) -> float:
        """The trajectories that a job has yet to play; as expected if others may go on instead."""
        job, total = open_job.job, open_job.job.experiment.num_trajectories
        if job not in self._expected or self.rules.has_chosen(job):
            return open_job.left
        expected = self._expected[job] * job.experiment.trajectories_per_mdp
        return max(open_job.left_now, expected - (total - open_job.left))
