"""Aggregates over experiments, each computed once however many views of the board show it.

Returns are taken as they were played, since these numbers are about their distribution. Means and
ranks have the luck taken out, as scores have.
"""

from collections.abc import Sequence
from functools import cache, cached_property
from typing import Any

import numpy as np

from ...analysis.aggregates import (
    Estimate,
    interquartile_mean,
    mean_score,
    optimality_gap,
    performance_profile,
    probability_of_improvement,
    rank_intervals,
)
from ...mdps.sparse import Floats
from .field import Contest

RESAMPLES = 500
"""Of all bootstrap intervals: the ends of an interval are uncertain by a tenth of its width."""

_POINTS = 41  # of a performance profile
_DIGITS = 5

Choice = tuple[tuple[int, int], ...]
"""One agent per experiment: the number of the contest, and the agent's index in it."""


class Totals:
    """Computes aggregates, and keeps those that pages refer to by number."""

    def __init__(self, contests: Sequence[Contest]) -> None:
        self._contests = contests
        self._numbers: dict[Choice, int] = {}
        self.found: list[dict[str, list[float]]] = []
        # The same choices come back in many views.
        self.improvement = cache(self._improvement)
        self.ranks = cache(self._ranks)

    def number(self, chosen: Choice) -> int:
        """The place in `found` of the aggregates of agents."""
        if chosen not in self._numbers:
            self._numbers[chosen] = len(self.found)
            played, adjusted = self._scores(chosen), self._scores(chosen, adjusted=True)
            self.found.append(
                {
                    "iqm": rounded(interquartile_mean(played, resamples=RESAMPLES)),
                    "mean": rounded(mean_score(adjusted, resamples=RESAMPLES)),
                    "gap": rounded(optimality_gap(played, resamples=RESAMPLES)),
                }
            )
        return self._numbers[chosen]

    def add_profile(self, chosen: Choice) -> None:
        """Add the performance profile to the aggregates of agents: values, lows and highs."""
        found: dict[str, Any] = self.found[self.number(chosen)]
        if "profile" not in found:
            lines = performance_profile(self._scores(chosen), self.thresholds, resamples=RESAMPLES)
            found["profile"] = [np.round(line, 3).tolist() for line in lines]

    @cached_property
    def thresholds(self) -> Floats:
        """The scores [P] at which profiles are computed: the range of nearly all returns."""
        lows, highs = [], []
        for contest in self._contests:
            if contest.has_scale:
                scores = [contest.returns(i) for i in range(len(contest.entrants))]
                lows.append(np.quantile(np.concatenate(scores), 0.02))
                highs.append(np.quantile(np.concatenate(scores), 0.98))
        low, high = min(lows, default=0.0), max(highs, default=1.0)
        return np.linspace(np.floor(10 * low) / 10, np.ceil(10 * high) / 10, _POINTS)

    def _improvement(self, one: Choice, other: Choice) -> Estimate:
        """The probability that one has the higher return than another, on a drawn MDP."""
        return probability_of_improvement(
            self._scores(one), self._scores(other), resamples=RESAMPLES
        )

    def _ranks(self, choices: tuple[Choice, ...]) -> list[Estimate]:
        """The rank of each among all, by mean scores."""
        if len(choices) < 2:
            return [Estimate(1.0, 1.0, 1.0)] * len(choices)
        scores = [self._scores(chosen, adjusted=True) for chosen in choices]
        return rank_intervals(scores, resamples=RESAMPLES)

    def _scores(self, chosen: Choice, adjusted: bool = False) -> list[Floats]:
        return [self._contests[k].returns(i, adjusted) for k, i in chosen]


def rounded(numbers: Sequence[float]) -> list[float]:
    """Numbers as pages keep them."""
    return [round(float(number), _DIGITS) for number in numbers]
