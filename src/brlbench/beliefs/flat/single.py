"""One MDP in place of a distribution over MDPs, and the prior that agents are told instead."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from ...errors import InvalidInput
from ...mdps.mdp import MDP
from ...mdps.sparse import Floats, Integers, SparseTable
from . import FlatDirichlet


class SingleMDP(FlatDirichlet):
    """One MDP: every draw is this one. Agents are told a prior instead."""

    def __init__(self, transitions: ArrayLike | SparseTable, prior: FlatDirichlet) -> None:
        """Validate and keep.

        Args:
            transitions: the probabilities, an array [S, A, S] or a sparse table.
            prior: the prior that agents are told, with the rewards, the start and the name. Its
                counts must be positive wherever a transition is possible.
        """
        if prior.reward_prior is not None:
            raise InvalidInput(f"one MDP has known rewards, not {prior.reward_prior}")
        super().__init__(
            prior.counts,
            prior.rewards,
            prior.start,
            name=prior.name,
            description=prior.description,
        )
        table = MDP(transitions, self.rewards, self.start).transitions
        untold = np.flatnonzero((table.values > 0) & (self.counts.at(table) == 0))
        if len(untold):
            raise InvalidInput(
                f"the transition {table.locate(int(untold[0]))} has no count: the prior must allow "
                "it"
            )
        self.probabilities = table.at(self.counts)  # [E]

    def content(self) -> bytes:
        """All that the law depends on, as bytes; names do not count."""
        return super().content() + self.probabilities.tobytes()

    def mean(self) -> MDP:
        """The MDP."""
        return self._mdp(self.probabilities)

    def sample_many(self, rngs: Sequence[np.random.Generator]) -> Floats:
        """The probabilities [n, E] of the MDP, n times."""
        return np.broadcast_to(self.probabilities, (len(rngs), len(self.probabilities)))

    def renumbered(self, order: Integers) -> "SingleMDP":
        """The same MDP and prior where state x has become state `order[x]`."""
        transitions = self.counts.replace(self.probabilities).renumbered(order)
        return SingleMDP(transitions, self.as_prior().renumbered(order))

    def as_prior(self) -> FlatDirichlet:
        """The prior that agents are told: the counts, not the probabilities."""
        return self.with_counts(self.counts, self.name, self.description)


def unlabelled(
    transitions: ArrayLike | SparseTable, rewards: ArrayLike | SparseTable, description: str
) -> SingleMDP:
    """One MDP; agents know which states follow each other, but not by which action."""
    if not isinstance(transitions, SparseTable):
        transitions = SparseTable.from_dense(transitions, "transitions")
    prior = FlatDirichlet(alike_actions(transitions), rewards, description=description)
    return SingleMDP(transitions, prior)


def alike_actions(transitions: SparseTable, count: float = 1.0) -> SparseTable:
    """The counts of a prior that knows which states follow each other, but not by which action."""
    actions = transitions.num_actions
    moves = np.unique(transitions.pair // actions * transitions.num_states + transitions.next_state)
    states, following = np.divmod(moves, transitions.num_states)
    pairs = np.add.outer(states * actions, np.arange(actions))
    places = (pairs * transitions.num_states + following[:, None]).ravel()
    shape = transitions.shape[:2]
    return SparseTable.from_places(*shape, places, np.full(len(places), float(count)))
