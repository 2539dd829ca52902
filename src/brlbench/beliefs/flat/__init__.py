"""Distributions over MDPs: the flat Dirichlet-multinomial.

Each (state, action) pair has an independent Dirichlet distribution over its next states, given by
counts; a count of zero means that the transition is impossible. Rewards are known and shared, or
unknown (see `beliefs.rewards`).
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from ...arguments import counted
from ...errors import InvalidInput
from ...mdps.mdp import MDP, start_distribution
from ...mdps.sparse import Floats, Integers, SparseTable, check_dense
from ...values import POSITIVE, PROBABILITY, check
from ..base import Family
from ..counting import CountingPrior, GivenRewards
from ..dirichlet_rows import LEAST_COUNT, check_count, draw_rows
from ..rewards import BernoulliRewards


class FlatDirichlet(CountingPrior):
    """A flat Dirichlet-multinomial distribution over finite MDPs. Immutable."""

    kind = "flat Dirichlet priors"

    def __init__(
        self,
        counts: ArrayLike | SparseTable,
        rewards: GivenRewards,
        start: int | str | ArrayLike = 0,
        reward_variances: ArrayLike | SparseTable | None = None,
        name: str = "",
        description: str = "",
    ) -> None:
        """Validate and keep.

        Args:
            counts: Dirichlet parameters, an array [S, A, S] or a sparse table; zero = impossible.
            rewards: mean rewards, an array that broadcasts to [S, A, S] or a sparse table. Those of
                impossible transitions matter too: other priors may allow them. Unknown rewards are
                `NormalRewards` or `BernoulliRewards`.
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
        self._set_rewards(rewards, reward_variances)
        self.start = start_distribution(counts.num_states, start)
        self.name = name
        self.description = description

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({self.name or 'unnamed'}: {counted(self.num_states, 'state')}, "
            f"{counted(self.num_actions, 'action')}, {len(self.counts.values)} possible transitions"
            f"{'' if self.reward_prior is None else ', unknown rewards'})"
        )

    @property
    def answers(self) -> frozenset[str]:
        """The needs that it meets, among the keys of `NEEDS`."""
        has_binary = self.reward_prior is not None and self.reward_prior.is_binary
        return super().answers | ({"bandit"} if has_binary and self.num_states == 1 else set())

    def tiny_alike(self) -> Family:
        """A tiny prior of the family with rewards of the same kind."""
        if "bandit" not in self.answers:
            return super().tiny_alike()
        return FlatDirichlet(np.ones((1, 2, 1)), BernoulliRewards())

    @classmethod
    def tiny(cls) -> "FlatDirichlet":
        """Two states and two actions, all transitions equally likely."""
        return FlatDirichlet(np.ones((2, 2, 2)), np.eye(2)[:, None, :])

    def content(self) -> bytes:
        """All that the law depends on, as bytes; names do not count."""
        return self.counts.content() + self.given_rewards.content() + self.start.tobytes()

    def mean(self) -> MDP:
        """The MDP whose transition probabilities are the expected ones."""
        totals = self.counts.row_sums()
        return self._mdp(self.counts.values / totals[self.counts.pair])

    def sample_many(self, rngs: Sequence[np.random.Generator]) -> Floats:
        """Draw the probabilities [n, E] of n MDPs, each with a generator of its own."""
        return draw_rows(self.counts.values, self.counts.row_start, rngs)

    def learned(
        self, transitions: Integers, times: Integers, totals: Floats | None
    ) -> "FlatDirichlet":
        """The distribution after distinct transitions [n, 3], see `CountingPrior`.

        A transition with a count of zero becomes possible once it is observed.
        """
        shape = (self.num_states, self.num_actions)
        states, actions, following = transitions.T
        seen = SparseTable.from_entries(*shape, states, actions, following, times, "transitions")
        possible = self.counts.union(seen)
        counts = possible.replace(self.counts.at(possible) + seen.at(possible))
        learned = self.rewards_after(transitions, times, totals)
        words = {"name": self.name, "description": self.description}
        return FlatDirichlet(counts, learned, self.start, **words)

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
        words = {"name": name, "description": description}
        return FlatDirichlet(counts, self.given_rewards, self.start, **words)

    def renumbered(self, order: Integers) -> "FlatDirichlet":
        """The same distribution where state x has become state `order[x]`."""
        return FlatDirichlet(
            self.counts.renumbered(order),
            self.given_rewards.renumbered(order),
            self.start[np.argsort(order)],
            name=self.name,
            description=self.description,
        )

    def as_prior(self) -> "FlatDirichlet":
        """The prior that agents are told: here, the distribution itself."""
        return self


def _check_counts(counts: SparseTable) -> None:
    small = np.flatnonzero(counts.values < LEAST_COUNT)
    if len(small):
        check_count(float(counts.values[small[0]]), counts.locate(int(small[0])))
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
