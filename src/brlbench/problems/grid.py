"""Grid (Castronovo et al., 2016), after Dearden et al. (1998).

A grid of 5 by 5 cells. The actions up, down, left and right move to the next cell or fail; the
probabilities differ from cell to cell and from MDP to MDP. A move to the goal, in the last corner,
pays 10 and leads back to the first corner. The state is `5 * row + column`, all numbered from 0
(from 1 in the paper). The goal's own state can't be reached, but has moves like any other cell.
"""

import numpy as np

from ..mdps.dirichlet import FlatDirichlet

_SIZE = 5
_MOVES = ((-1, 0), (1, 0), (0, -1), (0, 1))  # up, down, left, right
_GOAL = (_SIZE - 1, _SIZE - 1)


def grid() -> FlatDirichlet:
    """The 5 by 5 grid."""
    counts = np.zeros((_SIZE**2, len(_MOVES), _SIZE**2))
    rewards = np.zeros(counts.shape)
    for row, column in np.ndindex(_SIZE, _SIZE):
        state = _SIZE * row + column
        counts[state, :, state] = 1
        for action, (down, right) in enumerate(_MOVES):
            target = (row + down, column + right)
            if target == _GOAL:
                counts[state, action, 0] = 1
                rewards[state, action, 0] = 10
            elif 0 <= min(target) and max(target) < _SIZE:
                counts[state, action, _SIZE * target[0] + target[1]] = 1
    return FlatDirichlet(counts, rewards, description="Grid")
