"""One MDP in place of a distribution over MDPs, and what agents are told of it."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InvalidInput
from .dirichlet import FlatDirichlet
from .mdp import MDP, Rewards
from .sparse import Floats, SparseTable


class SingleMDP(FlatDirichlet):
    """One MDP: every draw is this one. The counts are what agents are told, as their prior."""

    def __init__(
        self,
        transitions: ArrayLike | SparseTable,
        counts: ArrayLike | SparseTable,
        rewards: ArrayLike | SparseTable | Rewards,
        start: int | ArrayLike = 0,
        reward_variances: ArrayLike | SparseTable | None = None,
        name: str = "",
        description: str = "",
    ) -> None:
        """Validate and keep.

        Args:
            transitions: the probabilities, an array [S, A, S] or a sparse table.
            counts: the prior's counts, which must be positive where a transition is possible.
            rewards: as of a `FlatDirichlet`, and so are the other arguments.
            start: the start state, or probabilities [S].
            reward_variances: where positive, the reward is Gaussian.
            name: a short name for tables and files.
            description: a longer one.
        """
        super().__init__(counts, rewards, start, reward_variances, name, description)
        table = MDP(transitions, self.rewards, self.start).transitions
        untold = np.flatnonzero((table.values > 0) & (self.counts.at(table) == 0))
        if len(untold):
            raise InvalidInput(
                f"the transition {table.locate(int(untold[0]))} has no count: the prior must hold "
                "it possible"
            )
        self.probabilities = table.at(self.counts)  # [E]

    def _content(self) -> bytes:
        return super()._content() + self.probabilities.tobytes()

    def mean(self) -> MDP:
        """The MDP."""
        return self._mdp(self.probabilities)

    def _sample_some(self, rngs: Sequence[np.random.Generator]) -> Floats:
        return np.broadcast_to(self.probabilities, (len(rngs), len(self.probabilities)))

    def posterior(self, transitions: ArrayLike) -> FlatDirichlet:
        """What agents know after observed transitions."""
        return self.as_prior().posterior(transitions)

    def as_prior(self) -> FlatDirichlet:
        """What agents are told: the counts."""
        return FlatDirichlet(
            self.counts, self.rewards, self.start, name=self.name, description=self.description
        )


def alike_actions(transitions: SparseTable, count: float = 1.0) -> SparseTable:
    """Counts of a prior that knows where each state can lead, but not which action leads there."""
    actions = transitions.num_actions
    moves = np.unique(transitions.pair // actions * transitions.num_states + transitions.next_state)
    states, following = np.divmod(moves, transitions.num_states)
    return SparseTable.from_entries(
        transitions.num_states,
        actions,
        np.repeat(states, actions),
        np.tile(np.arange(actions), len(moves)),
        np.repeat(following, actions),
        np.full(len(moves) * actions, count),
        "counts",
    )
