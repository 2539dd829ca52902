"""The loop of Dearden, Friedman and Russell, *Bayesian Q-learning* (1998).

Nine states and two loops through the first one; nothing is random. The first action enters the loop
0-1-2-3-4, which pays 1 at its end; both actions follow it. The second action enters the loop
0-5-6-7-8, which pays 2 at its end; the second action follows it, and the first one leads back to
the first state. Agents know the map, but not which action is which.

Guez, Silver and Dayan (2012) give agents small equal counts instead: over all nine states,
`scaled:0.11:uniform:Loop`. Over the neighbours of each state they are `scaled:0.25:Loop`. Either
prior knows that the moves 4-0 and 8-0 pay.
"""

import numpy as np

from ..beliefs.flat.single import SingleMDP, unlabelled


def loop() -> SingleMDP:
    """Dearden's double loop."""
    following = np.array([[1, 5], [2, 2], [3, 3], [4, 4], [0, 0], [0, 6], [0, 7], [0, 8], [0, 0]])
    transitions = np.eye(len(following))[following]
    rewards = np.zeros(transitions.shape)
    rewards[4, :, 0] = 1
    rewards[8, :, 0] = 2
    return unlabelled(transitions, rewards, "Dearden's double loop")
