"""The base of one environment and of many: drawn MDPs, and the random numbers of their steps.

Every environment has its own generator, from which it draws the MDP, the start state and then, in
blocks, the numbers that decide its steps. So one environment and one of many behave the same.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..beliefs.base import Distribution, Family
from ..beliefs.copying import private_copy
from ..beliefs.flat import FlatDirichlet
from ..beliefs.flat.single import SingleMDP
from ..beliefs.own import OwnDistribution
from ..errors import InvalidInput
from ..mdps.batch import MDPs
from ..mdps.sparse import Floats, SparseTable, check_dense
from ..problems import distribution
from ..protocol.experiment import draw_mdps
from ..values import COUNT, INDEX, check

_BLOCK = 256  # steps whose random numbers are drawn at once
_NUMBERS_AT_ONCE = 2**15  # few enough for a processor's cache


class Drawn(NamedTuple):
    """n MDPs that environments play; numbers that all of them share have one row."""

    sums: Floats  # [n, E]; cumulative probabilities of each pair's transitions
    reward: Floats  # [n or 1, E]
    deviation: Floats  # [n or 1, E]
    start: Floats  # [n or 1, S]; cumulative probabilities of the start states


class World:
    """A distribution over MDPs that environments play, their horizon and their episodes."""

    def __init__(
        self, source: str | Path | Distribution, horizon: int, episode: int | None
    ) -> None:
        """Find the distribution and lay out its transitions."""
        # Users can reach it.
        self.distribution: Family = private_copy(distribution(source))
        self.horizon = check(horizon, "horizon", COUNT)
        self.episode = None if episode is None else check(episode, "episode", COUNT)
        self.places = _all_places(self.distribution)
        self.num_states, self.num_actions = self.places.num_states, self.places.num_actions
        self.first = self.places.row_start[:-1]  # [P]; the first entry of each pair
        self.last = self.places.row_start[1:] - 1  # [P]; the last entry
        self.next_state = self.places.next_state  # [E]
        self.block = min(self.horizon, _BLOCK)
        frame = self.distribution.frame
        numbers = (frame.reward, frame.variance, frame.start)
        self._shared: list[Any] = [
            lay_out(rows) if len(rows) == 1 else None
            for rows, lay_out in zip(numbers, _LAY_OUT, strict=True)
        ]
        self.shares_all = frame.share_all
        self._is_shared = (False, *(rows is not None for rows in self._shared))
        self.is_binary = frame.is_binary
        self.has_noise = len(frame.variance) == 0 or bool(frame.variance.any())
        flat = isinstance(self.distribution, FlatDirichlet)
        self._has_ones = flat and self.shares_all and bool((self.places.values == 1).all())

    def goes_on(self, elapsed: int) -> bool:
        """Whether another episode follows in the same MDP after so many decisions in it."""
        return self.episode is not None and 0 < elapsed < self.horizon

    def end(self, elapsed: int) -> int:
        """The decisions in an MDP after which an episode is truncated that begins now."""
        return min(self.horizon, elapsed + (self.episode or self.horizon))

    @property
    def known_rewards(self) -> SparseTable | None:
        """The mean rewards, a table [S, A, S], for users who may change it; None if unknown."""
        known = self.distribution.known_rewards
        return None if known is None else private_copy(known.mean)

    def empty(self, num_mdps: int) -> Drawn:
        """Room for drawn MDPs."""
        sizes = (*3 * [len(self.next_state)], self.num_states)
        columns = zip(self._is_shared, sizes, strict=True)
        return Drawn(*(np.zeros((1 if shared else num_mdps, size)) for shared, size in columns))

    def draw(self, rngs: Sequence[np.random.Generator]) -> Drawn:
        """Draw MDPs."""
        size = max(1, _NUMBERS_AT_ONCE // len(self.next_state))
        if len(rngs) <= size:
            return self._laid_out(self._weights(rngs))
        parts = (rngs[first : first + size] for first in range(0, len(rngs), size))
        drawn = [self._laid_out(self._weights(part)) for part in parts]
        columns = zip(self._is_shared, zip(*drawn, strict=True), strict=True)
        return Drawn(*(rows[0] if shared else np.concatenate(rows) for shared, rows in columns))

    def _weights(self, rngs: Sequence[np.random.Generator]) -> MDPs:
        """Drawn MDPs, with weights that are proportional to their probabilities."""
        if not self._has_ones:
            return self.distribution.draw(rngs)
        # For counts of 1, exponential variates do, which are much quicker than gamma variates.
        weights = np.empty((len(rngs), len(self.next_state)))
        for rng, row in zip(rngs, weights, strict=True):
            rng.standard_exponential(out=row)
        return self.distribution.frame.with_probability(weights)

    def _laid_out(self, mdps: MDPs) -> Drawn:
        if isinstance(self.distribution, OwnDistribution):
            mdps = mdps.over(self.places)
        sums = self._by_pair(mdps.probability)
        if self.shares_all:
            return Drawn(sums, *self._shared)
        columns = zip(self._shared, (mdps.reward, mdps.variance, mdps.start), _LAY_OUT, strict=True)
        reward, deviation, start = (
            np.broadcast_to(lay_out(rows), (len(mdps), rows.shape[1])) if shared is None else shared
            for shared, rows, lay_out in columns
        )
        return Drawn(sums, reward, deviation, start)

    def fixed(self, mdp: ArrayLike | None, seed: int, num_envs: int) -> Drawn | None:
        """As `draw`, for MDPs of an experiment with this seed; None if `mdp` names none."""
        if mdp is None and not isinstance(self.distribution, SingleMDP):
            return None
        indices = np.asarray(0 if mdp is None else mdp)
        if indices.shape not in ((), (num_envs,)):
            raise InvalidInput(f"mdp has shape {list(indices.shape)}: must be one, or {num_envs}")
        distinct, of_each = np.unique(np.broadcast_to(indices, num_envs), return_inverse=True)
        checked = [check(index, "mdp", INDEX) for index in distinct.tolist()]
        mdps = draw_mdps(self.distribution, check(seed, "mdp_seed", INDEX), checked)
        columns = zip(self._is_shared, self._laid_out(mdps), strict=True)
        return Drawn(*(rows if shared else rows[of_each] for shared, rows in columns))

    def chances(self, rngs: Sequence[np.random.Generator]) -> tuple[Floats, Floats]:
        """Random numbers for the next steps, uniform ones [n, block], and those for rewards.

        The latter are normal ones for noise, or uniform ones for binary rewards.
        """
        uniform = np.empty((len(rngs), self.block))
        others = np.empty(uniform.shape if self.has_noise or self.is_binary else (len(rngs), 0))
        for rng, chances, noise in zip(rngs, uniform, others, strict=True):
            rng.random(out=chances)
            if self.is_binary:
                rng.random(out=noise)
            elif self.has_noise:
                rng.standard_normal(out=noise)
        return uniform, others

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


def _as_it_is(rows: Floats) -> Floats:
    return rows


def _all_places(distribution: Family) -> SparseTable:
    """All transitions that any drawn MDP may have; of a user's own distribution, any may."""
    places = distribution.frame.places
    if not isinstance(distribution, OwnDistribution):
        return places
    check_dense(*places.shape[:2])
    return SparseTable.from_dense(np.ones(places.shape), "places")


def _cumulative(weights: Floats) -> Floats:
    """Cumulative probabilities along the last axis, from weights.

    A uniform number selects the first outcome whose cumulative probability exceeds it. The last
    possible outcome has infinity there, so rounding can't lead past it.
    """
    sums = weights.cumsum(axis=-1)
    total = sums[..., -1:].copy()
    return np.where(sums == total, np.inf, sums / total)


_LAY_OUT: tuple[Callable[[Floats], Floats], ...] = (_as_it_is, np.sqrt, _cumulative)
"""Functions that lay out the rewards, the variances and the starts of MDPs."""
