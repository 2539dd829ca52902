"""GoalGrid: a grid with a hidden goal, the standard toy of meta-learning (Zintgraf et al., 2020).

A square of cells, 5 by 5 unless another `size` is given. The actions up, right, down, left and stay
never fail. Each step that ends on the goal pays 1. The goal is in any cell but the start, in a
corner, and its three neighbours, each equally likely. So there is one MDP per goal, and they differ
in their rewards alone. The state is `size * row + column`; the start is state 0.

Deviation: Zintgraf et al. charge 0.1 for each step that does not end on the goal.
"""

import numpy as np

from ..beliefs.hypotheses import Hypotheses
from ..mdps.mdp import MDP
from ..mdps.sparse import SparseTable
from ..values import check, whole

_MOVES = ((-1, 0), (0, 1), (1, 0), (0, -1), (0, 0))  # up, right, down, left, stay
_LARGEST = 30  # cells per side: the number of MDPs times their size grows with its fourth power


def goal_grid(size: int = 5) -> Hypotheses:
    """The grids, one per goal."""
    size = check(size, "size", whole(3, _LARGEST))
    cells = np.arange(size**2)
    row, column = np.divmod(cells, size)
    following = np.stack(
        [
            size * np.clip(row + down, 0, size - 1) + np.clip(column + right, 0, size - 1)
            for down, right in _MOVES
        ],
        axis=1,
    ).ravel()
    shape = (len(cells), len(_MOVES))
    places = np.arange(len(following)) * len(cells) + following
    transitions = SparseTable.from_places(*shape, places, np.ones(len(places)))
    goals = cells[(row > 1) | (column > 1)]
    mdps = [
        MDP(transitions, transitions.replace((transitions.next_state == goal).astype(np.float64)))
        for goal in goals
    ]
    return Hypotheses(mdps, description="A grid with a hidden goal")
