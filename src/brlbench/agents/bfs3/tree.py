"""What BFS3 keeps: the trees of its searches (forward-search sparse sampling, FSSS), and the rest.

A node is a history; its arms are the actions there. An arm that was taken has an edge, with the
next states that were drawn for it; equal ones are kept once, as one outcome. An outcome that was
followed has a child, the node of the longer history. Most nodes are met once and never again. These
are kept as sketches: their bounds, and the random numbers from which they can be made again.

What is used together is kept together, in records: one address, one part of the cache.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...kernels.loop.deadline import Deadline
from ...kernels.types import Floats, Integers, Records, Words
from .belief import PathBelief

NO_NODE = -1
NO_EDGE = -1
NOT_CHOSEN = -1

NODE = np.dtype(
    [
        ("lower", "f8"),  # bounds of its value: the highest of its arms
        ("upper", "f8"),
        ("rival_lower", "f8"),  # the highest of all arms but the best
        ("rival_upper", "f8"),
        ("best", "i4"),  # the action with the highest upper bound; or a mark, see `last_best`
        ("edge", "i4"),  # of that arm, or NO_EDGE
        ("state", "i4"),
        ("has_arms", "i4"),  # if not, nothing had to be drawn for them, and only the best was taken
    ]
)
ARM = np.dtype(
    [
        ("reward", "f8"),  # mean of the drawn transitions
        ("edge", "i8"),  # or NO_EDGE
    ]
)
EDGE = np.dtype(
    [
        ("reward", "f8"),  # its arm's
        ("lower", "f8"),  # bounds of its arm's value
        ("upper", "f8"),
        ("rest_lower", "f8"),  # the same without what comes from the widest outcome
        ("rest_upper", "f8"),
        ("rival_gap", "f8"),  # down to this gap the widest outcome stays the widest
        ("first", "i4"),  # the outcomes are first:end
        ("end", "i4"),
        ("widest", "i4"),  # the outcome to follow, or NOT_CHOSEN
        ("pair", "i4"),
    ]
)
OUTCOME = np.dtype(
    [
        ("next_state", "i4"),
        ("entry", "i4"),  # or NO_ENTRY
        ("times", "i4"),  # how often it was drawn
        ("child", "i4"),  # a node; or NO_NODE; or a sketch, see `sketch_or_child`
    ]
)
SKETCH = np.dtype(
    [
        ("lower", "f8"),  # bounds of the node's value
        ("upper", "f8"),
        ("word0", "u8"),  # the random numbers' state before the node was made
        ("word1", "u8"),
        ("word2", "u8"),
        ("word3", "u8"),
    ]
)
ROOT = np.dtype(
    [
        ("upper", "f8"),  # bound of its value
        ("word0", "u8"),  # its random numbers' state
        ("word1", "u8"),
        ("word2", "u8"),
        ("word3", "u8"),
        ("made", "i8"),  # roll-outs, also if its tree is not kept
        ("outcome", "i4"),  # the next state
        ("node", "i4"),  # or NO_NODE if its tree is not kept
        ("is_final", "i4"),  # whether the bound stays as it is
    ]
)


class Tree(NamedTuple):
    """The trees of a decision; H is how many special next states a pair may have."""

    size: Integers  # [4]; nodes, edges, outcomes and sketches
    node: Records  # of NODE
    arm: Records  # of ARM; at `node * A + action`
    special_times: NDArray[np.int32]  # [arms * H]; how often each special next state was drawn
    edge: Records  # of EDGE
    outcome: Records  # of OUTCOME
    sketch: Records  # of SKETCH

    @property
    def is_work_space(self) -> bool:
        """Nothing in it outlives a decision."""
        return True


class Bfs3(NamedTuple):
    """The agent's state; D is the depth."""

    rng: Words
    belief: PathBelief
    tree: Tree
    loose: Integers  # [C]; work space: draws of an edge that are not sorted by next state
    tally: Integers  # [S]; how many they are of each next state; zero between edges
    path: Integers  # [D]; the node of each level
    before: Integers  # [3]; nodes, edges and outcomes before the new ones of a roll-out
    base: Integers  # [4]; the tree's size when roots are drawn
    upper_floor: Floats  # [D]; by level, see `set_floors`
    gap_floor: Floats  # [D]
    root: Records  # [A * C] of ROOT
    turn: Integers  # [A]; which root of an action is the next to be searched
    left: Integers  # [A]; how many of an action's bounds are not final
    q: Floats  # [A]; upper bounds of the values
    complete: Floats  # [D + 1]; by level, the gap of bounds in which only the leaves' is left
    skipped: Floats  # [D + 1]; the same, or less than any gap if nothing is passed over
    made: Integers  # [1]; roll-outs of the last decision
    deadline: Deadline
    discount: float
    rollouts: int  # from each root
    least: int  # roll-outs at a time, at least
    branching: int
    most_outcomes: int  # of all arms of a node
    depth: int
    value_min: float
    value_max: float
    per_draw: float  # 1 / C
    share: float  # of one draw's value in its arm's: discount / C
    stretch: Floats  # [C + 1]; one over the share of an outcome, by how often it was drawn
    rounding: float  # more than what rounding makes of a bound
