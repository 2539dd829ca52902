"""The graph of beliefs, grown where an optimistic agent would go.

A node is a state, a number of decisions made, and a belief: one facet per state (see `pool`). Equal
ones are one node, however they were reached. `low` is the least that an agent must still lose
against one that knows the MDP: exact if the node is solved, otherwise a lower limit.

The graph grows by trials, as in labelled real-time dynamic programming (Bonet and Geffner, 2003): a
walk takes the action with the lowest limit, draws the next state, and expands the leaf at its end.
On the way back it raises the limits.
"""

from typing import NamedTuple

import numpy as np

from ..jit import cold, inlined, kernel
from ..random.rng import mix, signed, uniform
from ..types import Booleans, Floats, Integers, ShortIntegers, Singles, Words
from .pool import UNKNOWN, Facets, Problem, Scratch, set_costs

NODES, EDGES, DEEPEST = 0, 1, 2  # slots of `size`
NOTHING, UNPRICED = -1, -2  # no node or no edges; no edges, and no costs yet
MEAN = 0  # which costs: the mean of all repetitions
# Why growing ended: all trials were made, there is no room, the limit can't rise. A number from 0
# is a facet that must be followed first.
DONE, FULL, SOLVED = -1, -2, -3


class Graph(NamedTuple):
    """Nodes, and the edges from the expanded ones: one per possible transition of their state."""

    size: Integers  # [3]; NODES, EDGES, DEEPEST
    state: ShortIntegers  # [N]
    depth: ShortIntegers  # [N]; decisions made
    known: ShortIntegers  # [N, S]; the belief: the facet of each state
    mark: Words  # [N]; a hash of the belief
    first_edge: ShortIntegers  # [N]; NOTHING if the node is a leaf
    cost: Singles  # [N, A, 1 + R]; what each action loses at once: the mean, then every repetition
    low: Singles  # [N]
    solved: Booleans  # [N]
    child: ShortIntegers  # [edges]
    table: ShortIntegers  # [a power of 2]; nodes by their hash


class Walk(NamedTuple):
    """How trials are made."""

    rng: Words
    roots: Floats  # [R]; the probabilities of the first nodes
    path: Integers  # [D]; work space
    stay: float  # the probability of going on, at each step
    depth: int  # decisions that may be looked at


@inlined
def _mark_of(facet: int) -> np.uint64:
    """A facet's contribution to the hash of a belief."""
    return mix(np.uint64(facet + 1))


@inlined
def _slot(graph: Graph, mark: np.uint64, x: int, depth: int) -> int:
    """Where the search for a node begins in the table."""
    word = mix(mark + np.uint64(depth * graph.known.shape[1] + x))
    return signed(word & np.uint64(len(graph.table) - 1))


@inlined
def _is(graph: Graph, node: int, x: int, depth: int, parent: int, here: int, facet: int) -> bool:
    """Whether a node is the child of `parent` in which `facet` is now known of the state `here`."""
    if graph.state[node] != x or graph.depth[node] != depth:
        return False
    for y in range(graph.known.shape[1]):
        expected = facet if y == here else graph.known[parent, y]
        if graph.known[node, y] != expected:
            return False
    return True


@kernel
def rebuild_table(graph: Graph) -> None:
    """Enter all nodes into an empty table."""
    for node in range(graph.size[NODES]):
        slot = _slot(graph, graph.mark[node], graph.state[node], graph.depth[node])
        while graph.table[slot] != NOTHING:
            slot = (slot + 1) & (len(graph.table) - 1)
        graph.table[slot] = node


@cold
def _price(
    graph: Graph, problem: Problem, facets: Facets, scratch: Scratch, walk: Walk, node: int
) -> None:
    set_costs(facets, scratch, graph.known, node, graph.state[node], graph.cost)
    graph.solved[node] = False
    back_up(graph, problem, facets, node)
    graph.solved[node] = graph.depth[node] + 1 >= walk.depth


@kernel
def grow(
    graph: Graph, problem: Problem, facets: Facets, scratch: Scratch, walk: Walk, trials: int
) -> int:
    """Make some trials; return why that ended: SOLVED, FULL, or a facet that must be followed."""
    widest = facets.chance.shape[1]
    for root in range(len(walk.roots)):
        if graph.first_edge[root] == UNPRICED:
            graph.first_edge[root] = NOTHING
            _price(graph, problem, facets, scratch, walk, root)
    for _ in range(trials):
        if graph.size[NODES] + widest > len(graph.state):
            return FULL
        if graph.size[EDGES] + widest > len(graph.child):
            return FULL
        node = _root(graph, walk)
        if node == NOTHING:
            return SOLVED
        length = 0
        while True:
            walk.path[length] = node
            length += 1
            if graph.first_edge[node] == NOTHING or graph.solved[node]:
                break
            if uniform(walk.rng) >= walk.stay:
                break
            node = _next(graph, problem, facets, walk, node)
        if not graph.solved[node] and graph.first_edge[node] == NOTHING:
            facet = graph.known[node, graph.state[node]]
            if facets.following[facet, 0] == UNKNOWN:
                return facet
            _expand(graph, problem, facets, scratch, walk, node)
        for i in range(length - 1, -1, -1):
            back_up(graph, problem, facets, walk.path[i])
    return DONE


@inlined
def _root(graph: Graph, walk: Walk) -> int:
    """Draw one of the first nodes that are not solved."""
    total = 0.0
    for node in range(len(walk.roots)):
        if not graph.solved[node]:
            total += walk.roots[node]
    left, chosen = uniform(walk.rng) * total, NOTHING
    for node in range(len(walk.roots)):
        if not graph.solved[node] and left >= 0.0:
            chosen = node
            left -= walk.roots[node]
    return chosen


