"""How far a study is, read from its folder alone."""

import os
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any, NamedTuple

from ..errors import InvalidInput
from ..storage.checks import Rule, check, is_list, is_number, is_text, optional, whole
from ..storage.results import read_stopped
from .failures import Failure, read_failure, read_json, replaceable
from .folder import owner_of, part_of
from .tally import Running


class StoppedJob(NamedTuple):
    """A job that stopped early, and why."""

    agent: str
    experiment: str
    reason: str


@dataclass(frozen=True, repr=False)
class Status:
    """What is done, running, failed and left."""

    title: str
    owner: str | None  # the process that runs it
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
    plan = _read(folder / "plan.json", _PLAN)
    owner = owner_of(folder)
    has_now = owner is not None and (folder / "now.json").exists()
    now = _read(folder / "now.json", _NOW) if has_now else {}
    jobs: list[dict[str, Any]] = plan["jobs"]
    complete = [job for job in jobs if (folder / job["result"]).exists()]
    stopped = [job for job in jobs if job not in complete and _stopped_file(folder, job)]
    done = complete + stopped
    rest = [job for job in jobs if job not in done]
    noted = [job for job in rest if (folder / job["failure"]).exists()]
    notes = [read_failure(folder / job["failure"]) for job in noted]
    failed = {
        job["failure"] for job, note in zip(noted, notes, strict=True) if not note.is_interruption
    }
    played = {job["parts"]: _played(folder / job["parts"]) for job in rest + stopped}
    of_experiment = Counter(job["experiment"] for job in jobs)
    done_of_experiment = Counter(job["experiment"] for job in done)
    return Status(
        title=plan["title"],
        owner=owner,
        total=len(jobs),
        done=len(done),
        stopped=[_stopped_job(folder, job) for job in stopped],
        begun=sum(played[job["parts"]] > 0 for job in rest if job["failure"] not in failed),
        failures=[note for note in notes if not note.is_interruption],
        interruptions=[note for note in notes if note.is_interruption],
        skipped=[(label, reason) for label, reason in plan["skipped"]],
        num_trajectories=sum(job["trajectories"] for job in jobs),
        num_played=sum(job["trajectories"] for job in complete) + sum(played.values()),
        running=[Running(*unit) for unit in now.get("running") or []],
        seconds_left=_seconds_left(now),
        by_experiment={name: (done_of_experiment[name], of_experiment[name])
                       for name in of_experiment},
    )  # fmt: skip


def _stopped_file(folder: Path, job: dict[str, Any]) -> Path | None:
    """The result of a job that was stopped early; older folders have none."""
    paths = (folder / name for name in job.get("stopped", ()))
    return next((path for path in paths if path.exists()), None)


def _stopped_job(folder: Path, job: dict[str, Any]) -> StoppedJob:
    path = _stopped_file(folder, job)
    stopped = None if path is None else read_stopped(path)
    return StoppedJob(job["agent"], job["experiment"], stopped.reason if stopped else "")


def _read(path: Path, rules: dict[str, Rule]) -> dict[str, Any]:
    content: dict[str, Any] = read_json(path)
    with replaceable(path):
        check(content, rules)
    return content


def _are_jobs(value: Any) -> bool:
    for job in value:
        check(job, _JOB)
    return is_list(value)


def _is_place(value: Any) -> bool:
    """A path within the study's folder."""
    path, parts = PurePath(value), PurePath(value).parts
    too_long = any(len(part.encode()) > _LONGEST_NAME for part in parts) or len(parts) > 3
    return not (too_long or ".." in parts or "\0" in value or path.is_absolute())


def _are_texts(value: Any) -> bool:
    return is_list(value) and all(map(is_text, value))


def _are_running(value: Any) -> bool:
    for unit in value:
        check(Running(*unit)._asdict(), _RUNNING)
    return is_list(value)


_LONGEST_NAME = 255  # in bytes, of a file
_JOB: dict[str, Rule] = {
    **dict.fromkeys(("agent", "experiment"), is_text),
    **dict.fromkeys(("result", "failure", "parts"), _is_place),
    "trajectories": whole(1),
    "stopped": optional(lambda value: is_list(value) and all(map(_is_place, value))),
}
_PLAN: dict[str, Rule] = {
    "title": is_text,
    "jobs": _are_jobs,
    "skipped": lambda value: all(_are_texts(pair) and len(pair) == 2 for pair in value),
}
_RUNNING: dict[str, Rule] = {
    "what": is_text,
    **dict.fromkeys(("mean", "ci95"), optional(is_number)),
    "num_mdps": whole(0),
}
_NOW: dict[str, Rule] = {
    "running": optional(_are_running),
    "seconds_left": optional(is_number),
    "at": is_number,
}


def _seconds_left(now: dict[str, Any]) -> float | None:
    if now.get("seconds_left") is None:
        return None
    passed = time.time() - float(now["at"])
    return max(0.0, float(now["seconds_left"]) - passed)


def _played(parts: Path) -> int:
    return sum(part_of(path).size for path in parts.glob("*.parquet"))
