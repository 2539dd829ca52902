"""What one environment and many have in common: the MDPs they draw, and how chance decides there.

Every environment has a generator of its own, from which it draws the MDP, the start state and then,
in blocks, the chances of the steps. One environment and one of many thus go the same way.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..checks import whole
from ..experiment import draw_mdps
from ..prior import FlatDirichlet
from ..problems import distribution
from ..sparse import Floats

_BLOCK = 256  # steps whose chances are drawn at once


class World:
    """A distribution over MDPs to be played, for a number of decisions."""

    def __init__(self, source: str | Path | FlatDirichlet, horizon: int) -> None:
        """Find and check."""
        self.distribution = distribution(source)
        self.horizon = whole(horizon, "horizon", least=1)
        table, rewards = self.distribution.counts, self.distribution.rewards
        self.num_states, self.num_actions = table.num_states, table.num_actions
        self.first = table.row_start[:-1]  # [P]; the entries of a pair, from the first
        self.last = table.row_start[1:] - 1  # [P]; to the last
        self.next_state = table.next_state  # [E]
        self.reward = rewards.mean.at(table)  # [E]
        self.deviation = np.sqrt(rewards.variance.at(table))  # [E]
        self.has_noise = bool(self.deviation.any())
        self.known_rewards = rewards.mean  # a table [S, A, S], as agents are told
        self.start = _cumulative(self.distribution.start)  # [S]
        self.block = min(self.horizon, _BLOCK)

    def draw(self, rngs: Sequence[np.random.Generator]) -> Floats:
        """Draw MDPs: the cumulative probabilities [n, E] of each pair's transitions."""
        return self._by_pair(self.distribution.sample_many(rngs))

    def find(self, seed: int, indices: Iterable[Any]) -> Floats:
        """The same, of some of the MDPs of an experiment with this seed."""
        checked = [whole(index, "mdp", least=0) for index in indices]
        seed = whole(seed, "mdp_seed", least=0)
        return self._by_pair(draw_mdps(self.distribution, seed, checked))

    def chances(self, rng: np.random.Generator) -> Floats:
        """What the next steps need [1 or 2, block]: uniform numbers, and normal ones if any."""
        uniform = rng.random((1, self.block))
        if not self.has_noise:
            return uniform
        return np.concatenate([uniform, rng.standard_normal((1, self.block))])

    def _by_pair(self, probabilities: Floats) -> Floats:
        sums = np.empty_like(probabilities)
        lengths = self.last - self.first + 1
        for length in np.unique(lengths):  # few, mostly one or two
            entries = self.first[lengths == length][:, None] + np.arange(length)
            sums[:, entries] = _cumulative(probabilities[:, entries])
        return sums


def _cumulative(probabilities: Floats) -> Floats:
    """Sums along the last axis; infinite from the last possible outcome on, whatever the rounding.

    The outcome of a chance is the first one whose sum is greater.
    """
    sums = probabilities.cumsum(axis=-1)
    sums[sums == sums[..., -1:]] = np.inf
    return np.asarray(sums)
