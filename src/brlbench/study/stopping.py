"""Jobs that stop early: agents that a race drops, and those whose interval is narrow enough.

Both are decided at looks: after fixed numbers of MDPs, from returns alone. So workers, clusters and
interruptions don't change what is decided. A race also needs the agents' times. It measures them
until its first look. It writes them down, with all its decisions, before it acts on them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..analysis.racing import Drop, Race, classes_within, looks_before
from ..errors import StoreError
from ..mdps.sparse import Floats
from ..protocol.adjusted import LEAST_MDPS, adjust, can_adjust
from ..protocol.experiment import Experiment
from ..protocol.score import Score
from ..protocol.start_values import find_start_values
from ..protocol.summary import RACE, Stopped
from ..protocol.totals import PartTotals, returns_of
from ..storage import read_result
from ..storage.checks import DAMAGE, Rule, check, is_list, is_number, is_table, is_time
from .failures import read_json
from .folder import Folder
from .plan import Job, until_rule
from .schema import RacingTable

_LEAST_FOR_INTERVALS = 50  # MDPs; the interval of fewer may be narrow by chance
_UNKNOWN = 1e9  # seconds, in place of times that were not measured
Verdict = tuple[Job, Stopped | None]
"""A job, and why it stops; None if it goes on."""


class SoFar(NamedTuple):
    """What is known of an agent from the MDPs it has played."""

    returns: Floats  # [N]
    noise: Floats | None  # [N, F]
    start_values: Floats | None  # [N, F]
    seconds: tuple[float, float]  # offline, and online per decision

    def scored(self, at: int, experiment: Experiment, adjusted: bool) -> tuple[Floats, float]:
        """The returns in the first MDPs, adjusted if possible, and their interval's half-width."""
        at = min(at, len(self.returns))
        if not adjusted or at < LEAST_MDPS or self.noise is None or self.start_values is None:
            return self.returns[:at], Score.of(self.returns[:at]).ci95
        expected = find_start_values(experiment)
        found = adjust(self.returns[:at], self.noise[:at], self.start_values[:at], expected)
        return found.returns, found.ci95


def read_so_far(folder: Folder, job: Job) -> SoFar | None:
    """What is known of a job's agent from its files; None if it has played no MDP."""
    if folder.result(job).exists():
        result = read_result(folder.result(job), decisions=False)
        noise, start_values = result.noise, result.start_values
        times = (result.offline_seconds, result.online_seconds["mean"])
        luck = (None, None) if noise is None or start_values is None else (noise, start_values)
        means = [None if array is None else array.mean(axis=1) for array in luck]
        return SoFar(result.returns, means[0], means[1], times)
    parts, experiment = folder.played(job), job.experiment
    per_mdp = experiment.trajectories_per_mdp
    number = sum(len(part.record.cpu_nanoseconds) for part in parts) // per_mdp
    if number == 0:
        return None

    def by_mdp(arrays: Sequence[Any]) -> Any:
        if any(array is None for array in arrays):
            return None
        rows = np.concatenate(arrays)[: number * per_mdp]
        return rows.reshape(number, per_mdp, *rows.shape[1:]).mean(axis=1)

    records = [part.record for part in parts]
    return SoFar(
        by_mdp([returns_of(record, experiment) for record in records]),
        by_mdp([record.noise for record in records]),
        by_mdp([record.start_values for record in records]),
        (parts[0].training.seconds, _typical_seconds(records)),
    )