@cold
def _next(graph: Graph, problem: Problem, facets: Facets, walk: Walk, node: int) -> int:
    """Take the best action and draw a child that is not solved."""
    x = graph.state[node]
    facet = graph.known[node, x]
    offset = problem.row_start[x * problem.num_actions]
    back_up(graph, problem, facets, node)
    pair = x * problem.num_actions + best_action(graph, problem, facets, node)
    total, edge = 0.0, graph.first_edge[node] - offset
    for entry in range(problem.row_start[pair], problem.row_start[pair + 1]):
        if not graph.solved[graph.child[edge + entry]]:
            total += facets.chance[facet, entry - offset]
    left, chosen = uniform(walk.rng) * total, graph.child[edge + problem.row_start[pair]]
    for entry in range(problem.row_start[pair], problem.row_start[pair + 1]):
        child = graph.child[edge + entry]
        if not graph.solved[child] and left >= 0.0:
            chosen = child
            left -= facets.chance[facet, entry - offset]
    return chosen


@inlined
def _loss(
    graph: Graph, problem: Problem, facets: Facets, low: Singles, node: int, u: int, kind: int
) -> float:
    """The least loss after an action, by the mean (kind 0) or by a repetition (1, 2 …)."""
    x = graph.state[node]
    facet = graph.known[node, x]
    loss = np.float64(graph.cost[node, u, kind])
    if graph.first_edge[node] != NOTHING:
        offset = problem.row_start[x * problem.num_actions]
        pair = x * problem.num_actions + u
        edge = graph.first_edge[node] - offset
        later = 0.0
        for entry in range(problem.row_start[pair], problem.row_start[pair + 1]):
            later += facets.chance[facet, entry - offset] * low[graph.child[edge + entry]]
        loss += problem.discount * later
    return loss


@inlined
def best_action(graph: Graph, problem: Problem, facets: Facets, node: int) -> int:
    """The action with the lowest limit."""
    facet = graph.known[node, graph.state[node]]
    least, best = np.inf, 0
    for u in range(problem.num_actions):
        if facets.lead[facet, u] == u:
            loss = _loss(graph, problem, facets, graph.low, node, u, MEAN)
            if loss < least:
                least, best = loss, u
    return best


@cold
def back_up(graph: Graph, problem: Problem, facets: Facets, node: int) -> None:
    """Raise the limit of a node to what its children allow."""
    if graph.solved[node]:
        return
    best = best_action(graph, problem, facets, node)
    graph.low[node] = _loss(graph, problem, facets, graph.low, node, best, MEAN)
    if graph.first_edge[node] == NOTHING:
        return
    x = graph.state[node]
    pair, solved = x * problem.num_actions + best, True
    edge = graph.first_edge[node] - problem.row_start[x * problem.num_actions]
    for entry in range(problem.row_start[pair], problem.row_start[pair + 1]):
        solved &= graph.solved[graph.child[edge + entry]]
    graph.solved[node] = solved


@cold
def _expand(
    graph: Graph, problem: Problem, facets: Facets, scratch: Scratch, walk: Walk, leaf: int
) -> None:
    """Add the beliefs that can follow."""
    actions, x = problem.num_actions, graph.state[leaf]
    facet = graph.known[leaf, x]
    offset = problem.row_start[x * actions]
    first = graph.size[EDGES]
    graph.first_edge[leaf] = first
    graph.size[EDGES] += problem.row_start[(x + 1) * actions] - offset
    graph.size[DEEPEST] = max(graph.size[DEEPEST], graph.depth[leaf] + 2)
    for u in range(actions):
        if facets.lead[facet, u] != u:
            continue
        pair = x * actions + u
        for entry in range(problem.row_start[pair], problem.row_start[pair + 1]):
            m, nodes = entry - offset, graph.size[NODES]
            child = _child(graph, leaf, facets.following[facet, m], problem.next_state[entry])
            graph.child[first + m] = child
            if child == nodes:
                _price(graph, problem, facets, scratch, walk, child)


@cold
def _child(graph: Graph, parent: int, facet: int, y: int) -> int:
    """The node in state y after `facet` became known of the parent's state; made if it is new."""
    x, depth = graph.state[parent], graph.depth[parent] + 1
    mark = graph.mark[parent] - _mark_of(graph.known[parent, x]) + _mark_of(facet)
    slot = _slot(graph, mark, y, depth)
    while graph.table[slot] != NOTHING:
        if _is(graph, graph.table[slot], y, depth, parent, x, facet):
            return graph.table[slot]
        slot = (slot + 1) & (len(graph.table) - 1)
    node = graph.size[NODES]
    graph.size[NODES] += 1
    graph.table[slot] = node
    graph.state[node], graph.depth[node] = y, depth
    graph.mark[node], graph.first_edge[node] = mark, NOTHING
    for state in range(graph.known.shape[1]):
        graph.known[node, state] = graph.known[parent, state]
    graph.known[node, x] = facet
    return node


@kernel
def repeat(
    graph: Graph, problem: Problem, facets: Facets, order: Integers, repetition: int, low: Singles
) -> None:
    """Compute the limits by one repetition's costs; `order` lists the nodes, deepest first."""
    for node in order:
        facet = graph.known[node, graph.state[node]]
        low[node] = np.inf
        for u in range(problem.num_actions):
            if facets.lead[facet, u] == u:
                loss = _loss(graph, problem, facets, low, node, u, 1 + repetition)
                low[node] = min(low[node], loss)
