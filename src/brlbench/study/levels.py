"""The halving of an experiment in a study: its levels, its cheap agents, and the champion.

It depends on the study and on returns alone: an agent's level is the value of a parameter.
"""

from collections.abc import Sequence
from typing import Any

from ..agents.base import learns_offline
from ..analysis.halving import Halving, Level, best_of, rungs_within
from ..analysis.racing import Drop
from ..mdps.sparse import Floats
from ..results.result import Stopped
from ..results.summary import BEATEN
from .folder import Folder
from .judging import Group, Record, read_record, scored
from .plan import Job
from .schema import HalvingTable


class _Record(Record):
    """A halving on file."""

    ranking: dict[int, list[int]]  # by level
    looked: dict[int, list[int]]
    champion: int | None


def make_halving(jobs: Sequence[Job], table: HalvingTable) -> Halving:
    """The levels of an experiment's jobs: those of an algorithm follow each other, cheapest first.

    Levels of one algorithm with different parameters are levels of different kinds.
    """
    known = {(job.level.algorithm, job.level.parameter): True for job in jobs if job.level}
    num_mdps = jobs[0].experiment.num_mdps
    halving = Halving([], num_mdps, rungs_within(num_mdps, table.mdps))
    for kind in known:
        below = None
        own = {job.level: i for i, job in enumerate(jobs) if job.level and job.level[:2] == kind}
        for value in sorted({level.value for level in own}):
            level = Level(
                [i for each, i in own.items() if each.value == value],
                [each.setting for each in own if each.value == value],
                below,
                on_ladder=below is not None and value > table.ladder,
            )
            below = len(halving.levels)
            halving.levels.append(level)
    return halving


def expected_mdps(jobs: Sequence[Job], rule: object) -> dict[Job, float]:
    """The MDPs that jobs with a level play at most, on average over their level, by halving."""
    expected: dict[Job, float] = {}
    if isinstance(rule, HalvingTable):
        experiments: dict[str, list[Job]] = {}
        for job in jobs:
            experiments.setdefault(job.experiment_name, []).append(job)
        for members in experiments.values():
            numbers = make_halving(members, rule).expected_mdps()
            expected |= {members[i]: number for i, number in numbers.items()}
    return expected


