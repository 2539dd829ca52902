"""Aggregates over experiments, each computed once for all views of the board.

Returns are taken as they were played, since these numbers are about their distribution. Means and
ranks have the luck taken out, as scores have.
"""

from collections.abc import Sequence
from functools import cache, cached_property
from typing import Any

import numpy as np

from ...analysis.aggregates import (
    Estimate,
    Resamples,
    Statistic,
    estimates,
    improved,
    rank_estimates,
    shortfall,
)
from ...mdps.sparse import Floats
from .field import Contest

RESAMPLES = 500
"""For the intervals of algorithms."""

FEW_RESAMPLES = 200
"""For the intervals of single agents, of which there are many."""

_POINTS = 41  # of a performance profile
_DIGITS = 5

Choice = tuple[tuple[int, int], ...]
"""One agent per experiment: the number of the contest, and the agent's index in it."""


class Aggregation:
    """Computes aggregates, and caches those that pages refer to by number."""

    def __init__(self, contests: Sequence[Contest], resamples: int) -> None:
        self._contests, self._resamples = contests, Resamples(resamples)
        self._numbers: dict[Choice, int] = {}
        self.totals: list[dict[str, list[Any]]] = []
        # The same agents and choices come back in many views.
        self.improvement = cache(self._improvement)
        self.ranks = cache(self._ranks)
        self._means, self._middle = cache(self._make_means), cache(self._make_middle)
        self._improved = cache(self._make_improved)

    def number(self, chosen: Choice) -> int:
        """The index in `totals` of the aggregates of agents."""
        if chosen not in self._numbers:
            self._numbers[chosen] = len(self.totals)
            [middle] = estimates([self._middle(*each) for each in chosen])
            mean, gap = estimates([self._means(*each) for each in chosen])
            self.totals.append({"iqm": rounded(middle), "mean": rounded(mean), "gap": rounded(gap)})
        return self._numbers[chosen]

    def add_profile(self, chosen: Choice) -> None:
        """Add the performance profile to the aggregates of agents: values, lows and highs."""
        totals = self.totals[self.number(chosen)]
        if "profile" not in totals:
            statistics = [
                self._resamples.shares_above(k, self._contests[k].returns(i), self.thresholds)
                for k, i in chosen
            ]
            totals["profile"] = np.round(np.transpose(estimates(statistics)), 3).tolist()

    @cached_property
    def thresholds(self) -> Floats:
        """The scores [P] at which profiles are computed, from 10% to 90% of all returns."""
        scores = [
            contest.returns(i)
            for contest in self._contests
            if contest.data.rising_scale
            for i in range(len(contest.comparison.summaries))
        ]
        if not scores:
            return np.linspace(0, 1, _POINTS)
        quantiles = 10 * np.quantile(np.concatenate(scores), [0.1, 0.9])
        low, high = np.floor(quantiles[0]), np.ceil(quantiles[1])
        return np.linspace(low / 10, max(high, low + 1) / 10, _POINTS)

    def ranks_in(self, contest: Contest, agents: Sequence[int]) -> dict[int, Estimate]:
        """The ranks of an experiment's agents, by index, among those that played all MDPs."""
        complete = [i for i in agents if contest.is_complete(i)]
        ranks = self.ranks(tuple(((contest.number, i),) for i in complete))
        return dict(zip(complete, ranks, strict=True))

    def _improvement(self, one: Choice, other: Choice) -> Estimate:
        """The probability that one has the higher return than another, on a drawn MDP."""
        pairs = zip(one, other, strict=True)
        return estimates([self._improved(k, i, j) for (k, i), (_, j) in pairs])[0]

    def _ranks(self, choices: tuple[Choice, ...]) -> list[Estimate]:
        """The rank of each among all, by mean scores."""
        if len(choices) < 2:
            return [Estimate(1.0, 1.0, 1.0)] * len(choices)
        by_contest = zip(*choices, strict=True)
        return rank_estimates(
            [
                Statistic(np.stack([self._means(*each).values[:, 0] for each in agents], axis=1))
                for agents in by_contest
            ]
        )

    def _make_means(self, k: int, i: int) -> Statistic:
        """The mean of an agent's adjusted returns, and its optimality gap."""
        contest = self._contests[k]
        rows = [contest.returns(i, adjusted=True), shortfall(contest.returns(i))]
        return self._resamples.means(k, np.stack(rows))

    def _make_middle(self, k: int, i: int) -> Statistic:
        """The interquartile mean of an agent's returns."""
        return self._resamples.interquartile_mean(k, self._contests[k].returns(i))

    def _make_improved(self, k: int, i: int, j: int) -> Statistic:
        """The probability that one agent's return is higher than another's."""
        contest = self._contests[k]
        return self._resamples.means(k, improved(contest.returns(i), contest.returns(j))[None, :])


def rounded(numbers: Sequence[float]) -> list[float]:
    """Numbers as pages keep them."""
    return [round(float(number), _DIGITS) for number in numbers]
