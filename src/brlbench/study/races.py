"""The race of an experiment in a study.

A race depends on returns and on times. It measures times until its first look.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..analysis.racing import Drop, Race, classes_within, looks_before
from ..results.result import Result, Stopped
from ..results.times import ONLINE
from ..values import Seconds
from .folder import Folder
from .judging import Group, Record, if_narrow, read_record, scored
from .plan import Job
from .schema import RacingTable

_UNKNOWN = 1e9  # seconds, in place of times that were not measured
Times = tuple[Seconds, Seconds]
"""The offline and the online time."""


class _Record(Record):
    """A race on file."""

    seconds: dict[str, Times | None]  # by agent
    rivals: dict[int, list[int]]  # by look


class Racing:
    """The judge of the jobs of one race."""

    def __init__(self, folder: Folder, jobs: list[Job], table: RacingTable, error: float) -> None:
        self.jobs = jobs
        self._folder, self._table, self._error = folder, table, error
        self._race: Race | None = None  # from its first look on
        record, agents = read_record(folder.decisions(jobs[0]), _Record), self._agents()
        known = {} if record is None else record.seconds
        self._seconds = [known.get(agent) for agent in agents]
        if record is not None and record.terms == self._terms():
            self._race = self._new_race()
            self._race.rivals = dict(record.rivals)
            self._race.dropped = {drop.agent: drop for drop in record.dropped}

    @property
    def has_begun(self) -> bool:
        """Whether decisions are written down under the same terms."""
        return self._race is not None

    def groups(self) -> list[Group]:
        """All jobs in one group, with the looks that are still to come."""
        over = {} if self._race is None else self._race.rivals
        looks = looks_before(self.jobs[0].experiment.num_mdps)
        return [Group(self.jobs, [at for at in looks if at not in over], self)]

    def is_ready(self, at: int) -> bool:
        """Always: all agents of a race are in its group."""
        return True

    def look(self, at: int, playing: set[Job]) -> dict[Job, Stopped]:
        """Look at the race, and at the intervals of agents that may stop by `until`."""
        known = [self._folder.so_far(job) for job in self.jobs]
        scores = scored(self.jobs[0].experiment, known, at)
        stopped: dict[Job, Stopped] = {}
        for job, (_, width) in zip(self.jobs, scores, strict=True):
            if job in playing and (narrow := if_narrow(job, at, width)):
                stopped[job] = narrow
        race = self._race = self._race or self._begun(known)
        taking_part = [
            seconds is not None
            and (job in playing - stopped.keys() or self._folder.result(job).exists())
            for job, seconds in zip(self.jobs, self._seconds, strict=True)
        ]
        race.look(at, [returns for returns, _ in scores], np.array(taking_part))
        self._write(race)
        drops = {job: found[1] for job in playing - stopped.keys() if (found := self.earlier(job))}
        return stopped | drops

    def earlier(self, job: Job) -> tuple[int, Stopped] | None:
        """When and why the race has dropped a job; None if it has not."""
        drop = None if self._race is None else self._race.dropped.get(self.jobs.index(job))
        return None if drop is None else (drop.at, self._stopped(drop))

    def _stopped(self, drop: Drop) -> Stopped:
        return Stopped(
            drop.rule,
            f"dropped after {drop.at} MDPs: worse than its rivals, most recently "
            f"{self.jobs[drop.rival].label}, by {drop.difference:.3g} on average "
            f"(p = {drop.p_value:.1g})",
        )

    def _begun(self, known: Sequence[Result | None]) -> Race:
        self._seconds = [
            earlier or (None if result is None else _times(result))
            for earlier, result in zip(self._seconds, known, strict=True)
        ]
        return self._new_race()

    def _new_race(self) -> Race:
        known = [each or (_UNKNOWN, _UNKNOWN) for each in self._seconds]
        offline, online = zip(*known, strict=True)
        classes = classes_within(offline, online, self._table.offline, self._table.online)
        return Race(classes, self._error, self.jobs[0].experiment.num_mdps)

    def _agents(self) -> list[str]:
        return [self._folder.result(job).stem for job in self.jobs]

    def _terms(self) -> dict[str, Any]:
        return {
            "agents": self._agents(),
            "error": self._error,
            "offline": self._table.offline,
            "online": self._table.online,
        }

    def _write(self, race: Race) -> None:
        content = {
            "terms": self._terms(),
            "seconds": dict(zip(self._agents(), self._seconds, strict=True)),
            "rivals": race.rivals,
            "dropped": list(race.dropped.values()),
        }
        self._folder.write_decisions(self.jobs[0], content)


def _times(result: Result) -> Times:
    return result.offline_seconds, result.online_seconds[ONLINE]
