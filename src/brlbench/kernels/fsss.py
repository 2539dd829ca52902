"""What BFS3's search (forward-search sparse sampling, FSSS) keeps: its belief and its tree.

What is used together is kept together, in records: one address, one part of the cache.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Records = np.recarray[Any, Any]

NO_NODE = -1
NO_ENTRY = -1
NOT_TAKEN = -1
ALL_SPECIAL = -1

PAIR = np.dtype(
    [
        ("total", "f8"),  # sum of all counts
        ("extra", "f8"),  # draws on the path
        ("background", "f8"),
        ("common_reward", "f8"),
        ("row", "i4"),  # its first entry
        ("length", "i4"),
        ("num_special", "i8"),  # or ALL_SPECIAL: a new node draws all next states
    ]
)
ENTRY = np.dtype(
    [
        ("count", "f8"),
        ("extra", "f8"),  # draws on the path
        ("reward", "f8"),
        ("next_state", "i8"),
    ]
)
EDGE = np.dtype(
    [
        ("reward", "f8"),  # mean of the drawn transitions
        ("lower", "f8"),
        ("upper", "f8"),
        ("pair", "i4"),
        ("first", "i4"),  # the outcomes are first:end
        ("end", "i4"),
        ("widest", "i4"),  # the outcome to follow, or NOT_TAKEN
    ]
)
OUTCOME = np.dtype(
    [
        ("lower", "f8"),
        ("upper", "f8"),
        ("next_state", "i4"),
        ("entry", "i4"),  # or NO_ENTRY
        ("times", "i4"),  # how often it was drawn
        ("child", "i4"),  # or NO_NODE
    ]
)


class Tree(NamedTuple):
    """The tree below one root; M nodes and E outcomes fit, H special next states a pair."""

    size: Integers  # [2]; nodes and outcomes
    best: Integers  # [M]; the edge with the highest upper bound
    edge: Records  # [M * A] of EDGE; at `node * A + action`
    special_times: Integers  # [M * A * H]; how often each special next state was drawn
    outcome: Records  # [E] of OUTCOME
