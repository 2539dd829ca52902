"""Many searches of BAMCP at one history, to compare their laws."""

from typing import Any

import numpy as np
from benchmarks.plain_planners import PlainBamcp

from brlbench.agents.bamcp import Bamcp

COLUMNS = ["value 0", "value 1", "visits 0", "visits 1", "nodes"]
"""The statistics of a search."""


def searched(agent: Bamcp, number: int) -> Any:
    """The root's statistics and the actions of many searches at the same history."""
    tree, found, actions = agent.arrays.tree, [], []
    for _ in range(number):
        tree.size[0] = 0
        actions.append(agent.act(0))
        found.append([*tree.edges["value"][:2], *tree.edges["visits"][:2], tree.size[0]])
    return np.array(found), np.bincount(actions, minlength=2)


def plainly_searched(plain: PlainBamcp, number: int) -> Any:
    """The same of a plain search."""
    found, actions = [], []
    for seed in range(number):
        plain.reseed(seed)
        actions.append(plain.search(0))
        root = plain.nodes[()]
        found.append([root.mean(0), root.mean(1), *root.visits, len(plain.nodes)])
    return np.array(found), np.bincount(actions, minlength=2)
