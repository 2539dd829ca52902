"""The trees of BFS3's searches.

A node is a history. Its arms are the actions there. An arm that was taken has an edge, which holds
the next states drawn for it; equal ones are one outcome. An outcome that was followed has a child,
the node of the longer history. A history that was followed only once has a sketch instead: the
node's bounds, and the random numbers' state from which it can be made.

Fields that are used together share a record, and so a cache line.
"""

from typing import Any, NamedTuple

import numpy as np

from ...kernels.arrays import at, copy_start
from ...kernels.jit import inlined
from ...kernels.random.rng import State
from ...kernels.types import Integers, Records, ShortIntegers

NO_EDGE = -1
NO_OUTCOME = -1

# Slots of `Trees.size`.
NODES, EDGES, OUTCOMES, SKETCHES = 0, 1, 2, 3
NUM_SIZES = 4

# Kinds of an outcome's `child`.
NOT_FOLLOWED, IS_NODE, IS_SKETCH = 0, 1, 2

NODE = np.dtype(
    [
        ("lower", "f8"),  # bounds of its value: the highest of its arms
        ("upper", "f8"),
        ("rival_lower", "f8"),  # the highest of all arms but the best
        ("rival_upper", "f8"),
        ("best", "i4"),  # the action with the highest upper bound
        ("edge", "i4"),  # of that arm, or NO_EDGE
        ("state", "i4"),
        ("is_stale", "i2"),  # whether another arm may have become the best
        ("has_arms", "i2"),  # if not, only the best arm differs from what its pair tells
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
        ("rest_lower", "f8"),  # the same without the widest outcome's part
        ("rest_upper", "f8"),
        ("rival_gap", "f8"),  # the widest outcome stays the widest while its gap is above this
        ("first", "i4"),  # the outcomes are first:end
        ("end", "i4"),
        ("widest", "i4"),  # the outcome to follow, or NO_OUTCOME if it is not chosen yet
        ("pair", "i4"),
    ]
)
OUTCOME = np.dtype(
    [
        ("next_state", "i4"),
        ("entry", "i4"),  # or NO_ENTRY
        ("times", "i4"),  # number of its draws
        ("child_kind", "i4"),  # NOT_FOLLOWED, IS_NODE or IS_SKETCH
        ("child", "i4"),  # index of the node or of the sketch
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


class Trees(NamedTuple):
    """The trees of a decision, side by side; H special next states per pair at most."""

    num_actions: int  # A
    most_outcomes: int  # of all arms of a node
    size: Integers  # [NUM_SIZES]; records in use: NODES, EDGES, OUTCOMES and SKETCHES
    node: Records  # of NODE
    arm: Records  # of ARM; at `node * A + action`
    special_times: ShortIntegers  # [arms * H]; draws of each special next state
    edge: Records  # of EDGE
    outcome: Records  # of OUTCOME
    sketch: Records  # of SKETCH

    @property
    def is_work_space(self) -> bool:
        """Nothing in it outlives a decision."""
        return True


def build_trees(
    actions: int, most_outcomes: int, nodes: int, sketches: int, most_special: int
) -> Trees:
    """Room for the trees of a decision."""
    arms = nodes * actions
    return Trees(
        num_actions=actions,
        most_outcomes=most_outcomes,
        size=np.zeros(NUM_SIZES, np.int64),
        node=np.recarray(nodes, NODE),
        arm=np.recarray(arms, ARM),
        special_times=np.zeros(arms * most_special, np.int32),
        edge=np.recarray(arms, EDGE),
        outcome=np.recarray(nodes * most_outcomes + 1, OUTCOME),
        sketch=np.recarray(sketches, SKETCH),
    )


@inlined
def copy_size(target: Integers, source: Integers) -> None:
    """Copy a tree's size; the constant length lets the compiler unroll the loop."""
    copy_start(target, source, NUM_SIZES)


@inlined
def arm_of(tree: Trees, n: int, u: int) -> Any:
    """An arm of a node."""
    return tree.arm[at(n * tree.num_actions + u)]


@inlined
def set_child(outcome: Any, kind: int, index: int) -> None:
    """Put a node or a sketch below an outcome."""
    outcome.child_kind, outcome.child = kind, index


@inlined
def keep_words(record: Any, state: State) -> None:
    """Keep the random numbers' state in a sketch or a root."""
    record.word0, record.word1, record.word2, record.word3 = state


@inlined
def kept_words(record: Any) -> State:
    """The random numbers' state in a sketch or a root."""
    return record.word0, record.word1, record.word2, record.word3
