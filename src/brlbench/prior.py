"""Distributions over MDPs: the flat Dirichlet-multinomial.

Each (state, action) pair has an independent Dirichlet distribution over its next states, given by
counts; a count of zero means that the transition is impossible. Rewards are known and shared.
"""

import hashlib
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from .errors import InvalidInput
from .mdp import MDP, Rewards, start_distribution
from .sparse import Floats, SparseTable, as_array


class FlatDirichlet:
    """A flat Dirichlet-multinomial distribution over finite MDPs. Immutable."""

    def __init__(
        self,
        counts: ArrayLike | SparseTable,
        rewards: ArrayLike | SparseTable | Rewards,
        start: int | ArrayLike = 0,
        reward_variances: ArrayLike | SparseTable | None = None,
        name: str = "",
        description: str = "",
    ) -> None:
        """Validate and keep.

        Args:
            counts: Dirichlet parameters, an array [S, A, S] or a sparse table; zero = impossible.
            rewards: mean rewards, an array that broadcasts to [S, A, S] or a sparse table. They
                matter for impossible transitions too: other priors may allow those.
            start: the start state, or probabilities [S].
            reward_variances: like `rewards`; where positive, the reward is Gaussian.
            name: a short name for tables and files.
            description: a longer one.
        """
        if not isinstance(counts, SparseTable):
            counts = SparseTable.from_dense(counts, "counts")
        _check_counts(counts)
        self.counts = counts
        self.rewards = Rewards.build(counts.shape, rewards, reward_variances)
        self.start = start_distribution(counts.num_states, start)
        self.name = name
        self.description = description

    def __repr__(self) -> str:
        return (
            f"FlatDirichlet({self.name or 'unnamed'}: {self.num_states} states, "
            f"{self.num_actions} actions, {len(self.counts.values)} possible transitions)"
        )

    def __deepcopy__(self, memo: dict[int, object]) -> "FlatDirichlet":
        return self

    @property
    def num_states(self) -> int:
        """The number of states."""
        return self.counts.num_states

    @property
    def num_actions(self) -> int:
        """The number of actions."""
        return self.counts.num_actions

    @cached_property
    def digest(self) -> str:
        """A SHA-256 digest of the content; names don't count."""
        content = self.counts.content() + self.rewards.content() + self.start.tobytes()
        return hashlib.sha256(content).hexdigest()

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
        return self._mdp(self.sample_probabilities(rng))

    def sample_probabilities(self, rng: np.random.Generator) -> Floats:
        """Draw the probabilities [E] of the possible transitions of one MDP.

        Normalised gamma variates, kept as logarithms: with tiny counts they underflow otherwise.
        """
        counts = self.counts
        uniforms = 1.0 - rng.random(len(counts.values))
        logs = np.log(rng.standard_gamma(counts.values + 1)) + np.log(uniforms) / counts.values
        largest = np.maximum.reduceat(logs, counts.row_start[:-1])
        weights = np.exp(logs - largest[counts.pair])
        return weights / np.bincount(counts.pair, weights)[counts.pair]

    def posterior(self, transitions: ArrayLike) -> "FlatDirichlet":
        """The distribution after observed transitions, an array [n, 3] of (state, action, next).

        A transition that was held to be impossible becomes possible once it is observed.
        """
        observed = as_array(transitions, "transitions")
        if observed.size == 0:
            return self
        if observed.ndim != 2 or observed.shape[1] != 3:
            raise InvalidInput(
                f"transitions has shape {list(observed.shape)}: "
                "it must have three columns, (state, action, next state)"
            )
        shape = (self.num_states, self.num_actions)
        distinct, times = np.unique(observed, axis=0, return_counts=True)
        places = (distinct[:, 0], distinct[:, 1], distinct[:, 2])
        seen = SparseTable.from_entries(*shape, *places, times, what="transitions")
        states, actions = np.divmod(np.concatenate([self.counts.pair, seen.pair]), shape[1])
        following = np.concatenate([self.counts.next_state, seen.next_state])
        totals = np.concatenate(
            [self.counts.values + seen.at(self.counts), self.counts.at(seen) + seen.values]
        )
        counts = SparseTable.from_entries(*shape, states, actions, following, totals, what="counts")
        return FlatDirichlet(
            counts, self.rewards, self.start, name=self.name, description=self.description
        )

    def uniform(self) -> "FlatDirichlet":
        """One count for every transition, possible or not, with the same rewards and start."""
        name = f"uniform:{self.name}"
        return FlatDirichlet(np.ones(self.counts.shape), self.rewards, self.start, name=name)

    def _mdp(self, probabilities: Floats) -> MDP:
        return MDP(self.counts.replace(probabilities), self.rewards, self.start)


def _check_counts(counts: SparseTable) -> None:
    negative = np.flatnonzero(counts.values < 0)
    if len(negative):
        raise InvalidInput(
            f"the count at {counts.locate(int(negative[0]))} is {counts.values[negative[0]]}: "
            "must not be negative"
        )
    empty = np.flatnonzero(np.diff(counts.row_start) == 0)
    if len(empty):
        state, action = divmod(int(empty[0]), counts.num_actions)
        raise InvalidInput(
            f"the counts of state {state}, action {action} are all zero: "
            "at least one next state must be possible"
        )
