"""Jobs that stop early: by a race, by halving, or because their interval is narrow enough.

All three are decided by judges at looks, after fixed numbers of MDPs; see `judging`.
"""

from collections.abc import Iterable, Sequence

from ..agents.base import is_told
from ..analysis.bounds import num_choosing
from ..analysis.racing import looks_before
from ..results.result import Stopped
from .folder import Folder
from .judging import Group, Narrow, looks_for_intervals
from .levels import HalvingJobs
from .plan import Job
from .races import Racing
from .schema import HalvingTable, RacingTable

Verdict = tuple[Job, Stopped | None]
"""A job, and why it stops; None if it goes on."""


class Stopping:
    """Decides which jobs of a run stop, and when."""

    def __init__(
        self, folder: Folder, jobs: Sequence[Job], rule: RacingTable | HalvingTable | None
    ) -> None:
        self._folder = folder
        self._groups: dict[Job, Group] = {}
        self._contests: list[Racing | HalvingJobs] = []
        alone = Narrow(folder)
        for job in jobs:
            if not (job.races or job.level):
                looks = looks_before(job.experiment.num_mdps) if job.rules else []
                self._groups[job] = Group([job], looks_for_intervals(looks), alone)
        experiments: dict[str, list[Job]] = {}
        for job in jobs:
            if rule is not None and not is_told(job.agent.agent):
                experiments.setdefault(job.experiment_name, []).append(job)
        for members in experiments.values():
            self._contests.append(self._contest(members, rule, len(experiments)))
        self._compared: dict[str, list[Group]] = {}  # by experiment
        for name, contest in zip(experiments, self._contests, strict=True):
            self._compared[name] = contest.groups()
            for group in contest.groups():
                self._groups |= dict.fromkeys(group.jobs, group)

    def _contest(
        self, jobs: list[Job], rule: RacingTable | HalvingTable | None, number: int
    ) -> Racing | HalvingJobs:
        if isinstance(rule, RacingTable):
            return Racing(self._folder, jobs, rule, rule.error / number)
        assert rule is not None
        cheap = [self._groups[job] for job in jobs if job.level is None]
        return HalvingJobs(self._folder, jobs, rule, cheap)

    def forget_outdated(self) -> None:
        """Remove the results of jobs that contests under other terms have stopped."""
        for contest in self._contests:
            if not contest.has_begun:
                for job in contest.jobs:
                    self._folder.forget_stopped(job)

    def begin(self, jobs: Iterable[Job]) -> None:
        """Note which jobs are not finished."""
        for job in jobs:
            group = self._groups[job]
            if group.judge.earlier(job) is None:  # else a killed run has stopped it
                group.playing.add(job)

    def end(self, job: Job) -> int:
        """The end of the trajectories that a job plays before its next look, or in all."""
        group, experiment = self._groups[job], job.experiment
        at = group.looks[0] if group.looks else experiment.num_mdps
        if (earlier := group.judge.earlier(job)) is not None:
            at = earlier[0]
        return at * experiment.trajectories_per_mdp

    def has_chosen(self, job: Job) -> bool:
        """Whether the first quarter of the MDPs, which chooses, is over."""
        return self.end(job) > num_choosing(job.experiment.num_mdps) * (
            job.experiment.trajectories_per_mdp
        )

    def reached(self, job: Job) -> list[Verdict]:
        """A job has played all before its next look; look, if all of its group have."""
        group = self._groups[job]
        if (earlier := group.judge.earlier(job)) is not None:
            return [(job, earlier[1])]
        group.waiting.add(job)
        return self._look_where_ready(job)

    def leave(self, job: Job) -> list[Verdict]:
        """A job is complete, has failed or is interrupted: the others need not wait for it."""
        group = self._groups[job]
        group.playing.discard(job)
        group.waiting.discard(job)
        return self._look_where_ready(job)

    def _look_where_ready(self, job: Job) -> list[Verdict]:
        """Look at the groups that may have waited for a job."""
        compared = self._compared.get(job.experiment_name, [])
        groups = dict.fromkeys([self._groups[job], *compared])
        return [verdict for group in groups for verdict in self._look_if_ready(group)]

    def _look_if_ready(self, group: Group) -> list[Verdict]:
        if not group.waiting or group.waiting != group.playing:
            return []
        if not group.judge.is_ready(group.looks[0]):
            return []
        stopped = group.judge.look(group.looks.pop(0), set(group.playing))
        group.playing -= stopped.keys()
        waiting, group.waiting = group.waiting, set()
        return [(job, stopped.get(job)) for job in group.jobs if job in waiting]
