"""Beliefs as arrays of counts, and plain solutions of their mean MDPs."""

from functools import cache

import numpy as np

from brlbench.beliefs.flat import FlatDirichlet
from brlbench.kernels.solving.model import Model
from brlbench.mdps.sparse import Floats

Transition = tuple[int, int, int]


class Beliefs:
    """The beliefs that can follow a prior and what was seen of it, with exact values."""

    def __init__(
        self, prior: FlatDirichlet, discount: float, observed: list[Transition] | None = None
    ) -> None:
        self.counts = prior.counts.to_dense()
        for transition in observed or []:
            self.counts[transition] += 1
        self.rewards = prior.rewards.mean.to_dense()
        self.discount = discount
        self.value = cache(self._value)

    def after(self, seen: tuple[Transition, ...]) -> Floats:
        """The counts [S, A, S] after more transitions."""
        counts: Floats = self.counts.copy()
        for transition in seen:
            counts[transition] += 1
        return counts

    def _value(self, seen: tuple[Transition, ...]) -> Floats:
        """The optimal values [S] of the mean MDP after more transitions, by policy iteration."""
        counts = self.after(seen)
        mean = counts / counts.sum(axis=2, keepdims=True)
        expected = (mean * self.rewards).sum(axis=2)
        states = np.arange(len(counts))
        policy = expected.argmax(axis=1)
        while True:
            system = np.eye(len(counts)) - self.discount * mean[states, policy]
            value: Floats = np.linalg.solve(system, expected[states, policy])
            q = expected + self.discount * mean @ value
            better = q.max(axis=1) > value + 1e-12 * np.abs(value).max()
            if not better.any():
                return value
            policy = np.where(better, q.argmax(axis=1), policy)

    def q(self, x: int, depth: int, seen: tuple[Transition, ...] = ()) -> Floats:
        """The values [A] of the actions in x if `depth` steps count what they teach."""
        counts = self.after(seen)[x]
        found = np.zeros(len(counts))
        for u, y in np.argwhere(counts > 0).tolist():
            then = (*seen, (x, u, y))
            if depth > 1:
                later = self.q(y, depth - 1, then).max()
            else:
                later = self.value(tuple(sorted(then)) if depth == 1 else seen)[y]
            chance = counts[u, y] / counts[u].sum()
            found[u] += chance * (self.rewards[x, u, y] + self.discount * later)
        return found


def what_is_known(model: Model) -> list[bytes]:
    """The counts and the solution of a model, bit for bit and without its work space."""
    counts = model.counts
    rows = [
        array[first : first + length].tobytes()
        for array in (counts.entry_next, counts.entry_count)
        for first, length in zip(counts.row_start, counts.row_length, strict=True)
    ]
    others = (
        counts.total,
        counts.reward_sum,
        counts.row_start,
        counts.row_length,
        counts.row_room,
        counts.pool_end,
        model.policy,
        model.inverse,
        model.value,
        model.q,
        model.norms,
    )
    return rows + [array.tobytes() for array in others]
