"""RiverSwim (Strehl and Littman, 2008), as in Osband, Russo and Van Roy (2013).

States in a row along a river, six by default. The first action swims left with the current, and
always succeeds. The second swims right: it succeeds with probability 0.35, stays with 0.6 and is
carried left with 0.05. At the left end it succeeds with 0.6; at the right end it stays with 0.6.
Swimming left at the left end pays 0.005, swimming right at the right end pays 1. Agents know the
river and the rewards of both actions, but not where the actions lead.
"""

import numpy as np

from ..beliefs.flat.single import SingleMDP, unlabelled
from ..values import check, whole


def river_swim(size: int = 6) -> SingleMDP:
    """RiverSwim."""
    size = check(size, "size", whole(2))
    transitions, rewards = np.zeros((size, 2, size)), np.zeros((size, 2, size))
    for state in range(size):
        transitions[state, 0, max(state - 1, 0)] = 1
        if 0 < state < size - 1:
            transitions[state, 1, state - 1 : state + 2] = (0.05, 0.6, 0.35)
    transitions[0, 1, :2] = (0.4, 0.6)
    transitions[-1, 1, -2:] = (0.4, 0.6)
    rewards[0, 0] = 0.005
    rewards[-1, 1] = 1
    return unlabelled(transitions, rewards, "RiverSwim, against the current")
