"""Tiny problems for planners: rewards differ enough that searches meet no ties by accident."""

import numpy as np

from brlbench.beliefs.flat import FlatDirichlet

UNIFORM = FlatDirichlet(
    np.ones((2, 2, 2)),
    [[[0.0, 0.8], [0.3, 0.51]], [[1.0, 0.1], [0.2, 0.83]]],
    name="two states, all alike",
)
# Along the chain or back to its start; the reward of the pair (2, 1) is sure.
CHAIN = FlatDirichlet(
    [
        [[1, 1, 0], [2, 1, 0]],
        [[1, 0, 1], [1, 0, 2]],
        [[1, 0, 1], [3, 0, 0]],
    ],
    [
        [[0.3, 0.0, 0.0], [0.21, 0.13, 0.0]],
        [[0.1, 0.0, 0.2], [0.4, 0.0, 0.0]],
        [[0.5, 0.0, 2.0], [1.07, 0.0, 0.0]],
    ],
    name="sparse chain",
)
# A few tenths of a count say little: the first transition says most.
UNEVEN = FlatDirichlet(
    [[[0.1, 0.3], [2.5, 0.5]], [[0.2, 0.1], [0.7, 3.0]]],
    [[[0.9, -0.3], [0.35, 0.7]], [[-0.5, 1.0], [0.8, 0.15]]],
    name="uneven",
)
PRIORS = {"uniform": UNIFORM, "chain": CHAIN, "uneven": UNEVEN}

# What was seen of each; the chain's last two were thought to be impossible.
OBSERVED = {
    "uniform": [(0, 0, 1), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1)],
    "chain": [(0, 0, 1), (1, 1, 2), (2, 0, 2), (0, 1, 2), (2, 1, 1)],
    "uneven": [(0, 0, 0), (0, 1, 1), (1, 0, 1), (1, 1, 0)],
}
