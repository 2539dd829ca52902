"""Grid5 and Grid10 (Guez, Silver and Dayan, 2012): grids in which moves fail.

A square of cells. The actions up, right, down and left succeed with probability 0.8; otherwise the
move is to one of the two sides. Any action in the goal, the corner opposite to the start, pays 1
and leads back to the start. The state is `size * column + row`, rows counted from below. Agents
know where each state can lead, but not which action leads there.

Guez et al. give agents a flat prior with counts of 1 / S for each of all S states:
`scaled:0.04:uniform:Grid5`, `scaled:0.01:uniform:Grid10`. Small equal counts over the neighbours of
each state alone are `scaled:0.25:Grid5`. Either prior knows that leaving the goal pays.
"""

import numpy as np

from ..beliefs.flat.single import SingleMDP, unlabelled

_MOVES = ((0, 1), (1, 0), (0, -1), (-1, 0))  # up, right, down, left
_SUCCESS = 0.8


def reset_grid(size: int) -> SingleMDP:
    """The grid."""
    number = size**2
    transitions = np.zeros((number, len(_MOVES), number))
    rewards = np.zeros(transitions.shape)
    for column, row in np.ndindex(size, size):
        state = size * column + row
        targets = [
            size * min(max(column + right, 0), size - 1) + min(max(row + up, 0), size - 1)
            for right, up in _MOVES
        ]
        for action in range(len(_MOVES)):
            transitions[state, action, targets[action]] += _SUCCESS
            for turn in (-1, 1):
                target = targets[(action + turn) % len(_MOVES)]
                transitions[state, action, target] += (1 - _SUCCESS) / 2
    transitions[-1] = np.eye(number)[0]
    rewards[-1] = 1
    return unlabelled(transitions, rewards, f"A grid of {size} by {size} cells in which moves fail")


def grid5() -> SingleMDP:
    """The grid of 5 by 5 cells."""
    return reset_grid(5)


def grid10() -> SingleMDP:
    """The grid of 10 by 10 cells."""
    return reset_grid(10)
