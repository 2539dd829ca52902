"""The chain of Dearden, Friedman and Russell, *Bayesian Q-learning* (1998).

Five states in a row. The first action moves along the chain, and stays in the last state. The
second action leads back to the first state. With probability 0.2 an action has the other one's
effect. Going back pays 2, staying in the last state pays 10. Agents know the map, but not which
action is which.
"""

import numpy as np

from ..mdps.single import SingleMDP, unlabelled

_STATES = 5
_SLIP = 0.2


def chain() -> SingleMDP:
    """Dearden's chain."""
    transitions, rewards = np.zeros((_STATES, 2, _STATES)), np.zeros((_STATES, 2, _STATES))
    for state in range(_STATES):
        transitions[state, :, min(state + 1, _STATES - 1)] = (1 - _SLIP, _SLIP)
        transitions[state, :, 0] = (_SLIP, 1 - _SLIP)
    rewards[:, :, 0] = 2
    rewards[-1, :, -1] = 10
    return unlabelled(transitions, rewards, "Dearden's chain")
