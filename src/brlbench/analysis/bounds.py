"""Which algorithms are best within bounds on offline and online time.

For bounds on both times: agents over a bound are out; of each algorithm its best agent by mean
stays; the winners are those that are not significantly worse than the best of these. The answer
can change only where a bound passes an agent's own time, so the plane of all bounds falls into
finitely many rectangles, and `Comparison.regions` gives them all.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arguments import between_0_and_1
from ..errors import InvalidInput
from ..mdps.sparse import Floats, Integers
from .statistics import z_against

LEVEL = 0.95


class Contender(NamedTuple):
    """One agent in one experiment."""

    name: str
    algorithm: str
    offline: float  # seconds
    online: float  # seconds, of the chosen feature
    returns: Floats  # [N]


class Best(NamedTuple):
    """The answer for one pair of bounds: numbers of contenders."""

    best_of_algorithm: list[int]  # the best first
    winners: list[int]  # those not significantly worse than the first


@dataclass(frozen=True, eq=False)
class Regions:
    """The answers for all bounds.

    Cell [i, j] is for offline bounds from offline_edges[i] on, below the next, and online bounds
    likewise. Below the first edges no agent is allowed.
    """

    offline_edges: Floats  # [I], increasing
    online_edges: Floats  # [J], increasing
    cells: Integers  # [I, J]; which of `answers`
    answers: list[Best]

    def at(self, offline: float, online: float) -> Best | None:
        """The answer within some bounds, or None if they allow no agent."""
        i = int(np.searchsorted(self.offline_edges, offline, side="right")) - 1
        j = int(np.searchsorted(self.online_edges, online, side="right")) - 1
        if i < 0 or j < 0 or self.cells[i, j] < 0:
            return None
        return self.answers[int(self.cells[i, j])]


class Comparison:
    """Contenders of one experiment, ready to be compared within any bounds.

    Choosing the best of many agents and testing it on the same MDPs flatters it. If `honest`, the
    even-numbered MDPs choose and the odd-numbered ones test.
    """

    def __init__(
        self, contenders: Sequence[Contender], level: float = LEVEL, honest: bool = False
    ) -> None:
        """Compute means and the tests of every pair."""
        lengths = {len(contender.returns) for contender in contenders}
        if len(lengths) > 1:
            raise InvalidInput(
                f"agents that played {sorted(lengths)} MDPs can't be compared: the MDPs must be "
                "the same"
            )
        between_0_and_1(level, "level")
        self.contenders = list(contenders)
        returns = np.zeros((len(self.contenders), max(lengths, default=0)))  # [n, N]
        for row, contender in zip(returns, self.contenders, strict=True):
            row[:] = contender.returns
        self.honest = honest
        self.choosing = returns[:, ::2] if honest else returns  # [n, N'] choose the best agents
        self.testing = returns[:, 1::2] if honest else returns  # [n, N"] tell the winners
        self.means = self.choosing.mean(axis=1) if len(returns) else np.zeros(0)
        self._limit = NormalDist().inv_cdf(level)
        # Rank 0 is the lowest mean; of equal ones, the first given is the higher.
        order = sorted(range(len(self.means)), key=lambda i: (self.means[i], -i))
        self._by_rank = np.array(order, dtype=np.int64)

    def within(self, offline: float = math.inf, online: float = math.inf) -> Best | None:
        """The winners within bounds, or None if the bounds allow no agent."""
        best: dict[str, int] = {}
        for i in reversed(self._by_rank.tolist()):
            contender = self.contenders[i]
            if contender.offline <= offline and contender.online <= online:
                best.setdefault(contender.algorithm, i)
        return self._answer(list(best.values())) if best else None

    def _answer(self, best_of_algorithm: list[int]) -> Best:
        """The winners among the best of each algorithm, which come the best first."""
        won = _not_worse(self.testing[best_of_algorithm], 0, self._limit)
        return Best(
            best_of_algorithm, [i for i, wins in zip(best_of_algorithm, won, strict=True) if wins]
        )

    def regions(self) -> Regions:
        """The winners within all bounds."""
        if not self.contenders:
            return Regions(np.zeros(0), np.zeros(0), np.zeros((0, 0), dtype=np.int64), [])
        offline = np.unique([contender.offline for contender in self.contenders])
        online = np.unique([contender.online for contender in self.contenders])
        algorithms = list(dict.fromkeys(contender.algorithm for contender in self.contenders))
        # For each algorithm, the highest rank within each cell's bounds; -1 is none.
        ranks = np.full((len(algorithms), len(offline), len(online)), -1, dtype=np.int64)
        for rank, i in enumerate(self._by_rank):
            contender = self.contenders[i]
            place = (
                algorithms.index(contender.algorithm),
                np.searchsorted(offline, contender.offline),
                np.searchsorted(online, contender.online),
            )
            ranks[place] = max(ranks[place], rank)
        ranks = np.maximum.accumulate(np.maximum.accumulate(ranks, axis=1), axis=2)
        rows = ranks.reshape(len(algorithms), -1).T
        distinct, cells = np.unique(rows, axis=0, return_inverse=True)
        answers: list[Best] = []
        numbers = np.full(len(distinct), -1, dtype=np.int64)
        for row, best in enumerate(distinct):
            chosen = np.sort(best[best >= 0])[::-1]
            if len(chosen):
                numbers[row] = len(answers)
                answers.append(self._answer(self._by_rank[chosen].tolist()))
        shape = (len(offline), len(online))
        return Regions(offline, online, numbers[cells.reshape(shape)], answers)

    def sequence(self, offline: float = math.inf) -> list[tuple[float, list[str]]]:
        """The winning algorithms as the online bound grows: where each set begins, and the set."""
        steps: list[tuple[float, list[str]]] = []
        for online in sorted({contender.online for contender in self.contenders}):
            answer = self.within(offline, online)
            if answer is not None:
                names = sorted(self.contenders[i].algorithm for i in answer.winners)
                if not steps or steps[-1][1] != names:
                    steps.append((online, names))
        return steps

    def stability(
        self, offline: float, online: float, rng: np.random.Generator, resamples: int = 1000
    ) -> dict[str, float]:
        """How often each algorithm is among the winners when the MDPs are resampled."""
        groups: dict[str, list[int]] = {}
        for i, contender in enumerate(self.contenders):
            if contender.offline <= offline and contender.online <= online:
                groups.setdefault(contender.algorithm, []).append(i)
        chosen = _resamples(self.choosing, rng, resamples)
        tested = _resamples(self.testing, rng, resamples) if self.honest else chosen
        sums = _times_drawn(chosen) @ self.choosing.T  # [resamples, n]
        wins = np.zeros(len(groups))
        for row in range(resamples if groups else 0):
            best = [max(group, key=sums[row].__getitem__) for group in groups.values()]
            again = self.testing[np.ix_(best, tested[row])]
            wins += _not_worse(again, int(sums[row, best].argmax()), self._limit)
        return dict(zip(groups, (wins / resamples).tolist(), strict=True))


def _resamples(returns: Floats, rng: np.random.Generator, resamples: int) -> Integers:
    """Numbers [resamples, N] of MDPs drawn with replacement."""
    mdps = returns.shape[1]
    return rng.integers(0, max(mdps, 1), size=(resamples, mdps))


def _times_drawn(chosen: Integers) -> Floats:
    """How many times [resamples, N] each MDP was drawn."""
    rows, mdps = chosen.shape
    places = chosen + mdps * np.arange(rows)[:, None]
    counts = np.bincount(places.ravel(), minlength=rows * mdps)
    return counts.reshape(rows, mdps).astype(np.float64)


def _not_worse(returns: Floats, best: int, limit: float) -> NDArray[np.bool_]:
    """Which rows are not significantly worse than one of them."""
    return np.asarray(z_against(returns[best], returns) < limit)
