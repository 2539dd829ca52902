"""Looks at jobs: what they have played so far, and judges that decide who stops.

A judge decides after fixed numbers of MDPs. So workers, clusters and interruptions don't change
what is decided.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from ..analysis.racing import Drop
from ..analysis.scores import guarded_ci95
from ..errors import StoreError
from ..mdps.sparse import Floats
from ..protocol.experiment import Experiment
from ..protocol.luck import can_adjust
from ..results.result import Result, Stopped
from ..schemas import Schema, Table
from .failures import read_table
from .folder import Folder
from .plan import Job, until_rule

_LEAST_FOR_INTERVALS = 50  # MDPs; the interval of fewer may be narrow by chance


class Judge(Protocol):
    """Decides for a group of jobs, at each of its looks, who stops."""

    def is_ready(self, at: int) -> bool:
        """Whether a look depends on nothing that others have yet to play."""

    def look(self, at: int, playing: set[Job]) -> dict[Job, Stopped]:
        """Look at the jobs after some MDPs, and say which of those that play stop."""

    def earlier(self, job: Job) -> tuple[int, Stopped] | None:
        """After how many MDPs a job was stopped, and why, if that is written down."""


@dataclass(eq=False)
class Group:
    """Jobs that are looked at together: those of a race or of a level, or one alone."""

    jobs: list[Job]
    looks: list[int]  # that are still to come
    judge: Judge
    playing: set[Job] = field(default_factory=set)
    waiting: set[Job] = field(default_factory=set)  # for the next look


@dataclass(frozen=True)
class Narrow:
    """The judge of one job, which stops once its interval is narrow enough."""

    folder: Folder

    def is_ready(self, at: int) -> bool:
        """Always: it depends on no other job."""
        return True

    def look(self, at: int, playing: set[Job]) -> dict[Job, Stopped]:
        """The job, if its interval is within its `until`."""
        [job] = playing
        [(_, width)] = scored(job.experiment, [self.folder.so_far(job)], at)
        stopped = if_narrow(job, at, width)
        return {} if stopped is None else {job: stopped}

    def earlier(self, job: Job) -> None:
        """Nothing: what it decides needs no record."""


def scored(
    experiment: Experiment, results: Sequence[Result | None], at: int
) -> list[tuple[Floats, float]]:
    """The returns in the first MDPs, and their interval's half-width, of each result.

    They are adjusted if those of all can be. The interval holds although it decides when an agent
    stops.
    """
    adjusts = can_adjust(experiment) and all(
        result is None or "noise" in result.columns for result in results
    )
    return [_scored(result, at, adjusts) for result in results]


def _scored(result: Result | None, at: int, adjusted: bool) -> tuple[Floats, float]:
    if result is None:
        return np.zeros(0), 0.0
    first = result.first(at)
    if adjusted and first.can_be_adjusted:
        returns, ci95 = first.adjusted.returns, first.adjusted.ci95
    else:
        returns, ci95 = first.returns, first.ci95
    return returns, max(ci95, guarded_ci95(returns))


def looks_for_intervals(looks: Sequence[int]) -> list[int]:
    """Those of some looks at which an interval may be narrow enough."""
    return [at for at in looks if at >= _LEAST_FOR_INTERVALS]


def if_narrow(job: Job, at: int, width: float) -> Stopped | None:
    """The reason to stop a job with this half-width after some MDPs; None: it goes on."""
    if job.until is None or at < _LEAST_FOR_INTERVALS or width > job.until:
        return None
    reason = (
        f"stopped after {at} MDPs: its guarded interval of ±{width:.3g} is within ±{job.until:g}"
    )
    return Stopped(until_rule(job.until), reason, job.until)


# Decisions are written down before anything follows from them.


class Record(Schema):
    """The decisions of a judge on file."""

    terms: dict[str, Any]  # inputs of the decisions besides what was played
    dropped: list[Drop]


def read_record(path: Path, kind: type[Table]) -> Table | None:
    """The record in a file; None if there is none yet, or if it is damaged."""
    with suppress(StoreError):
        return read_table(path, kind)
    return None
