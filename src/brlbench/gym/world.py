"""The base of one environment and of many: drawn MDPs, and the random numbers of their steps.

Every environment has its own generator, from which it draws the MDP, the start state and then, in
blocks, the numbers that decide its steps. So one environment and one of many behave the same.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InvalidInput
from ..mdps.copying import private_copy
from ..mdps.dirichlet import FlatDirichlet
from ..mdps.single import SingleMDP
from ..mdps.sparse import Floats, SparseTable
from ..problems import distribution
from ..protocol.experiment import draw_mdps
from ..values import COUNT, INDEX, check

_BLOCK = 256  # steps whose random numbers are drawn at once
_NUMBERS_AT_ONCE = 2**15  # few enough for a processor's cache


class World:
    """A distribution over MDPs that environments play, and their horizon."""

    def __init__(self, source: str | Path | FlatDirichlet, horizon: int) -> None:
        """Find the distribution and lay out its transitions."""
        self.distribution = private_copy(distribution(source))  # users can reach it
        self.horizon = check(horizon, "horizon", COUNT)
        table, rewards = self.distribution.counts, self.distribution.rewards
        self.num_states, self.num_actions = table.num_states, table.num_actions
        self.first = table.row_start[:-1]  # [P]; the first entry of each pair
        self.last = table.row_start[1:] - 1  # [P]; the last entry
        self.next_state = table.next_state  # [E]
        self.reward = rewards.mean.at(table)  # [E]
        self.deviation = np.sqrt(rewards.variance.at(table))  # [E]
        self.has_noise = bool(self.deviation.any())
        self.start = _cumulative(self.distribution.start)  # [S]
        self.block = min(self.horizon, _BLOCK)
        self._has_ones = bool((table.values == 1).all())

    @property
    def known_rewards(self) -> SparseTable:
        """The mean rewards, a table [S, A, S], for users who may change it."""
        return private_copy(self.distribution.rewards.mean)

    def draw(self, rngs: Sequence[np.random.Generator]) -> Floats:
        """Draw MDPs: the cumulative probabilities [n, E] of each pair's transitions."""
        sums = np.empty((len(rngs), len(self.next_state)))
        size = max(1, _NUMBERS_AT_ONCE // sums.shape[1])
        for first in range(0, len(rngs), size):
            sums[first : first + size] = self._by_pair(self._weights(rngs[first : first + size]))
        return sums

    def _weights(self, rngs: Sequence[np.random.Generator]) -> Floats:
        """Weights [n, E] of drawn MDPs, proportional to their probabilities."""
        if not self._has_ones:
            return self.distribution.sample_many(rngs)
        # For counts of 1, exponential variates do, which are much quicker than gamma variates.
        weights = np.empty((len(rngs), len(self.next_state)))
        for rng, row in zip(rngs, weights, strict=True):
            rng.standard_exponential(out=row)
        return weights

    def fixed(self, mdp: ArrayLike | None, seed: int, num_envs: int) -> Floats | None:
        """As `draw`, for MDPs of an experiment with this seed; None if `mdp` names none."""
        if mdp is None and not isinstance(self.distribution, SingleMDP):
            return None
        indices = np.asarray(0 if mdp is None else mdp)
        if indices.shape not in ((), (num_envs,)):
            raise InvalidInput(f"mdp has shape {list(indices.shape)}: must be one, or {num_envs}")
        distinct, of_each = np.unique(np.broadcast_to(indices, num_envs), return_inverse=True)
        checked = [check(index, "mdp", INDEX) for index in distinct.tolist()]
        probabilities = draw_mdps(self.distribution, check(seed, "mdp_seed", INDEX), checked)
        return np.asarray(self._by_pair(probabilities)[of_each])

    def chances(self, rngs: Sequence[np.random.Generator]) -> tuple[Floats, Floats]:
        """Random numbers for the next steps: uniform ones [n, block], and normal ones for noise."""
        uniform = np.empty((len(rngs), self.block))
        normal = np.empty(uniform.shape if self.has_noise else (len(rngs), 0))
        for rng, chances, noise in zip(rngs, uniform, normal, strict=True):
            rng.random(out=chances)
            if self.has_noise:
                rng.standard_normal(out=noise)
        return uniform, normal

    def _by_pair(self, weights: Floats) -> Floats:
        lengths = self.last - self.first + 1
        if (lengths == lengths[0]).all():  # as below, without copying
            by_pair = weights.reshape(len(weights), -1, lengths[0])
            return _cumulative(by_pair).reshape(weights.shape)
        sums = np.empty_like(weights)
        for length in np.unique(lengths):
            entries = self.first[lengths == length][:, None] + np.arange(length)
            sums[:, entries] = _cumulative(weights[:, entries])
        return sums


def _cumulative(weights: Floats) -> Floats:
    """Cumulative probabilities along the last axis, from weights.

    A uniform number selects the first outcome whose cumulative probability exceeds it. The last
    possible outcome has infinity there, so rounding can't lead past it.
    """
    sums = weights.cumsum(axis=-1)
    total = sums[..., -1:].copy()
    return np.where(sums == total, np.inf, sums / total)
