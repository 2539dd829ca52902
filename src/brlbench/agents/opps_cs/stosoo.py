"""StoSOO, stochastic simultaneous optimistic optimisation (Valko, Carpentier and Munos, 2013).

Maximises a function on [0, 1]^d from noisy evaluations, without knowing how smooth it is. A tree of
boxes is grown: a box is evaluated at its centre, k times, before it is split in three along the
dimension whose turn it is. Each pass goes down the tree. At each depth it takes the leaf with the
largest upper bound b = mean + sqrt(ln(n k / delta) / (2 T)), where T counts the leaf's evaluations
and n all that there will be. The leaf is evaluated or, after k evaluations, split, unless a leaf
that was split higher up in this pass has a larger bound.

Settings that are not given are those of the paper's experiments: delta = 1 / sqrt(n),
k = n / ln(n)^3 and a depth of at most sqrt(n / k); both are rounded up. The result is the best mean
among the deepest boxes that were split. Values are meant to lie between 0 and 1. The search ends
early if every box has been split down to the greatest depth.

Deviation from the paper, as in the benchmark's original library: the middle third has the centre of
its parent and takes over its evaluations, and likewise the middle one of any odd number of parts.
Deviations from that library: it rounds k and the depth down, splits a box along a random dimension,
and loses the best leaf of a depth whenever a leaf split higher up in the pass has a larger bound:
it pops that leaf and does not push it back.
"""

import heapq
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count, pairwise
from typing import NamedTuple

import numpy as np

from ...mdps.sparse import Floats


class Settings(NamedTuple):
    """Parameters of StoSOO; None means the default, which depends on the number of evaluations."""

    k: int | None = None  # evaluations of a box before it is split
    branching: int = 3  # parts of a box that is split
    max_depth: int | None = None  # of boxes that are evaluated and split
    delta: float | None = None  # the smaller, the wider the confidence bounds

    def completed(self, evaluations: int) -> "tuple[int, int, float]":
        """The numbers k, depth and delta for this many evaluations."""
        usual = math.ceil(evaluations / max(1.0, math.log(evaluations) ** 3))
        k = usual if self.k is None else self.k
        depth = math.ceil(math.sqrt(evaluations / k)) if self.max_depth is None else self.max_depth
        return k, depth, 1 / math.sqrt(evaluations) if self.delta is None else self.delta


class Evaluations(NamedTuple):
    """The best point and all evaluations."""

    best: Floats  # [d]
    points: Floats  # [n, d]
    values: Floats  # [n]


USUAL = Settings()


@dataclass
class _Box:
    low: Floats  # [d]
    high: Floats  # [d]
    total: float = 0.0
    evaluations: int = 0

    @property
    def centre(self) -> Floats:
        return (self.low + self.high) / 2

    @property
    def mean(self) -> float:
        return self.total / self.evaluations

    def split(self, dimension: int, number: int) -> "list[_Box]":
        edges = np.linspace(self.low[dimension], self.high[dimension], number + 1)
        parts = []
        for first, second in pairwise(edges):
            part = _Box(self.low.copy(), self.high.copy())
            part.low[dimension], part.high[dimension] = first, second
            parts.append(part)
        if number % 2:
            middle = parts[number // 2]
            middle.total, middle.evaluations = self.total, self.evaluations
        return parts


@dataclass
class _Tree:
    """Leaves by depth, the largest bound first, and the boxes that were split."""

    log: float  # ln(n k / delta)
    leaves: list[list[tuple[float, int, _Box]]]
    split: list[list[_Box]]
    _order: "count[int]" = field(default_factory=count)  # of equal bounds the oldest comes first

    def bound(self, box: _Box) -> float:
        if box.evaluations == 0:
            return math.inf
        return box.mean + math.sqrt(self.log / (2 * box.evaluations))

    def add(self, depth: int, box: _Box) -> None:
        heapq.heappush(self.leaves[depth], (-self.bound(box), next(self._order), box))

    def best(self) -> _Box:
        deepest = next((boxes for boxes in reversed(self.split) if boxes), None)
        return max(deepest or [self.leaves[0][0][2]], key=lambda box: box.mean)


def stosoo(
    function: Callable[[Floats], float],
    dimensions: int,
    evaluations: int,
    settings: Settings = USUAL,
) -> Evaluations:
    """Maximise a noisy function on [0, 1]^d in at most this many evaluations."""
    k, max_depth, delta = settings.completed(evaluations)
    tree = _Tree(
        math.log(evaluations * k / delta),
        [[] for _ in range(max_depth + 2)],
        [[] for _ in range(max_depth + 1)],
    )
    tree.add(0, _Box(np.zeros(dimensions), np.ones(dimensions)))
    points: list[Floats] = []
    values: list[float] = []
    while len(values) < evaluations and any(tree.leaves[: max_depth + 1]):
        highest = -math.inf
        for depth in range(max_depth + 1):
            if not tree.leaves[depth] or -tree.leaves[depth][0][0] < highest:
                continue
            bound, _, box = heapq.heappop(tree.leaves[depth])
            if box.evaluations < k:
                points.append(box.centre)
                values.append(function(box.centre))
                box.total += values[-1]
                box.evaluations += 1
                tree.add(depth, box)
                if len(values) == evaluations:
                    break
            else:
                highest = -bound
                tree.split[depth].append(box)
                for part in box.split(depth % dimensions, settings.branching):
                    tree.add(depth + 1, part)
    return Evaluations(best=tree.best().centre, points=np.array(points), values=np.array(values))
