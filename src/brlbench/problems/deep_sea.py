"""DeepSea (Osband et al., *Behaviour suite for reinforcement learning*, 2020), without noise.

A square of cells. A diver starts in the upper left corner and sinks by one row per step, to the
left or to the right; after the last row the dive starts again. A move to the right costs
0.01 / size, and the one out of the lower right corner pays 1, so only diving right at every step
pays off. The state is `size * row + column`. Agents know the cells, but not which action moves
where; the suite hides this by shuffling the actions in each cell. Only in the last row, where
all moves lead to the first cell, do the rewards tell the actions apart.
"""

import numpy as np

from ..beliefs.flat.single import SingleMDP, alike_actions, unlabelled
from ..errors import short
from ..mdps.sparse import SparseTable, check_entries
from ..values import check, whole

_COST = 0.01


def deep_sea(size: int = 10) -> SingleMDP:
    """DeepSea."""
    size = check(size, "size", whole(2))
    num_states, num_actions = size**2, 2
    check_entries(4 * num_states, f"size = {short(size)}")
    row, column = np.divmod(np.arange(num_states), size)
    is_last = row == size - 1
    left, right = (
        np.where(is_last, 0, size * (row + 1) + np.clip(column + step, 0, size - 1))
        for step in (-1, 1)
    )
    following = np.stack([left, right], axis=1).ravel()
    shape = (num_states, num_actions)
    place = np.arange(len(following)) * num_states + following
    transitions = SparseTable.from_places(*shape, place, np.ones(len(place)))
    counts = alike_actions(transitions)
    # The cost belongs to the move, whichever action makes it; in the last row, to the action.
    states, actions = np.divmod(counts.pair, num_actions)
    moves_right = np.where(is_last[states], actions == 1, counts.next_state == right[states])
    paid = -_COST / size * moves_right
    paid[(states == num_states - 1) & (actions == 1)] += 1
    rewards = SparseTable.from_places(*shape, counts.place, paid)
    return unlabelled(transitions, rewards, "DeepSea, to be explored deeply")