class HalvingJobs:
    """The halving of the jobs of one experiment."""

    def __init__(
        self, folder: Folder, jobs: list[Job], table: HalvingTable, cheap: list[Group]
    ) -> None:
        self.jobs = jobs
        self._numbers = {job: number for number, job in enumerate(jobs)}
        self.rivals = [each for each in cheap if not learns_offline(each.jobs[0].agent.agent)]
        self._folder, self._table = folder, table
        self.halving = make_halving(jobs, table)
        record = read_record(folder.decisions(jobs[0]), _Record)
        self.has_begun = record is not None and self._is_valid(record)
        if record is not None and self.has_begun:
            self.halving.ranking, self.halving.looked = record.ranking, record.looked
            self.halving.champion = record.champion
            self.halving.dropped = {drop.agent: drop for drop in record.dropped}
        self._judges = [_LevelJudge(self, number) for number in range(len(self.halving.levels))]
        self.by_level = [judge.group for judge in self._judges]

    def _is_valid(self, record: _Record) -> bool:
        """Whether decisions were made under the same terms, and nobody is late for them.

        Agents are late if they had failed or were interrupted, and are now tried again.
        """
        if record.terms != self._terms():
            return False
        present = {drop.agent for drop in record.dropped}.union(*record.ranking.values())
        of_levels = (self.halving.levels[number].agents for number in record.ranking)
        late = {self.jobs[i] for agents in of_levels for i in agents if i not in present}
        if record.champion is not None:
            late.update(job for group in self.rivals for job in group.jobs)
        return all(self._folder.is_done(job) or self._folder.has_failed(job) for job in late)

    def groups(self) -> list[Group]:
        """One per level."""
        return self.by_level

    def has_chosen(self, number: int) -> bool:
        """Whether the rungs of a level are over, or nobody is left to play them."""
        group = self.by_level[number]
        return not group.playing or not {0, *self.halving.rungs} & {*group.looks}

    def taking_part(self, number: int, playing: set[Job]) -> list[int]:
        """The agents of a level that play or have played all, and were not dropped."""
        return [
            i
            for i in self.halving.levels[number].agents
            if i not in self.halving.dropped
            and (self.jobs[i] in playing or self._folder.result(self.jobs[i]).exists())
        ]

    def _begin(self, number: int) -> None:
        """Begin a level, after the choice among agents of the level below that have played all."""
        level = self.halving.levels[number]
        if level.below is not None and level.on_ladder:
            for at in [0, *self.halving.rungs]:
                if at not in self.halving.looked.get(level.below, []):
                    self.look(level.below, at, set())
        self.halving.begin(number)

    def look(self, number: int, at: int, playing: set[Job]) -> None:
        """Decide who of a level goes on, and write it down."""
        agents = self.taking_part(number, playing)
        if at == 0:
            self._begin(number)
        elif at in self.halving.rungs:
            self.halving.choose(number, at, agents, self._scores(agents, at))
        else:
            champion = self._champion()
            among = agents if champion is None else [champion, *agents]
            scores = self._scores(among, at)
            own = scores[len(among) - len(agents) :]
            self.halving.test(number, at, agents, own, None if champion is None else scores[0])
        self._write()

    def earlier(self, job: Job) -> tuple[int, Stopped] | None:
        """When and why a job stops; None if it goes on."""
        drop = self.halving.dropped.get(self._numbers[job])
        return None if drop is None else (drop.at, self._stopped(job, drop))

    def _scores(self, agents: Sequence[int], at: int) -> list[Floats]:
        results = [self._folder.so_far(self.jobs[i]) for i in agents]
        return [returns for returns, _ in scored(self.jobs[0].experiment, results, at)]

    def _champion(self) -> int | None:
        """The best of the cheap agents on the MDPs that choose; None if there are none.

        It does not learn offline: else it would stop agents that are best within short times.
        """
        if self.halving.champion is None:
            able = [
                self._numbers[job]
                for group in self.rivals
                for job in group.jobs
                if self._folder.result(job).exists()
            ]
            if able:
                scores = self._scores(able, self.halving.num_choosing)
                self.halving.champion = able[best_of(scores)]
        return self.halving.champion

    def _stopped(self, job: Job, drop: Drop) -> Stopped:
        rival = self.jobs[drop.rival]
        if drop.rule == BEATEN:
            reason = (
                f"stopped after {drop.at} MDPs: worse than {rival.label}, the best cheap agent, by "
                f"{drop.difference:.3g} on average (p = {drop.p_value:.1g})"
            )
        elif drop.at:
            reason = (
                f"left after {drop.at} MDPs: others of {job.level} were better, the best of them "
                f"{rival.label} by {drop.difference:.3g} on average"
            )
        else:
            reason = (
                f"not played: its other parameters are not among the best of {rival.level}, of "
                f"which {rival.label} was the best"
            )
        return Stopped(drop.rule, reason)

    def _terms(self) -> dict[str, Any]:
        return {
            "agents": [self._folder.result(job).stem for job in self.jobs],
            "levels": self._table.levels,
            "mdps": self.halving.rungs,
            "ladder": self._table.ladder,
        }

    def _write(self) -> None:
        state = self.halving
        content = {
            "terms": self._terms(),
            "ranking": state.ranking,
            "looked": state.looked,
            "champion": state.champion,
            "dropped": list(state.dropped.values()),
        }
        self._folder.write_decisions(self.jobs[0], content)


class _LevelJudge:
    """The judge of one level."""

    def __init__(self, contest: HalvingJobs, number: int) -> None:
        self._contest, self._number = contest, number
        halving = contest.halving
        jobs = [contest.jobs[i] for i in halving.levels[number].agents]
        over = halving.looked.get(number, [])
        self.group = Group(jobs, [at for at in halving.looks if at not in over], self)

    def is_ready(self, at: int) -> bool:
        """A level begins after the choice in the level below; the champion is known at the end."""
        if at == 0:
            below = self._contest.halving.levels[self._number].below
            return below is None or self._contest.has_chosen(below)
        is_test = at not in self._contest.halving.rungs
        return not (is_test and any(group.playing for group in self._contest.rivals))

    def look(self, at: int, playing: set[Job]) -> dict[Job, Stopped]:
        """Decide who goes on."""
        self._contest.look(self._number, at, playing)
        return {job: found[1] for job in playing if (found := self.earlier(job))}

    def earlier(self, job: Job) -> tuple[int, Stopped] | None:
        """When and why a job stops; None if it goes on."""
        return self._contest.earlier(job)
