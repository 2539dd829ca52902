"""The status of a study, read from its folder alone."""

import os
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from ..arguments import counted
from ..errors import InvalidInput
from ..results.files import read_stopped
from ..results.result import Stopped
from ..results.sealed import footer_of
from ..values import Count, Kind, Text
from .failures import Failure, read_failure, read_table
from .folder import owner_of, part_of
from .tally import Progress, Running

_LONGEST_NAME = 255  # in bytes, of a file


def _is_place(value: Any) -> bool:
    if not isinstance(value, str) or "\0" in value:
        return False
    names = value.split("/")
    too_long = any(len(name.encode()) > _LONGEST_NAME for name in names)
    return not (too_long or len(names) > 3 or ".." in names or value.startswith("/"))


_Place = Annotated[str, Kind("a path within the study's folder", _is_place, str)]


@dataclass(frozen=True, eq=False)
class _Job:
    """A job in `plan.json`."""

    agent: Text
    experiment: Text
    result: _Place
    failure: _Place
    parts: _Place
    stopped: list[_Place]  # results of a job that stopped early, or a file that says why
    trajectories: Count


class _Plan(NamedTuple):
    """The content of `plan.json`."""

    title: Text
    jobs: list[_Job]
    skipped: list[tuple[Text, Text]]  # labels and reasons


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
        done = f"{self.done} of {counted(self.total, 'job')} done"
        counts = f"{done}, {len(failed)} failed, {self.left} left"
        return "\n".join([f"Status({counts})", *(f"  failed: {each}" for each in failed)])


def read_status(folder: Path) -> Status:
    """The status of the study in a folder."""
    if not os.path.exists(folder / "plan.json"):  # unlike the method of Path, takes any name
        raise InvalidInput(f"{folder} has no study in it: begin one with brlbench run --results")
    plan = read_table(folder / "plan.json", _Plan)
    owner = owner_of(folder)
    has_now = owner is not None and (folder / "now.json").exists()
    now = read_table(folder / "now.json", Progress) if has_now else Progress()
    files = _Files(folder)
    complete: list[_Job] = []
    stopped: dict[_Job, Path] = {}  # with the file that says why
    rest: list[_Job] = []
    failures: dict[_Job, Failure] = {}
    for job in plan.jobs:
        if files.has_result(job.result):
            complete.append(job)
        elif results := [folder / name for name in job.stopped if files.has_result(name)]:
            stopped[job] = results[0]
        else:
            rest.append(job)
            if files.has(job.failure):
                failures[job] = read_failure(folder / job.failure)
    failed = {job: each for job, each in failures.items() if not each.is_interruption}
    played = {job: files.num_played(job.parts) for job in (*rest, *stopped)}
    done_of_experiment = Counter(job.experiment for job in (*complete, *stopped))
    return Status(
        title=plan.title,
        owner=owner,
        stopping=now.stopping,
        total=len(plan.jobs),
        done=len(complete) + len(stopped),
        stopped=[_stopped_job(job, path) for job, path in stopped.items()],
        begun=sum(played[job] > 0 for job in rest if job not in failed),
        failures=list(failed.values()),
        interruptions=[each for each in failures.values() if each.is_interruption],
        skipped=plan.skipped,
        num_trajectories=sum(job.trajectories for job in plan.jobs),
        num_played=sum(job.trajectories for job in complete) + sum(played.values()),
        running=now.running,
        seconds_left=_seconds_left(now),
        by_experiment={
            name: (done_of_experiment[name], total)
            for name, total in Counter(job.experiment for job in plan.jobs).items()
        },
    )


class _Files:
    """The files of a study; each folder is listed once, however many jobs there are."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._names: dict[str, frozenset[str]] = {}

    def has(self, place: str) -> bool:
        """Whether a file or a folder is there."""
        parent, _, name = place.rpartition("/")
        return name in self._listed(parent)

    def has_result(self, place: str) -> bool:
        """Whether a whole result is there; the next run makes others again."""
        return self.has(place) and (
            place.endswith(".json") or footer_of(self._folder / place) is not None
        )

    def num_played(self, parts: str) -> int:
        """The number of trajectories in a folder of parts."""
        if not self.has(parts):
            return 0
        names = (name for name in self._listed(parts) if name.endswith(".parquet"))
        return sum(part_of(self._folder / parts / name).size for name in names)

    def _listed(self, place: str) -> frozenset[str]:
        if place not in self._names:
            names: list[str] = []
            with suppress(OSError):
                names = os.listdir(self._folder / place)
            self._names[place] = frozenset(names)
        return self._names[place]


def _stopped_job(job: _Job, path: Path) -> StoppedJob:
    stopped = read_table(path, Stopped) if path.suffix == ".json" else read_stopped(path)
    return StoppedJob(job.agent, job.experiment, stopped.reason if stopped else "")


def _seconds_left(now: Progress) -> float | None:
    if now.seconds_left is None:
        return None
    return max(0.0, now.seconds_left - (time.time() - now.at))
