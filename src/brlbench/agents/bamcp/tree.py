"""BAMCP's search tree.

A node is a history, reached by an edge (node, action) and a next state. Edges are numbered
`node * A + action`.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...beliefs.base import Family
from ...kernels.arrays import at
from ...kernels.jit import cold, inlined
from ...kernels.random.rng import below
from ...kernels.types import Floats, Integers, ShortIntegers, Words

NO_NODE = -1
NO_EDGE = -1
ROOT = 0  # its edges are numbered like the actions
_SLOTS = 8, 32  # least and most slots for the children of an edge, unless there are fewer states

# Fields that are used together share a record, and so a cache line.
NODE = np.dtype(
    [
        ("root_log", np.float64),  # exploration * sqrt(ln(visits + 1))
        ("visits", np.int32),
        ("state", np.int32),  # the next state that led here
        ("sibling", np.int32),  # another node in the same slot of `children`, or NO_NODE
        ("parent", np.int32),  # the edge that led here; NO_EDGE at the root
    ]
)
EDGE = np.dtype(
    [
        ("value", np.float64),  # mean return
        ("inverse_root", np.float64),  # 1 / sqrt(visits)
        ("visits", np.int32),
        ("child", np.int32),  # the first node below, or NO_NODE
    ]
)


class Tree(NamedTuple):
    """The search tree, with room for M nodes.

    The nodes below an edge are in C slots by their states, modulo C; those that share a slot are a
    list. An edge has the slots that belong to the number of its first child.
    """

    num_actions: int
    size: Integers  # [1]; number of nodes
    nodes: NDArray[np.void]  # [M], of NODE
    edges: NDArray[np.void]  # [M * A], of EDGE
    slots: int  # C, a power of two
    children: ShortIntegers  # [M * C]; nodes, or NO_NODE
    root_log: Floats  # [visits]; exploration * sqrt(ln(visits + 1))
    inverse_root: Floats  # [visits]; 1 / sqrt(visits)
    moved_to: Integers  # [M], or empty if no tree is kept; work space of `keep_subtree`


def build_tree(prior: Family, nodes: int, exploration: float, is_kept: bool) -> Tree:
    """An empty tree; one that is kept serves several decisions."""
    actions, successors = prior.num_actions, int(np.diff(prior.frame.places.row_start).max())
    # With two slots per possible next state, hardly any share a slot.
    slots = min(max(2 * successors, _SLOTS[0]), _SLOTS[1], prior.num_states)
    shift = (slots - 1).bit_length()
    # Visits to a tree that is kept can exceed the tables; their last numbers are used then.
    visits = np.arange(nodes * (2 if is_kept else 1) + 1)
    return Tree(
        num_actions=actions,
        size=np.zeros(1, np.int64),
        nodes=np.zeros(nodes, NODE),
        edges=np.zeros(nodes * actions, EDGE),
        slots=1 << shift,
        children=np.zeros(nodes << shift, np.int32),
        root_log=exploration * np.sqrt(np.log(visits + 1)),
        inverse_root=1 / np.sqrt(np.maximum(visits, 1)),
        moved_to=np.zeros(nodes if is_kept else 0, np.int64),
    )


@inlined
def add_node(tree: Tree, parent: int, y: int) -> int:
    """Add a node below an edge and return it, or NO_NODE if the tree is full."""
    number = int(tree.size[0])
    if number == len(tree.nodes):
        return NO_NODE
    tree.size[0] = number + 1
    node = tree.nodes[at(number)]
    node["visits"] = 0
    node["state"] = y
    node["parent"] = parent
    if parent != NO_EDGE:
        link(tree, parent, number)
    for e in range(number * tree.num_actions, (number + 1) * tree.num_actions):
        edge = tree.edges[at(e)]
        edge["value"] = 0.0
        edge["visits"] = 0
        edge["child"] = NO_NODE
    return number


@inlined
def link(tree: Tree, parent: int, number: int) -> None:
    """Enter a node among the children of an edge."""
    edge, node = tree.edges[at(parent)], tree.nodes[at(number)]
    if edge["child"] == NO_NODE:
        edge["child"] = number
        for slot in range(number * tree.slots, (number + 1) * tree.slots):
            tree.children[at(slot)] = NO_NODE
    place = slot_of(tree, int(edge["child"]), int(node["state"]))
    node["sibling"] = tree.children[place]
    tree.children[place] = number


@inlined
def slot_of(tree: Tree, first_child: int, y: int) -> np.uint64:
    """The slot of a state among the children of an edge."""
    return at(first_child * tree.slots + (y & (tree.slots - 1)))


@inlined
def find_node(tree: Tree, edge: int, y: int) -> int:
    """The node below an edge for a next state, or NO_NODE."""
    number = int(tree.edges[at(edge)]["child"])
    if number != NO_NODE:
        number = int(tree.children[slot_of(tree, number, y)])
    while number != NO_NODE and tree.nodes[at(number)]["state"] != y:
        number = int(tree.nodes[at(number)]["sibling"])
    return number


@inlined
def next_node(tree: Tree, edge: int, y: int) -> int:
    """The node below an edge, made if the edge was taken before and there is room; or NO_NODE."""
    if tree.edges[at(edge)]["visits"] == 0:
        return NO_NODE
    number = find_node(tree, edge, y)
    return number if number != NO_NODE else add_node(tree, edge, y)


@inlined
def select(tree: Tree, number: int, rng: Words) -> int:
    """Visit a node; return a random untried action, or else one with the highest bound."""
    actions = tree.num_actions
    node, first = tree.nodes[at(number)], number * actions
    visits = int(node["visits"])
    root_log = node["root_log"]
    node["visits"] = visits + 1
    node["root_log"] = tree.root_log[at(min(visits + 1, len(tree.root_log) - 1))]
    if visits < actions:  # each visit so far tried another action
        skip = below(rng, actions - visits)
        for u in range(actions):
            if tree.edges[at(first + u)]["visits"] == 0:
                if skip == 0:
                    return u
                skip -= 1
    best, chosen = -np.inf, 0
    for u in range(actions):
        edge = tree.edges[at(first + u)]
        bound = edge["value"] + root_log * edge["inverse_root"]
        if bound > best:
            best, chosen = bound, u
    return chosen


@inlined
def count_return(tree: Tree, number: int, value: float) -> None:
    """Add a return to the mean of an edge."""
    edge = tree.edges[at(number)]
    visits = int(edge["visits"]) + 1
    edge["visits"] = visits
    edge["inverse_root"] = tree.inverse_root[at(min(visits, len(tree.inverse_root) - 1))]
    edge["value"] += (value - edge["value"]) / visits


@cold
def keep_subtree(tree: Tree, root: int) -> None:
    """Make a node the root: the nodes below it move up, all others go.

    Parents come before their children, so one pass in order does it in place.
    """
    actions, moved_to = tree.num_actions, tree.moved_to
    size = 0
    for number in range(tree.size[0]):
        parent = int(tree.nodes[number]["parent"])
        moved_to[number] = NO_NODE
        if number < root or (number > root and moved_to[parent // actions] == NO_NODE):
            continue
        moved_to[number] = size
        copy_node(tree, size, number)
        if number > root:
            above = moved_to[parent // actions] * actions + parent % actions
            tree.nodes[size]["parent"] = above
            link(tree, above, size)
        size += 1
    tree.size[0] = size


@inlined
def copy_node(tree: Tree, target: int, source: int) -> None:
    """Copy the statistics of a node and its edges, without links to other nodes."""
    node, old_node, actions = tree.nodes[target], tree.nodes[source], tree.num_actions
    node["visits"] = old_node["visits"]
    node["root_log"] = old_node["root_log"]
    node["state"] = old_node["state"]
    node["parent"], node["sibling"] = NO_EDGE, NO_NODE
    for u in range(actions):
        edge, old_edge = tree.edges[target * actions + u], tree.edges[source * actions + u]
        edge["value"] = old_edge["value"]
        edge["visits"] = old_edge["visits"]
        edge["inverse_root"] = old_edge["inverse_root"]
        edge["child"] = NO_NODE
