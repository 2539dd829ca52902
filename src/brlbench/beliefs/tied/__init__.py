"""Tied Dirichlet priors: pairs of a group share one unknown row of outcome probabilities.

A row is a distribution over O outcomes, with Dirichlet counts per group. What an outcome leads to
depends on the pair, so a transition of one pair teaches about all pairs of its group. Rewards are
known, or unknown and independent per pair. Example: one unknown probability of slipping, the same
everywhere.

Notation: S states, A actions, P = S * A pairs, G groups, O outcomes.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from ...arguments import counted
from ...errors import InvalidInput
from ...mdps.mdp import MDP, start_distribution
from ...mdps.sparse import Floats, Integers, SparseTable, as_array, as_indices
from ..counting import CountingPrior, GivenRewards
from ..dirichlet_rows import check_count, draw_rows


class TiedDirichlet(CountingPrior):
    """A Dirichlet prior in which pairs share rows. Immutable."""

    kind = "tied Dirichlet priors"
    group_counts: Floats
    """The Dirichlet parameters [G, O]; outcomes with a count of zero are impossible."""
    group: Integers
    """The group [S, A] of each pair."""
    next_state: Integers
    """The state [S, A, O] that an outcome leads to."""
    cell: Integers
    """The place [E] in `group_counts`, flattened, of each entry of `counts`."""

    def __init__(
        self,
        counts: ArrayLike,
        group: ArrayLike,
        next_state: ArrayLike,
        rewards: GivenRewards,
        start: int | str | ArrayLike = 0,
        reward_variances: ArrayLike | SparseTable | None = None,
        name: str = "",
        description: str = "",
    ) -> None:
        """Validate and keep.

        Args:
            counts: Dirichlet parameters [G, O] of each group's outcomes; zero = impossible.
            group: the group [S, A] of each pair.
            next_state: the state [S, A, O] that an outcome leads to. The possible outcomes of a
                pair must lead to different states, so that a transition tells the outcome.
            rewards: mean rewards, an array that broadcasts to [S, A, S] or a sparse table; or
                unknown ones, `NormalRewards` or `BernoulliRewards`.
            start: the start state, "uniform" for any, or probabilities [S].
            reward_variances: like `rewards`; where positive, the reward is Gaussian.
            name: a short name for tables and files.
            description: a longer one.
        """
        self.group_counts = _checked_counts(counts)
        groups, outcomes = self.group_counts.shape
        following = as_array(next_state, "next_state")
        if following.ndim != 3 or following.shape[2] != outcomes or 0 in following.shape:
            raise InvalidInput(
                f"next_state has shape {list(following.shape)}: must be [states, actions, "
                f"{outcomes}], one state per outcome"
            )
        self.num_states, self.num_actions, _ = shape = following.shape
        states = as_indices(following.ravel(), self.num_states, "next_state")
        self.next_state = states.reshape(shape)
        members = as_array(group, "group")
        if members.shape != shape[:2]:
            raise InvalidInput(f"group has shape {list(members.shape)}: must be {list(shape[:2])}")
        self.group = as_indices(members.ravel(), groups, "group").reshape(shape[:2])
        self.counts, self.cell = self._entries()
        self._set_rewards(rewards, reward_variances)
        self.start = start_distribution(self.num_states, start)
        self.name = name
        self.description = description

    def _entries(self) -> tuple[SparseTable, Integers]:
        """Each pair's own row of counts, and the cell of each of its entries."""
        pairs, outcomes = self.group.size, self.group_counts.shape[1]
        cells = self.group.reshape(pairs, 1) * outcomes + np.arange(outcomes)  # [P, O]
        places = np.arange(pairs)[:, None] * self.num_states + self.next_state.reshape(pairs, -1)
        possible = self.group_counts.ravel()[cells] > 0
        cell, place = cells[possible], places[possible]
        distinct, first, times = np.unique(place, return_index=True, return_counts=True)
        counts = SparseTable.from_places(
            self.num_states, self.num_actions, distinct, self.group_counts.ravel()[cell[first]]
        )
        if (times > 1).any():
            where = counts.locate(int(times.argmax()))
            raise InvalidInput(
                f"several outcomes lead to {where}: the possible outcomes of a pair must lead to "
                "different states, so that a transition tells the outcome"
            )
        return counts, cell[first]

    def __repr__(self) -> str:
        return (
            f"TiedDirichlet({self.name or 'unnamed'}: {counted(self.num_states, 'state')}, "
            f"{counted(self.num_actions, 'action')}, {counted(len(self.group_counts), 'group')}"
            f"{'' if self.reward_prior is None else ', unknown rewards'})"
        )

    @classmethod
    def tiny(cls, count: float = 1.0) -> "TiedDirichlet":
        """Two states and two actions; pairs share a row, with opposite outcomes for the actions."""
        next_state = np.array([[[0, 1], [1, 0]]] * 2)
        group = np.zeros((2, 2), np.int64)
        return TiedDirichlet([[count, count]], group, next_state, np.eye(2)[:, None, :])

    def content(self) -> bytes:
        """All that the law depends on, as bytes; names do not count."""
        arrays = (self.group_counts, self.group, self.next_state, self.start)
        sizes = np.array([len(self.group_counts), *self.next_state.shape], np.int64)
        content = b"".join(a.tobytes() for a in (sizes, *arrays))
        return b"tied" + content + self.given_rewards.content()

    def mean(self) -> MDP:
        """The MDP whose transition probabilities are the expected ones."""
        totals = self.group_counts.sum(axis=1, keepdims=True)
        rows = (self.group_counts / totals).ravel()
        return self._mdp(rows[self.cell])

    def sample_many(self, rngs: Sequence[np.random.Generator]) -> Floats:
        """Draw the probabilities [n, E] of n MDPs, each with a generator of its own."""
        possible = self.group_counts > 0
        row_start = np.concatenate([[0], np.cumsum(possible.sum(axis=1))])
        drawn = np.zeros((len(rngs), possible.size))
        drawn[:, possible.ravel()] = draw_rows(self.group_counts[possible], row_start, rngs)
        return np.asarray(drawn[:, self.cell])

    def learned(
        self, transitions: Integers, times: Integers, totals: Floats | None
    ) -> "TiedDirichlet":
        """The distribution after distinct transitions [n, 3], see `CountingPrior`.

        A transition that is impossible under the prior belongs to no outcome and teaches nothing,
        nor does its reward.
        """
        states = as_indices(transitions[:, 0], self.num_states, "transitions: state")
        actions = as_indices(transitions[:, 1], self.num_actions, "transitions: action")
        following = as_indices(transitions[:, 2], self.num_states, "transitions: next state")
        place = (states * self.num_actions + actions) * self.num_states + following
        entry = np.searchsorted(self.counts.place, place)
        entry[entry == len(self.cell)] = 0
        known = self.counts.place[entry] == place
        cells, size = self.cell[entry[known]], self.group_counts.size
        learned = self.group_counts.ravel() + np.bincount(cells, times[known], size)
        known_totals = None if totals is None else totals[known]
        return TiedDirichlet(
            learned.reshape(self.group_counts.shape),
            self.group,
            self.next_state,
            self.rewards_after(transitions[known], times[known], known_totals),
            self.start,
            name=self.name,
            description=self.description,
        )

    def renumbered(self, order: Integers) -> "TiedDirichlet":
        """The same distribution where state x has become state `order[x]`."""
        before = np.argsort(order)
        return TiedDirichlet(
            self.group_counts,
            self.group[before],
            order[self.next_state[before]],
            self.given_rewards.renumbered(order),
            self.start[before],
            name=self.name,
            description=self.description,
        )


def _checked_counts(counts: ArrayLike) -> Floats:
    array = as_array(counts, "counts", np.float64).copy()
    if array.ndim != 2 or 0 in array.shape:
        raise InvalidInput(f"counts has shape {list(array.shape)}: must be [groups, outcomes]")
    for group, row in enumerate(array):
        for outcome, number in enumerate(row):
            if not np.isfinite(number):
                raise InvalidInput(f"counts[{group}, {outcome}] = {number}: must be finite")
            check_count(float(number), f"group {group}, outcome {outcome}")
        if not row.any():
            raise InvalidInput(f"the counts of group {group} are all zero: give it an outcome")
    array.flags.writeable = False
    return array
