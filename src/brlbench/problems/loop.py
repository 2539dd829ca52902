"""The loop of Dearden, Friedman and Russell, *Bayesian Q-learning* (1998).

Nine states and two loops through the first one; nothing is random. The first action enters the loop
0-1-2-3-4, which pays 1 at its end; both actions follow it. The second action enters the loop
0-5-6-7-8, which pays 2 at its end; the second action follows it, and the first one leads back to
the first state. Agents know the map, but not which action is which.
"""

import numpy as np

from ..mdps.single import SingleMDP, unlabelled


def loop() -> SingleMDP:
    """Dearden's double loop."""
    following = np.array([[1, 5], [2, 2], [3, 3], [4, 4], [0, 0], [0, 6], [0, 7], [0, 8], [0, 0]])
    transitions = np.eye(len(following))[following]
    rewards = np.zeros(transitions.shape)
    rewards[4, :, 0] = 1
    rewards[8, :, 0] = 2
    return unlabelled(transitions, rewards, "Dearden's double loop")
