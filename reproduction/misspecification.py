"""Which agents keep what they know when the prior is wrong? Numbers of docs/misspecification.md.

`studies/misspecification.toml` and `studies/wrong-rewards.toml` make the results. All experiments
of a problem have the same MDPs and the same noise, so what an agent loses is a paired difference.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from brlbench.analysis.scores import paired_differences
from brlbench.analysis.significance import holm, paired_z_test
from brlbench.report.data import ExperimentData
from brlbench.report.loading import load
from brlbench.report.misspecification import BLIND, Change, Family, families
from brlbench.results.score import Score
from brlbench.results.summary import Summary

SHIPPED = Path(__file__).parent / "misspecification.parquet"
WRONG_REWARDS = SHIPPED.with_name("wrong-rewards.parquet")
LEVEL = 0.05


@dataclass(frozen=True, eq=False)
class Row:
    """An algorithm on one problem, with the same parameters at all priors of one kind."""

    family: Family
    algorithm: str
    played: dict[float, Summary]  # by the change of the prior

    @property
    def problem(self) -> str:
        """The test distribution."""
        return str(self.family.reference.settings["test"])

    @property
    def accurate(self) -> Summary:
        """The agent with the accurate prior."""
        return self.played[self.family.change.none]

    @property
    def scores(self) -> list[Score]:
        """Scores between random (0) and the bound (1), at all priors in order."""
        return [self.family.on_scale(each.score) for each in self.played.values()]

    def p_value(self, number: float) -> float:
        """Of the hypothesis that another prior changes nothing; two-sided."""
        z = paired_z_test(self.accurate, self.played[number]).z
        return math.erfc(abs(z) / math.sqrt(2))

    @property
    def gain(self) -> Score:
        """How much more than random the agent has with the accurate prior."""
        return Score.of(paired_differences(self.accurate, self._random))

    def kept(self, number: float) -> Score:
        """How much of its gain over random an agent keeps with another prior.

        It is a ratio of means on the same MDPs, with two standard errors of its linear part.
        """
        before = paired_differences(self.accurate, self._random)
        after = paired_differences(self.played[number], self._random)
        ratio = float(after.mean() / before.mean())
        rest = Score.of(after - ratio * before)
        return Score(ratio, rest.ci95 / abs(float(before.mean())))

    @property
    def retuned(self) -> Score | None:
        """The score with the uniform prior at parameters that were chosen for it, if others."""
        other = self._retuned
        return None if other is None else self.family.on_scale(other.score)

    @property
    def retuned_label(self) -> str:
        """The agent whose parameters were chosen for the uniform prior."""
        return (self._retuned or self.accurate).full_label

    @cached_property
    def _retuned(self) -> Summary | None:
        played = self.family.experiments[1.0].summaries
        mine = [each for each in played if each.algorithm == self.algorithm]
        return next((s for s in mine if s.full_label != self.accurate.full_label), None)

    @cached_property
    def _random(self) -> Summary:
        [found] = [each for each in self.family.reference.summaries if each.algorithm == "random"]
        return found


@cache
def experiments() -> Sequence[ExperimentData]:
    """The shipped results."""
    return load(SHIPPED, WRONG_REWARDS).experiments


@cache
def rows(change: Change) -> list[Row]:
    """All algorithms on all problems, the best with the accurate prior first."""
    found = [
        Row(family, algorithm, played)
        for family in families(experiments(), change)
        for algorithm, played in family.lines.items()
        if algorithm not in BLIND and len(played) == len(family.experiments)
    ]
    return sorted(found, key=lambda row: (row.problem, -row.accurate.score.mean))


@cache
def changed(change: Change, number: float) -> dict[Row, float]:
    """Holm's p-values, over all algorithms and problems, of "this prior changes the score"."""
    found = rows(change)
    adjusted = holm([row.p_value(number) for row in found])
    return {row: float(p_value) for row, p_value in zip(found, adjusted, strict=True)}


def winners(change: Change) -> dict[tuple[str, float], list[str]]:
    """By problem and prior, the best algorithm, then those that are not significantly worse.

    Tests are paired and one-sided, with Holm's correction over the algorithms.
    """
    found = {}
    for family in families(experiments(), change):
        here = [row for row in rows(change) if row.problem == family.reference.settings["test"]]
        for number in family.experiments:
            first, *others = sorted(here, key=lambda row: -row.played[number].score.mean)
            best = first.played[number]
            adjusted = holm([paired_z_test(best, row.played[number]).p_value for row in others])
            level = [row for row, p_value in zip(others, adjusted, strict=True) if p_value >= LEVEL]
            found[first.problem, number] = [row.algorithm for row in (first, *level)]
    return found
