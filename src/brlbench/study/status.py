"""How far a study is, read from its folder alone."""

import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import InvalidInput, StoreError
from .failures import Failure, read_failure, read_json
from .folder import owner_of, part_of


@dataclass(frozen=True)
class Status:
    """What is done, running, failed and left."""

    title: str
    owner: str | None  # the process that runs it
    total: int
    done: int
    begun: int  # with some trajectories played
    failures: list[Failure]
    skipped: list[tuple[str, str]]
    num_trajectories: int
    num_played: int  # trajectories
    running: list[str]
    seconds_left: float | None
    by_experiment: dict[str, tuple[int, int]]  # jobs done, and jobs in total

    @property
    def left(self) -> int:
        """Jobs that are neither done nor failed."""
        return self.total - self.done - len(self.failures)


def read_status(folder: Path) -> Status:
    """The status of the study in a folder."""
    if not (folder / "plan.json").exists():
        raise InvalidInput(f"{folder} has no study in it: begin one with brlbench run --results")
    plan = read_json(folder / "plan.json")
    owner = owner_of(folder)
    now = read_json(folder / "now.json") if owner and (folder / "now.json").exists() else {}
    if not isinstance(plan, dict) or not {"title", "jobs", "skipped"} <= plan.keys():
        raise StoreError(f"{folder / 'plan.json'} is damaged: run the study again")
    jobs: list[dict[str, Any]] = plan["jobs"]
    done = [job for job in jobs if (folder / job["result"]).exists()]
    rest = [job for job in jobs if not (folder / job["result"]).exists()]
    failed = [job for job in rest if (folder / job["failure"]).exists()]
    played = {job["parts"]: _played(folder / job["parts"]) for job in rest}
    of_experiment = Counter(job["experiment"] for job in jobs)
    done_of_experiment = Counter(job["experiment"] for job in done)
    return Status(
        title=plan["title"],
        owner=owner,
        total=len(jobs),
        done=len(done),
        begun=sum(played[job["parts"]] > 0 for job in rest if job not in failed),
        failures=[read_failure(folder / job["failure"]) for job in failed],
        skipped=[(label, reason) for label, reason in plan["skipped"]],
        num_trajectories=sum(job["trajectories"] for job in jobs),
        num_played=sum(job["trajectories"] for job in done) + sum(played.values()),
        running=now.get("running", []),
        seconds_left=_seconds_left(now),
        by_experiment={name: (done_of_experiment[name], of_experiment[name])
                       for name in of_experiment},
    )  # fmt: skip


def _seconds_left(now: dict[str, Any]) -> float | None:
    if now.get("seconds_left") is None:
        return None
    passed = time.time() - float(now["at"])
    return max(0.0, float(now["seconds_left"]) - passed)


def _played(parts: Path) -> int:
    return sum(part_of(path).size for path in parts.glob("*.parquet"))
