"""Long Chain: a Generalised Chain that can be any number of states long.

States in a row, 20 by default, and three actions with the same prior. An action moves one state
along the chain or one state back; the probabilities differ from MDP to MDP. At the ends, it stays
where it can't move. Arriving in the first state pays 2, in the last state 10, as in GC.

In GC a failed move leads back to the first state. The best of three actions moves on with
probability 3/4, so 19 moves in a row succeed once in 240 trials, and no agent would try. Here a
failed move costs one state.
"""

import numpy as np

from ..beliefs.flat import FlatDirichlet
from ..mdps.sparse import check_dense
from ..values import check, whole

_ACTIONS = 3


def long_chain(states: int = 20) -> FlatDirichlet:
    """The Long Chain."""
    states = check(states, "states", whole(2))
    check_dense(states, _ACTIONS)
    counts = np.zeros((states, _ACTIONS, states))
    for state in range(states):
        counts[state, :, max(state - 1, 0)] = 1
        counts[state, :, min(state + 1, states - 1)] = 1
    rewards = np.zeros(states)
    rewards[[0, -1]] = 2, 10
    return FlatDirichlet(counts, rewards, description="Long Chain, step by step")
