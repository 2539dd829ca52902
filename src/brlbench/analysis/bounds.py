"""The best algorithms within bounds on offline and online time.

Agents that exceed a bound are out. Each algorithm is represented by its remaining agent with the
highest mean. The winners are the best representative and all that are not significantly worse.

The answer changes only where a bound passes an agent's own time, so the plane of all bounds splits
into finitely many rectangles. `Comparison.regions` returns them all.
"""

import bisect
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidInput
from ..mdps.sparse import Floats, Integers
from ..results.summary import Summary
from ..results.times import ONLINE
from ..values import BETWEEN_0_AND_1, check
from .scores import row_blocks, times_drawn
from .significance import student_limits, z_against

LEVEL = 0.95
_FAR_BELOW = 1e200  # any return


def num_choosing(num_mdps: int) -> int:
    """The number of MDPs, the first ones, that choose agents; all others score and test them.

    A quarter is enough to choose, and leaves tests nearly as sharp as on all MDPs.
    """
    return max(1, num_mdps // 4)


class Best(NamedTuple):
    """The answer for one pair of bounds, as indices of summaries."""

    best_of_algorithm: list[int]  # the best first
    winners: list[int]  # those not significantly worse than the first


@dataclass(frozen=True, eq=False)
class Regions:
    """The answers for all bounds.

    Cell [i, j] holds for offline bounds from offline_edges[i] up to the next edge (excluded), and
    likewise for online bounds. Below the first edges no agent is allowed.
    """

    offline_edges: Floats  # [I], increasing
    online_edges: Floats  # [J], increasing
    cells: Integers  # [I, J]; index into `answers`, -1 where no agent is allowed
    answers: list[Best]

    def at(self, offline: float, online: float) -> Best | None:
        """The answer within bounds, or None if they allow no agent."""
        i = int(np.searchsorted(self.offline_edges, offline, side="right")) - 1
        j = int(np.searchsorted(self.online_edges, online, side="right")) - 1
        if i < 0 or j < 0 or self.cells[i, j] < 0:
            return None
        return self.answers[int(self.cells[i, j])]


class Comparison:
    """The agents of one experiment, ready to be compared within any bounds.

    Choosing the best of many agents and testing it on the same MDPs flatters it. If `honest`, the
    first MDPs choose and the others score and test; else all do both, as in the paper.

    Agents that a race has dropped are tested on all MDPs that they played: the race drops equal
    agents as rarely as a test calls them worse. Agents that left by halving represent no
    algorithm: another one of their kind went on.
    """

    def __init__(
        self,
        summaries: Sequence[Summary],
        level: float = LEVEL,
        honest: bool = True,
        online: str = ONLINE,
    ) -> None:
        """Rank the agents.

        Args:
            summaries: one per agent, all on the same MDPs; those that stopped early on the first.
            level: how sure a test must be to call an agent worse, between 0 and 1.
            honest: whether the MDPs that choose agents have no part in scores and tests.
            online: the time feature that online bounds apply to.
        """
        lengths = {len(each.returns) for each in summaries if each.stopped is None}
        if len(lengths) > 1:
            raise InvalidInput(
                f"agents that played {sorted(lengths)} MDPs can't be compared: the MDPs must be "
                "the same"
            )
        check(level, "level", BETWEEN_0_AND_1)
        self.summaries, self.level, self.honest = list(summaries), level, honest
        self._offline = np.array([each.seconds["offline"] for each in self.summaries])  # [n]
        self._online = np.array([each.seconds[online] for each in self.summaries])  # [n]
        played = [len(each.returns) for each in self.summaries]
        self._returns = np.full((len(played), max(played, default=0)), np.nan)  # NaN: not played
        for row, summary in zip(self._returns, self.summaries, strict=True):
            row[: len(summary.returns)] = summary.scored_returns
        self._dropped = np.array([each.is_dropped for each in self.summaries], dtype=np.bool_)
        by_all = min(
            (n for n, each in zip(played, self.summaries, strict=True) if each.sets_choosing),
            default=max(played, default=0),
        )
        self.num_choosing = num_choosing(by_all) if honest else 0  # without part in tests
        self.num_tested = self._returns.shape[1] - self.num_choosing
        # [n, N']; ranks the agents
        self.choosing = self._returns[:, : self.num_choosing] if honest else self._returns
        self.means = _means(self.choosing)
        # Rank 0 is the lowest mean; of equal means, the agent given first ranks higher. Dropped
        # agents rank below all others: their fewer MDPs may have been lucky.
        self._candidate = np.array([each.is_candidate for each in self.summaries], dtype=np.bool_)
        order = sorted(
            range(len(self.means)),
            key=lambda i: (self._candidate[i], not self._dropped[i], self.means[i], -i),
        )
        self._by_rank = np.array(order, dtype=np.int64)

    def pair(self, first: int, second: int) -> tuple[Floats, Floats]:
        """The returns of two agents on the MDPs that test them."""
        start = 0 if self._dropped[[first, second]].any() else self.num_choosing
        one, other = self._returns[[first, second], start:]
        both = ~np.isnan(one - other)
        return one[both], other[both]

    def z_against(self, first: int, others: Sequence[int]) -> tuple[Floats, Integers]:
        """The paired Z statistics [n] of an agent against others, and each one's MDPs [n]."""
        agents = [first, *others]
        z, numbers = _tests(self._returns[agents], self._dropped[agents], 0, self.num_choosing)
        return z[1:], numbers[1:]

    def widths_against(self, first: int, others: Sequence[int]) -> Floats:
        """The half-widths [n] of 95% intervals of an agent's differences; 0 for fewer than 2."""
        differences = self._returns[first] - self._returns[others]
        on_all = self._dropped[first] | self._dropped[others]
        differences[~on_all, : self.num_choosing] = np.nan
        numbers = (~np.isnan(differences)).sum(axis=1)
        differences -= (np.nansum(differences, axis=1) / np.maximum(numbers, 1))[:, None]
        variances = np.nansum(differences**2, axis=1) / np.maximum(numbers - 1, 1)
        return np.asarray(2 * np.sqrt(variances / np.maximum(numbers, 1)))

    def within(self, offline: float = math.inf, online: float = math.inf) -> Best | None:
        """The winners within bounds, or None if the bounds allow no agent."""
        best: dict[str, int] = {}
        for i in self.candidates(offline, online):
            best.setdefault(self.summaries[i].algorithm, i)
        return self._answer(list(best.values())) if best else None

    def candidates(self, offline: float = math.inf, online: float = math.inf) -> list[int]:
        """The agents within bounds that may represent their algorithm, the best first."""
        return [i for i in self.allowed(offline, online) if self._candidate[i]]

    def allowed(self, offline: float = math.inf, online: float = math.inf) -> list[int]:
        """The agents within bounds, the best first."""
        return [i for i in reversed(self._by_rank.tolist()) if self._is_within(i, offline, online)]

    def _is_within(self, i: int, offline: float, online: float) -> bool:
        return bool(self._offline[i] <= offline and self._online[i] <= online)

    def _answer(self, best_of_algorithm: list[int]) -> Best:
        """The winners among the best agents of all algorithms, given best first."""
        won = self._not_worse(self._returns[best_of_algorithm], best_of_algorithm, 0)
        return Best(
            best_of_algorithm, [i for i, wins in zip(best_of_algorithm, won, strict=True) if wins]
        )

    def _not_worse(self, returns: Floats, agents: Sequence[int], best: int) -> NDArray[np.bool_]:
        """True for rows of returns, each an agent's, not significantly worse than row `best`."""
        z, numbers = _tests(returns, self._dropped[agents], best, self.num_choosing)
        return np.asarray(z < student_limits(self.level, numbers))

    def regions(self) -> Regions:
        """The winners within all bounds."""
        if not self.summaries:
            return Regions(np.zeros(0), np.zeros(0), np.zeros((0, 0), dtype=np.int64), [])
        return self._regions

    @cached_property
    def _regions(self) -> Regions:
        algorithms = [summary.algorithm for summary in self.summaries]
        times = list(zip(self._offline.tolist(), self._online.tolist(), strict=True))
        able = contenders(self.candidates(), algorithms, times)
        offline, online = _edges(self._offline, able), _edges(self._online, able)
        kinds = {name: kind for kind, name in enumerate(dict.fromkeys(algorithms))}
        rank = np.argsort(self._by_rank)
        able.sort(key=lambda i: -times[i][0])
        # The highest rank of each algorithm within the bounds; -1 if it has no agent there.
        best = np.full((len(kinds), len(online)), -1, dtype=np.int64)
        cells = np.full((len(offline), len(online)), -1, dtype=np.int64)
        numbers: dict[bytes, int] = {best[:, 0].tobytes(): -1}
        answers: list[Best] = []
        for row, bound in enumerate(offline):
            while able and self._offline[able[-1]] <= bound:
                i = able.pop()
                allowed = best[kinds[algorithms[i]], np.searchsorted(online, self._online[i]) :]
                np.maximum(allowed, rank[i], out=allowed)
            changes = np.flatnonzero((best[:, 1:] != best[:, :-1]).any(axis=0)) + 1
            for start, end in pairwise([0, *changes.tolist(), len(online)]):
                key = best[:, start].tobytes()
                if key not in numbers:
                    numbers[key] = len(answers)
                    ranks = np.sort(best[:, start])[::-1]
                    answers.append(self._answer(self._by_rank[ranks[ranks >= 0]].tolist()))
                cells[row, start:end] = numbers[key]
        return Regions(offline, online, cells, answers)

    def sequence(self, offline: float = math.inf) -> list[tuple[float, list[str]]]:
        """The sets of winning algorithms as the online bound grows, each after where it begins."""
        steps: list[tuple[float, list[str]]] = []
        regions = self.regions()
        for online in regions.online_edges.tolist():
            answer = regions.at(offline, online)
            if answer is not None:
                names = sorted(self.summaries[i].algorithm for i in answer.winners)
                if not steps or steps[-1][1] != names:
                    steps.append((online, names))
        return steps

    def stability(
        self, offline: float, online: float, rng: np.random.Generator, resamples: int = 1000
    ) -> dict[str, float]:
        """The share of resamples of the MDPs in which each algorithm is among the winners."""
        groups: dict[str, list[int]] = {}
        for i in sorted(self.candidates(offline, online)):
            groups.setdefault(self.summaries[i].algorithm, []).append(i)
        wins = np.zeros(len(groups))
        for rows in row_blocks(resamples if groups else 0, max(1, self._returns.shape[1])):
            wins += self._wins(list(groups.values()), rng, rows)
        return dict(zip(groups, (wins / resamples).tolist(), strict=True))

    def _wins(self, groups: list[list[int]], rng: np.random.Generator, resamples: int) -> Floats:
        """In how many resamples of the MDPs each group of agents has a winner."""
        drawn = self._resamples(rng, resamples)
        means = self._resampled_means(times_drawn(drawn[:, : self.choosing.shape[1]]))
        best = np.stack([np.array(g)[means[:, g].argmax(axis=1)] for g in groups], axis=1)
        wins = np.zeros(len(groups))
        for row in range(resamples):
            again = self._returns[np.ix_(best[row], drawn[row])]
            wins += self._not_worse(again, best[row], int(means[row, best[row]].argmax()))
        return wins

    def _resamples(self, rng: np.random.Generator, resamples: int) -> Integers:
        """Indices [resamples, N] of MDPs drawn with replacement; those that choose stay apart."""
        mdps, choosing = self._returns.shape[1], self.num_choosing
        ends = [0, choosing, mdps] if 0 < choosing < mdps else [0, mdps]
        return np.hstack(
            [
                rng.integers(start, end, size=(resamples, end - start))
                for start, end in pairwise(ends)
            ]
        )

    def _resampled_means(self, times_drawn: Floats) -> Floats:
        """Sort keys of agents [resamples, n]; far lower for those that were dropped."""
        if not np.isnan(self.choosing).any():
            return np.asarray(times_drawn @ self.choosing.T)  # sums order them as means do
        played = ~np.isnan(self.choosing)
        sums = times_drawn @ np.where(played, self.choosing - _typical(self.choosing), 0.0).T
        numbers = np.maximum(times_drawn @ played.T, 1.0)
        return np.asarray(sums / numbers - np.where(self._dropped, _FAR_BELOW, 0.0))


def contenders(
    preferred: Sequence[int], algorithms: Sequence[str], times: Sequence[tuple[float, float]]
) -> list[int]:
    """The agents that are the best of their algorithm within some bounds, preferred first.

    An agent is left out if one of its algorithm is preferred and needs no more time, offline and
    online.

    Args:
        preferred: the agents, the most preferred first.
        algorithms: the algorithm of each agent.
        times: the offline and online time of each agent.
    """
    chosen = []
    # By algorithm, the least times so far: online times increase, offline times decrease.
    least: dict[str, tuple[list[float], list[float]]] = {}
    for i in preferred:
        offline, online = times[i]
        onlines, offlines = least.setdefault(algorithms[i], ([], []))
        place = bisect.bisect_right(onlines, online)
        if place and offlines[place - 1] <= offline:
            continue
        chosen.append(i)
        first = bisect.bisect_left(onlines, online)
        end = first
        while end < len(offlines) and offlines[end] >= offline:
            end += 1
        onlines[first:end], offlines[first:end] = [online], [offline]
    return chosen


def _edges(times: Floats, able: list[int]) -> Floats:
    """The times at which the winners can change, and the least and the greatest of all agents."""
    return np.unique(np.concatenate([times[able], [times.min(), times.max()]]))


def _means(returns: Floats) -> Floats:
    """The mean [n] of each row; rows with NaN: estimated full mean.

    Assumes the same lead over complete rows on unplayed MDPs.
    """
    if not np.isnan(returns).any():
        return returns.mean(axis=1) if len(returns) else np.zeros(0)
    typical = _typical(returns)
    rest = [row[~np.isnan(row)].mean() for row in returns - typical]
    return np.asarray(typical.mean() + rest)


def _typical(returns: Floats) -> Floats:
    """The mean [N] of all complete rows; there is at least one."""
    return np.asarray(returns[~np.isnan(returns[:, -1])].mean(axis=0))


def _tests(
    returns: Floats, dropped: NDArray[np.bool_], best: int, start: int
) -> tuple[Floats, Integers]:
    """The Z statistics of row `best` against all rows, and the numbers of MDPs that they are of.

    They are of the MDPs from `start` on; those of dropped agents, of all.
    """
    z, numbers = _tests_from(returns, best, start)
    if start and dropped.any():
        anyway = dropped | dropped[best]
        of_all = _tests_from(returns, best, 0)
        z, numbers = np.where(anyway, of_all[0], z), np.where(anyway, of_all[1], numbers)
    return z, numbers


def _tests_from(returns: Floats, best: int, start: int) -> tuple[Floats, Integers]:
    later = returns[:, start:]
    return z_against(later[best], later), (~np.isnan(later - later[best])).sum(axis=1)
