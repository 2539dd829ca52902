"""Jobs that stop early: agents that a race drops, and those whose interval is narrow enough.

Both are decided at looks: after fixed numbers of MDPs, from returns alone. So workers, clusters and
interruptions don't change what is decided. A race also needs the agents' times. It measures them
until its first look. It writes them down, with all its decisions, before it acts on them.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..analysis.racing import Drop, Race, classes_within, looks_before
from ..analysis.scores import guarded_ci95
from ..errors import StoreError
from ..mdps.sparse import Floats
from ..protocol.luck import can_adjust
from ..results.files import read_result
from ..results.result import Result, Stopped, join
from ..results.summary import RACE
from ..results.times import ONLINE
from ..schemas import Schema
from ..values import Seconds
from .failures import read_table
from .folder import Folder
from .plan import Job, until_rule
from .schema import RacingTable

_LEAST_FOR_INTERVALS = 50  # MDPs; the interval of fewer may be narrow by chance
_UNKNOWN = 1e9  # seconds, in place of times that were not measured
Verdict = tuple[Job, Stopped | None]
"""A job, and why it stops; None if it goes on."""


class _Record(Schema):
    """A race on file: what its decisions depend on, and the decisions."""

    terms: dict[str, Any]
    seconds: dict[str, tuple[Seconds, Seconds] | None]  # offline and online, by agent
    rivals: dict[int, list[int]]  # by look
    dropped: list[Drop]


def read_so_far(folder: Folder, job: Job) -> Result | None:
    """The result of the MDPs that a job has played; None if there are none."""
    if folder.result(job).exists():
        return read_result(folder.result(job), decisions=False)
    parts = folder.leading_parts(job)
    per_mdp = job.experiment.trajectories_per_mdp
    if sum(len(part.columns["mdp"]) for part in parts) < per_mdp:
        return None
    return join(parts, Stopped("look", "not finished"))


def _scored(result: Result | None, at: int, adjusted: bool) -> tuple[Floats, float]:
    """The returns in the first MDPs, adjusted if possible, and their interval's half-width.

    The interval holds although it decides when an agent stops.
    """
    if result is None:
        return np.zeros(0), 0.0
    first = result.first(at)
    if adjusted and first.can_be_adjusted:
        returns, ci95 = first.adjusted.returns, first.adjusted.ci95
    else:
        returns, ci95 = first.returns, first.ci95
    return returns, max(ci95, guarded_ci95(returns))


def _seconds(result: Result) -> tuple[float, float]:
    """The offline and the online time."""
    return result.offline_seconds, result.online_seconds[ONLINE]


@dataclass(eq=False)
class _Group:
    """Jobs that are looked at together: those of a race, or one alone."""

    jobs: list[Job]
    looks: list[int]  # that are still to come
    race: Race | None = None  # from its first look on
    seconds: list[tuple[float, float] | None] = field(default_factory=list)  # by job
    playing: set[Job] = field(default_factory=set)
    waiting: set[Job] = field(default_factory=set)  # for the next look


class Stopping:
    """Decides which jobs of a run stop, and when."""

    def __init__(self, folder: Folder, jobs: Sequence[Job], racing: RacingTable | None) -> None:
        self._folder, self._racing = folder, racing
        self._groups: dict[Job, _Group] = {}
        members: dict[str, list[Job]] = {}
        for job in jobs:
            members.setdefault(job.experiment_name if job.races else job.key, []).append(job)
        self._num_races = len({job.experiment_name for job in jobs if job.races})
        for group_jobs in members.values():
            group = _Group(group_jobs, _looks(group_jobs[0]))
            self._groups |= dict.fromkeys(group_jobs, group)
            if group_jobs[0].races:
                self._resume(group)

    def forget_outdated(self) -> None:
        """Remove the results of jobs that races under other terms have dropped."""
        for job, group in self._groups.items():
            if job.races and group.race is None:
                self._folder.forget_stopped(job)

    def begin(self, jobs: Iterable[Job]) -> None:
        """Note which jobs are not finished."""
        for job in jobs:
            if self._drop_of(job) is None:  # else a killed run has dropped it
                self._groups[job].playing.add(job)

    def end(self, job: Job) -> int:
        """The end of the trajectories that a job plays before its next look, or in all."""
        looks, experiment = self._groups[job].looks, job.experiment
        at = looks[0] if looks else experiment.num_mdps
        if (drop := self._drop_of(job)) is not None:
            at = drop.at
        return at * experiment.trajectories_per_mdp

    def reached(self, job: Job) -> list[Verdict]:
        """A job has played all before its next look; look, if all of its group have."""
        if (stopped := self._dropped(job)) is not None:
            return [(job, stopped)]
        group = self._groups[job]
        group.waiting.add(job)
        return self._look_if_ready(group)

    def leave(self, job: Job) -> list[Verdict]:
        """A job has failed or is interrupted: the others of its group need not wait for it."""
        group = self._groups[job]
        group.playing.discard(job)
        group.waiting.discard(job)
        return self._look_if_ready(group)

    def _look_if_ready(self, group: _Group) -> list[Verdict]:
        if not group.waiting or group.waiting != group.playing:
            return []
        at = group.looks.pop(0)
        known = [read_so_far(self._folder, job) for job in group.jobs]
        adjusts = can_adjust(group.jobs[0].experiment) and all(
            result is None or "noise" in result.columns for result in known
        )
        scored = [_scored(result, at, adjusts) for result in known]
        stopped: dict[Job, Stopped] = {}
        for job, (_, width) in zip(group.jobs, scored, strict=True):
            if job in group.playing and (narrow := _if_narrow(job, at, width)):
                stopped[job] = narrow
        if group.jobs[0].races:
            group.playing -= stopped.keys()
            self._look_at_race(group, at, known, [returns for returns, _ in scored])
            drops = {job: drop for job in group.playing if (drop := self._dropped(job))}
            stopped |= drops
        group.playing -= stopped.keys()
        waiting, group.waiting = group.waiting, set()
        return [(job, stopped.get(job)) for job in group.jobs if job in waiting]

    def _look_at_race(
        self, group: _Group, at: int, known: Sequence[Result | None], scores: list[Floats]
    ) -> None:
        if group.race is None:
            times = zip(group.seconds, known, strict=True)
            group.seconds = [
                earlier or (None if result is None else _seconds(result))
                for earlier, result in times
            ]
            group.race = self._new_race(group)
        playing = [
            seconds is not None and (job in group.playing or self._folder.result(job).exists())
            for job, seconds in zip(group.jobs, group.seconds, strict=True)
        ]
        group.race.look(at, scores, np.array(playing))
        self._write(group)

    def _new_race(self, group: _Group) -> Race:
        assert self._racing is not None
        known = [each or (_UNKNOWN, _UNKNOWN) for each in group.seconds]
        offline, online = zip(*known, strict=True)
        classes = classes_within(offline, online, self._racing.offline, self._racing.online)
        error = self._racing.error / self._num_races
        return Race(classes, error, group.jobs[0].experiment.num_mdps)

    def _dropped(self, job: Job) -> Stopped | None:
        """The reason why a race has dropped a job; None if it has not."""
        drop = self._drop_of(job)
        if drop is None:
            return None
        rival = self._groups[job].jobs[drop.rival].label
        return Stopped(
            RACE,
            f"dropped after {drop.at} MDPs: worse than its rivals, most recently {rival}, by "
            f"{drop.difference:.3g} on average (p = {drop.p_value:.1g})",
        )

    def _drop_of(self, job: Job) -> Drop | None:
        group = self._groups[job]
        return None if group.race is None else group.race.dropped.get(group.jobs.index(job))

    # The file of a race.

    def _terms(self, group: _Group) -> dict[str, Any]:
        """Inputs of a race's decisions besides returns and times."""
        assert self._racing is not None
        return {
            "agents": [self._folder.result(job).stem for job in group.jobs],
            "error": self._racing.error / self._num_races,
            "offline": self._racing.offline,
            "online": self._racing.online,
        }

    def _write(self, group: _Group) -> None:
        assert group.race is not None
        terms = self._terms(group)
        content = {
            "terms": terms,
            "seconds": dict(zip(terms["agents"], group.seconds, strict=True)),
            "rivals": group.race.rivals,
            "dropped": list(group.race.dropped.values()),
        }
        self._folder.write_race(group.jobs[0], content)

    def _resume(self, group: _Group) -> None:
        """Go on with the race that is written down; begin anew if its terms have changed."""
        record, terms = None, self._terms(group)
        with suppress(StoreError):  # there is none yet, or its file is damaged
            record = read_table(self._folder.race(group.jobs[0]), _Record)
        known = {} if record is None else record.seconds
        group.seconds = [known.get(agent) for agent in terms["agents"]]
        if record is not None and record.terms == terms:
            group.race = self._new_race(group)
            group.race.rivals = dict(record.rivals)
            group.race.dropped = {drop.agent: drop for drop in record.dropped}
            group.looks = [at for at in group.looks if at not in group.race.rivals]


def _looks(job: Job) -> list[int]:
    looks = looks_before(job.experiment.num_mdps) if job.rules else []
    return looks if job.races else [at for at in looks if at >= _LEAST_FOR_INTERVALS]


def _if_narrow(job: Job, at: int, width: float) -> Stopped | None:
    """The reason to stop a job with this half-width after some MDPs; None: it goes on."""
    if job.until is None or at < _LEAST_FOR_INTERVALS or width > job.until:
        return None
    reason = (
        f"stopped after {at} MDPs: its guarded interval of ±{width:.3g} is within ±{job.until:g}"
    )
    return Stopped(until_rule(job.until), reason, job.until)