def _typical_seconds(records: Sequence[Any]) -> float:
    """The mean time of a decision in a trajectory that was not held up: the median of all."""
    means = [
        [1e9 * each.times.features()["mean"]]
        if isinstance(each, PartTotals)
        else each.nanoseconds.mean(axis=1)
        for each in records
    ]
    return 1e-9 * float(np.median(np.concatenate(means)))


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

    def begin(self, jobs: Iterable[Job]) -> None:
        """Note which jobs are not finished."""
        for job in jobs:
            if self._drop_of(job) is None:  # else a killed run has dropped it
                self._groups[job].playing.add(job)

    def end(self, job: Job) -> int:
        """How many trajectories of a job are played before its next look, or in all."""
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
        experiment = group.jobs[0].experiment
        known = [read_so_far(self._folder, job) for job in group.jobs]
        adjusts = can_adjust(experiment) and all(so_far is None or so_far.noise is not None
                                                 for so_far in known)  # fmt: skip
        scored = [
            (np.zeros(0), 0.0) if so_far is None else so_far.scored(at, experiment, adjusts)
            for so_far in known
        ]
        stopped: dict[Job, Stopped] = {}
        for job, (_, ci95) in zip(group.jobs, scored, strict=True):
            if job in group.playing and (narrow := _if_narrow(job, at, ci95)):
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
        self, group: _Group, at: int, known: Sequence[SoFar | None], scores: list[Floats]
    ) -> None:
        if group.race is None:
            times = zip(group.seconds, known, strict=True)
            group.seconds = [
                earlier or (None if so_far is None else so_far.seconds) for earlier, so_far in times
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
        """Why a race has dropped a job; None if it has not."""
        drop = self._drop_of(job)
        if drop is None:
            return None
        rival = self._groups[job].jobs[drop.rival].label
        return Stopped(
            RACE,
            f"dropped after {drop.at} MDPs: worse than its rivals, lastly {rival}, by "
            f"{drop.difference:.3g} on average (p = {drop.p_value:.1g})",
        )

    def _drop_of(self, job: Job) -> Drop | None:
        group = self._groups[job]
        return None if group.race is None else group.race.dropped.get(group.jobs.index(job))

    # What is written down.

    def _terms(self, group: _Group) -> dict[str, Any]:
        """All that the decisions of a race depend on, besides returns and times."""
        assert self._racing is not None
        return {
            "agents": [self._folder.result(job).stem for job in group.jobs],
            "error": self._racing.error / self._num_races,
            "offline": self._racing.offline,
            "online": self._racing.online,
        }

    def _write(self, group: _Group) -> None:
        assert group.race is not None
        self._folder.write_race(group.jobs[0], {
            "terms": self._terms(group),
            "seconds": dict(zip(self._terms(group)["agents"], group.seconds, strict=True)),
            "rivals": group.race.rivals,
            "dropped": list(group.race.dropped.values()),
        })  # fmt: skip

    def _resume(self, group: _Group) -> None:
        """Go on with the race that is written down; begin anew if its terms have changed."""
        content, terms = _read_record(self._folder.race(group.jobs[0])), self._terms(group)
        known = {} if content is None else content["seconds"]
        group.seconds = [_pair(known.get(agent)) for agent in terms["agents"]]
        if content is not None and content["terms"] == terms:
            group.race = self._new_race(group)
            group.race.rivals = {int(at): rivals for at, rivals in content["rivals"].items()}
            group.race.dropped = {drop[0]: Drop(*drop) for drop in content["dropped"]}
            group.looks = [at for at in group.looks if at not in group.race.rivals]
        else:
            for job in group.jobs:
                self._folder.forget_stopped(job)


def _read_record(path: Path) -> dict[str, Any] | None:
    """What a race has written down; None if it has not, or if the file is damaged."""
    try:
        content: dict[str, Any] = read_json(path)
        check(content, _RECORD)
    except (StoreError, *DAMAGE):
        return None
    return content


def _are_drops(value: Any) -> bool:
    return all(len(drop) == len(Drop._fields) and all(map(is_number, drop)) for drop in value)


_RECORD: dict[str, Rule] = {
    "terms": is_table,
    "seconds": lambda value: all(
        pair is None or (len(pair) == 2 and all(map(is_time, pair))) for pair in value.values()
    ),
    "rivals": lambda value: all(is_list(rivals) and int(at) for at, rivals in value.items()),
    "dropped": _are_drops,
}


def _looks(job: Job) -> list[int]:
    looks = looks_before(job.experiment.num_mdps) if job.rules else []
    return looks if job.races else [at for at in looks if at >= _LEAST_FOR_INTERVALS]


def _if_narrow(job: Job, at: int, ci95: float) -> Stopped | None:
    """Why a job stops whose interval has this half-width after some MDPs, or None."""
    if job.until is None or at < _LEAST_FOR_INTERVALS or ci95 > job.until:
        return None
    reason = f"stopped after {at} MDPs: its interval of ±{ci95:.3g} is within ±{job.until:g}"
    return Stopped(until_rule(job.until), reason)


def _pair(seconds: Sequence[float] | None) -> tuple[float, float] | None:
    return None if seconds is None else (seconds[0], seconds[1])
