"""Generalised Double-Loop (Castronovo et al., 2016), after Dearden et al. (1998).

Nine states, two actions with the same prior, and two loops through the first state. The loop
0-1-2-3-4 can't be left and pays 1 at its end. The loop 0-5-6-7-8 pays 2 at its end, but each of its
steps may fall back to the first state. All other rewards are 0; the paper does not give those for
arriving in the first state from elsewhere. States are numbered from 0 here, from 1 in the paper.
"""

from itertools import pairwise

import numpy as np

from ..beliefs.flat import FlatDirichlet


def gdl() -> FlatDirichlet:
    """The Generalised Double-Loop."""
    counts = np.zeros((9, 2, 9))
    for loop in ([0, 1, 2, 3, 4, 0], [0, 5, 6, 7, 8, 0]):
        for state, next_state in pairwise(loop):
            counts[state, :, next_state] = 1
    counts[5:, :, 0] = 1
    rewards = np.zeros(counts.shape)
    rewards[4, :, 0] = 1
    rewards[8, :, 0] = 2
    return FlatDirichlet(counts, rewards, description="Generalised Double-Loop")
