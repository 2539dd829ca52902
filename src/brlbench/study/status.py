"""The status of a study, read from its folder alone."""

import os
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Annotated, Any, NamedTuple

from ..errors import InvalidInput
from ..results.files import read_stopped
from ..schemas import Table, parse_table
from ..values import Count, Flag, Kind, Number, Text
from .failures import Failure, read_failure, read_json, replaceable
from .folder import owner_of, part_of
from .tally import Running

_LONGEST_NAME = 255  # in bytes, of a file


def _is_place(value: Any) -> bool:
    if not isinstance(value, str) or "\0" in value:
        return False
    path = PurePath(value)
    too_long = any(len(part.encode()) > _LONGEST_NAME for part in path.parts)
    return not (too_long or len(path.parts) > 3 or ".." in path.parts or path.is_absolute())


_Place = Annotated[str, Kind("a path within the study's folder", _is_place, str)]


@dataclass(frozen=True, eq=False)
class _Job:
    """A job in `plan.json`."""

    agent: Text
    experiment: Text
    result: _Place
    failure: _Place
    parts: _Place
    stopped: list[_Place]  # results of a job that stopped early
    trajectories: Count


class _Plan(NamedTuple):
    """The content of `plan.json`."""

    title: Text
    jobs: list[_Job]
    skipped: list[tuple[Text, Text]]  # labels and reasons


class _Now(NamedTuple):
    """The content of `now.json`."""

    at: Number
    running: list[Running] = []  # noqa: RUF012 (never changed)
    seconds_left: Number | None = None
    stopping: Flag = False  # interrupted: running trajectories are finished first


class StoppedJob(NamedTuple):
    """A job that stopped early, and why."""

    agent: str
    experiment: str
    reason: str


@dataclass(frozen=True, repr=False)
class Status:
    """The jobs of a study that are done, running, failed and left."""

    title: str
    owner: str | None  # the process that runs it
    stopping: bool  # it was interrupted, and finishes running trajectories
    total: int
    done: int
    stopped: list[StoppedJob]  # of those that are done
    begun: int  # with some trajectories played
    failures: list[Failure]
    interruptions: list[Failure]  # of jobs that the next run tries again
    skipped: list[tuple[str, str]]
    num_trajectories: int
    num_played: int  # trajectories
    running: list[Running]
    seconds_left: float | None
    by_experiment: dict[str, tuple[int, int]]  # jobs done, and jobs in total

    @property
    def left(self) -> int:
        """Jobs that are neither done nor failed."""
        return self.total - self.done - len(self.failures)

    def __repr__(self) -> str:
        failed = [f"{each.agent} on {each.experiment}: {each.reason}" for each in self.failures]
        counts = f"{self.done} of {self.total} jobs done, {len(failed)} failed, {self.left} left"
        return "\n".join([f"Status({counts})", *(f"  failed: {each}" for each in failed)])


def read_status(folder: Path) -> Status:
    """The status of the study in a folder."""
    if not os.path.exists(folder / "plan.json"):  # unlike the method of Path, takes any name
        raise InvalidInput(f"{folder} has no study in it: begin one with brlbench run --results")
    plan = _read(folder / "plan.json", _Plan)
    owner = owner_of(folder)
    has_now = owner is not None and (folder / "now.json").exists()
    now = _read(folder / "now.json", _Now) if has_now else _Now(at=0.0)
    jobs = plan.jobs
    complete = [job for job in jobs if (folder / job.result).exists()]
    stopped = [job for job in jobs if job not in complete and _stopped_file(folder, job)]
    done = complete + stopped
    rest = [job for job in jobs if job not in done]
    failing = [job for job in rest if (folder / job.failure).exists()]
    failures = [read_failure(folder / job.failure) for job in failing]
    failed = {
        job.failure
        for job, failure in zip(failing, failures, strict=True)
        if not failure.is_interruption
    }
    played = {job.parts: _played(folder / job.parts) for job in rest + stopped}
    of_experiment = Counter(job.experiment for job in jobs)
    done_of_experiment = Counter(job.experiment for job in done)
    return Status(
        title=plan.title,
        owner=owner,
        stopping=now.stopping,
        total=len(jobs),
        done=len(done),
        stopped=[_stopped_job(folder, job) for job in stopped],
        begun=sum(played[job.parts] > 0 for job in rest if job.failure not in failed),
        failures=[failure for failure in failures if not failure.is_interruption],
        interruptions=[failure for failure in failures if failure.is_interruption],
        skipped=plan.skipped,
        num_trajectories=sum(job.trajectories for job in jobs),
        num_played=sum(job.trajectories for job in complete) + sum(played.values()),
        running=now.running,
        seconds_left=_seconds_left(now),
        by_experiment={
            name: (done_of_experiment[name], total) for name, total in of_experiment.items()
        },
    )


def _stopped_file(folder: Path, job: _Job) -> Path | None:
    """The result of a job that was stopped early, if there is one."""
    paths = (folder / name for name in job.stopped)
    return next((path for path in paths if path.exists()), None)


def _stopped_job(folder: Path, job: _Job) -> StoppedJob:
    path = _stopped_file(folder, job)
    stopped = None if path is None else read_stopped(path)
    return StoppedJob(job.agent, job.experiment, stopped.reason if stopped else "")


def _read(path: Path, table: type[Table]) -> Table:
    content = read_json(path)
    with replaceable(path):
        return parse_table(table, content)


def _seconds_left(now: _Now) -> float | None:
    if now.seconds_left is None:
        return None
    return max(0.0, now.seconds_left - (time.time() - now.at))


def _played(parts: Path) -> int:
    return sum(part_of(path).size for path in parts.glob("*.parquet"))
