"""Grid (Castronovo et al., 2016), after Dearden et al. (1998).

A square of cells, 5 by 5 unless another `size` is given. The actions up, down, left and right move
to the next cell or fail; the probabilities differ from cell to cell and from MDP to MDP. A move to
the goal, in the last corner, pays 10 and leads back to the first corner. The state is
`size * row + column`, all numbered from 0 (from 1 in the paper). The goal's own state can't be
reached, but has moves like any other cell.
"""

import numpy as np

from ..beliefs.flat import FlatDirichlet
from ..mdps.sparse import check_dense
from ..values import check, whole

_MOVES = ((-1, 0), (1, 0), (0, -1), (0, 1))  # up, down, left, right


def grid(size: int = 5) -> FlatDirichlet:
    """The grid."""
    size = check(size, "size", whole(2))
    check_dense(size**2, len(_MOVES))
    counts = np.zeros((size**2, len(_MOVES), size**2))
    rewards = np.zeros(counts.shape)
    goal = (size - 1, size - 1)
    for row, column in np.ndindex(size, size):
        state = size * row + column
        counts[state, :, state] = 1
        for action, (down, right) in enumerate(_MOVES):
            target = (row + down, column + right)
            if target == goal:
                counts[state, action, 0] = 1
                rewards[state, action, 0] = 10
            elif 0 <= min(target) and max(target) < size:
                counts[state, action, size * target[0] + target[1]] = 1
    return FlatDirichlet(counts, rewards, description="Grid")
