"""Distributions over MDPs: the flat Dirichlet-multinomial.

Each (state, action) pair has an independent Dirichlet distribution over its next states, given by
counts; a count of zero means that the transition is impossible. Rewards are known and shared.
"""

import copy
import hashlib
from collections.abc import Sequence
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InvalidInput
from ..values import POSITIVE, PROBABILITY, check
from .mdp import MDP, Rewards, start_distribution
from .sparse import Floats, SparseTable, as_array, check_dense

_NUMBERS_AT_ONCE = 2**16  # fits in a processor's cache
_LEAST_COUNT = 1e-300  # draws divide by it


class FlatDirichlet:
    """A flat Dirichlet-multinomial distribution over finite MDPs. Immutable."""

    num_states: int
    """The number of states."""
    num_actions: int
    """The number of actions."""
    counts: SparseTable
    """The Dirichlet parameters [S, A, S], sparse; transitions without an entry are impossible."""
    rewards: Rewards
    """The rewards [S, A, S], sparse: `rewards.mean` and `rewards.variance`."""
    start: Floats
    """The probabilities [S] of the start states."""
    name: str
    """A short name, for tables and files."""
    description: str
    """A longer name."""

    def __init__(
        self,
        counts: ArrayLike | SparseTable,
        rewards: ArrayLike | SparseTable | Rewards,
        start: int | str | ArrayLike = 0,
        reward_variances: ArrayLike | SparseTable | None = None,
        name: str = "",
        description: str = "",
    ) -> None:
        """Validate and keep.

        Args:
            counts: Dirichlet parameters, an array [S, A, S] or a sparse table; zero = impossible.
            rewards: mean rewards, an array that broadcasts to [S, A, S] or a sparse table. Those of
                impossible transitions matter too: other priors may allow them.
            start: the start state, "uniform" for any, or probabilities [S].
            reward_variances: like `rewards`; where positive, the reward is Gaussian.
            name: a short name for tables and files.
            description: a longer one.
        """
        if not isinstance(counts, SparseTable):
            counts = SparseTable.from_dense(counts, "counts")
        _check_counts(counts)
        self.counts = counts
        self.num_states, self.num_actions = counts.num_states, counts.num_actions
        self.rewards = Rewards.build(counts.shape, rewards, reward_variances)
        self.start = start_distribution(counts.num_states, start)
        self.name = name
        self.description = description

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({self.name or 'unnamed'}: {self.num_states} states, "
            f"{self.num_actions} actions, {len(self.counts.values)} possible transitions)"
        )

    def __deepcopy__(self, memo: dict[int, object]) -> "FlatDirichlet":
        return self

    @cached_property
    def digest(self) -> str:
        """A SHA-256 digest of the content; names don't count."""
        return hashlib.sha256(self._content()).hexdigest()

    def _content(self) -> bytes:
        return self.counts.content() + self.rewards.content() + self.start.tobytes()

    @cached_property
    def max_reward(self) -> float:
        """The largest absolute mean reward of a possible transition."""
        return float(np.abs(self.rewards.mean.at(self.counts)).max())

    def mean(self) -> MDP:
        """The MDP whose transition probabilities are the expected ones."""
        totals = self.counts.row_sums()
        return self._mdp(self.counts.values / totals[self.counts.pair])

    def sample(self, rng: np.random.Generator) -> MDP:
        """Draw one MDP."""
        return self._mdp(self.sample_many([rng])[0])

    def sample_many(self, rngs: Sequence[np.random.Generator]) -> Floats:
        """Draw the probabilities [n, E] of n MDPs, each with a generator of its own."""
        probabilities = np.empty((len(rngs), len(self.counts.values)))
        size = max(1, _NUMBERS_AT_ONCE // probabilities.shape[1])
        for first in range(0, len(rngs), size):
            probabilities[first : first + size] = self._sample_some(rngs[first : first + size])
        return probabilities

    def _sample_some(self, rngs: Sequence[np.random.Generator]) -> Floats:
        """Normalise gamma variates in logarithms: with tiny counts they would underflow."""
        counts, shapes = self.counts, self.counts.values + 1
        uniforms = np.empty((len(rngs), len(shapes)))
        gammas = np.empty_like(uniforms)
        for i, rng in enumerate(rngs):
            rng.random(out=uniforms[i])
            rng.standard_gamma(shapes, out=gammas[i])
        logs = np.log(gammas) + np.log(1.0 - uniforms) / counts.values
        largest = np.maximum.reduceat(logs, counts.row_start[:-1], axis=1)
        weights = np.exp(logs - largest[:, counts.pair])
        rows = counts.num_pairs * np.arange(len(rngs))[:, None] + counts.pair
        sums = np.bincount(rows.ravel(), weights.ravel())
        return np.asarray(weights / sums[rows])

    def posterior(self, transitions: ArrayLike) -> "FlatDirichlet":
        """The distribution after observed transitions, an array [n, 3] of (state, action, next).

        A transition with a count of zero becomes possible once it is observed.
        """
        observed = as_array(transitions, "transitions")
        if observed.size == 0:
            return self.as_prior()
        if observed.ndim != 2 or observed.shape[1] != 3:
            raise InvalidInput(
                f"transitions has shape {list(observed.shape)}: "
                "it must have three columns, (state, action, next state)"
            )
        shape = (self.num_states, self.num_actions)
        distinct, times = np.unique(observed, axis=0, return_counts=True)
        states, actions, following = distinct.T
        seen = SparseTable.from_entries(*shape, states, actions, following, times, "transitions")
        possible = self.counts.union(seen)
        counts = possible.replace(self.counts.at(possible) + seen.at(possible))
        return self.with_counts(counts, self.name, self.description)

    def uniform(self) -> "FlatDirichlet":
        """A prior with one count for every transition, and the same rewards and start."""
        check_dense(self.num_states, self.num_actions)
        return self.with_counts(np.ones(self.counts.shape), f"uniform:{self.name}")

    def around(self, total: float) -> "FlatDirichlet":
        """A distribution around the mean MDP: the counts of each pair sum to `total`."""
        check(total, "around: the sum of each pair's counts", POSITIVE)
        mean = self.mean().transitions
        counts = SparseTable.from_places(*mean.shape[:2], mean.place, total * mean.values)
        return self.with_counts(counts, f"around:{total:g}:{self.name}")

    def mixed(self, share: float) -> "FlatDirichlet":
        """A prior between this one (share 0) and the uniform one (share 1).

        Its counts are `(1 - share) * counts + share`, those of impossible transitions too.
        """
        check(share, "mixed: the share of uniform counts", PROBABILITY)
        counts = self.counts
        if share > 0:
            counts = SparseTable.from_dense((1 - share) * counts.to_dense() + share, "counts")
        return self.with_counts(counts, f"mixed:{share:g}:{self.name}")

    def scaled(self, factor: float) -> "FlatDirichlet":
        """A prior with the same mean and all counts times a factor: more certain, or less."""
        check(factor, "scaled: the factor of all counts", POSITIVE)
        with np.errstate(over="ignore", under="ignore"):  # the counts are checked
            counts = self.counts.replace(factor * self.counts.values)
        return self.with_counts(counts, f"scaled:{factor:g}:{self.name}")

    def with_counts(
        self, counts: ArrayLike | SparseTable, name: str, description: str = ""
    ) -> "FlatDirichlet":
        """A distribution with other counts, and the same rewards and start."""
        return FlatDirichlet(counts, self.rewards, self.start, name=name, description=description)

    def as_prior(self) -> "FlatDirichlet":
        """The prior that agents are told: here, the distribution itself."""
        return self

    def named(self, name: str) -> Self:
        """The same distribution under another name."""
        renamed = copy.copy(self)
        renamed.name = name
        return renamed

    def _mdp(self, probabilities: Floats) -> MDP:
        return MDP(self.counts.replace(probabilities), self.rewards, self.start)


def _check_counts(counts: SparseTable) -> None:
    small = np.flatnonzero(counts.values < _LEAST_COUNT)
    if len(small):
        number = counts.values[small[0]]
        must = "must not be negative" if number < 0 else f"must be 0 or at least {_LEAST_COUNT}"
        raise InvalidInput(f"the count at {counts.locate(int(small[0]))} is {number}: {must}")
    is_empty = np.diff(counts.row_start) == 0
    if is_empty.any():
        raise InvalidInput(
            f"the counts of {counts.locate_pair(is_empty.argmax())} are all zero: "
            "at least one next state must be possible"
        )
    is_large = ~np.isfinite(counts.row_sums())
    if is_large.any():
        raise InvalidInput(
            f"the counts of {counts.locate_pair(is_large.argmax())} are too large to be added: use "
            "smaller ones"
        )
