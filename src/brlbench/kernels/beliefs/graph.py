"""The graph of beliefs, grown where an optimistic agent would go.

A node is a state, a number of decisions made, and a belief: one facet per state (see `facets`).
Equal ones are one node, however they were reached. `low` is the least that an agent must still
lose against one that knows the MDP: exact if the node is solved, otherwise a lower limit.

The graph grows by trials, as in labelled real-time dynamic programming (Bonet and Geffner, 2003): a
walk takes the action with the lowest limit and draws the next state, until it comes to an action
without children, which it expands. On the way back it raises the limits. An action costs at least
what it loses at once, so one that loses too much is never expanded.
"""

from typing import NamedTuple

import numpy as np

from ..jit import cold, inlined, kernel
from ..random.rng import mix, signed, uniform
from ..types import Booleans, Floats, Integers, ShortIntegers, Singles, Words
from .facets import UNKNOWN, Facets, Problem, Scratch, add_losses, set_costs

NODES, EDGES, DEEPEST = 0, 1, 2  # slots of `size`
NOTHING, UNPRICED = -1, -2  # no node or no edges; no edges, and the node has no costs yet
# Why growing ended: all trials were made, there is no room, the limit can't rise. A number from 0
# is a facet that must be followed first.
DONE, FULL, SOLVED = -1, -2, -3


class Graph(NamedTuple):
    """Nodes, and the edges of their expanded actions: one per possible transition."""

    size: Integers  # [3]; NODES, EDGES, DEEPEST
    state: ShortIntegers  # [N]
    depth: ShortIntegers  # [N]; decisions made
    known: ShortIntegers  # [N, S]; the belief: the facet of each state
    mark: Words  # [N]; a hash of the belief
    first_edge: ShortIntegers  # [N, A]; NOTHING if the action is not expanded
    cost: Singles  # [N, A]; the immediate loss of each action
    low: Singles  # [N]
    solved: Booleans  # [N]
    child: ShortIntegers  # [edges]
    table: ShortIntegers  # [a power of 2]; nodes by their hash


class Walk(NamedTuple):
    """The settings of trials, and their work space."""

    rng: Words
    roots: Floats  # [R]; the probabilities of the first nodes
    path: Integers  # [D]; work space
    scratch: Scratch
    stay: float  # the probability of going on, at each step
    depth: int  # decisions that may be looked at


@inlined
def _mark_of(facet: int) -> np.uint64:
    """A facet's contribution to the hash of a belief."""
    return mix(np.uint64(facet + 1))


@inlined
def _slot(graph: Graph, mark: np.uint64, x: int, depth: int) -> int:
    """The slot of the table at which the search for a node begins."""
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
def _price(graph: Graph, problem: Problem, facets: Facets, walk: Walk, node: int) -> None:
    set_costs(facets, walk.scratch, graph.known, node, graph.state[node], graph.cost)
    graph.solved[node] = False
    back_up(graph, problem, facets, node)
    graph.solved[node] = graph.depth[node] + 1 >= walk.depth


@kernel
def grow(graph: Graph, problem: Problem, facets: Facets, walk: Walk, trials: int) -> int:
    """Make some trials; return why that ended: SOLVED, FULL, or a facet that must be followed."""
    widest = facets.chance.shape[1]
    for root in range(len(walk.roots)):
        if graph.first_edge[root, 0] == UNPRICED:
            graph.first_edge[root, 0] = NOTHING
            _price(graph, problem, facets, walk, root)
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
            back_up(graph, problem, facets, node)
            if graph.solved[node]:
                break
            u = best_action(graph, problem, facets, node)
            if graph.first_edge[node, u] == NOTHING:
                facet = graph.known[node, graph.state[node]]
                if facets.following[facet, 0] == UNKNOWN:
                    return facet
                _expand(graph, problem, facets, walk, node, u)
                break
            if uniform(walk.rng) >= walk.stay:
                break
            node = _next(graph, problem, facets, walk, node, u)
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
def _next(graph: Graph, problem: Problem, facets: Facets, walk: Walk, node: int, u: int) -> int:
    """Draw a child of an expanded action that is not solved."""
    facet, first, end = _transitions(graph, problem, node, u)
    total, edge = 0.0, graph.first_edge[node, u] - first
    for m in range(first, end):
        if not graph.solved[graph.child[edge + m]]:
            total += facets.chance[facet, m]
    left, chosen = uniform(walk.rng) * total, graph.child[edge + first]
    for m in range(first, end):
        child = graph.child[edge + m]
        if not graph.solved[child] and left >= 0.0:
            chosen = child
            left -= facets.chance[facet, m]
    return chosen


@inlined
def _transitions(graph: Graph, problem: Problem, node: int, u: int) -> tuple[int, int, int]:
    """The facet of a node's state, and the range of its entries that belong to an action."""
    x = graph.state[node]
    pair, offset = x * problem.num_actions + u, problem.row_start[x * problem.num_actions]
    first, end = problem.row_start[pair] - offset, problem.row_start[pair + 1] - offset
    return graph.known[node, x], first, end


@inlined
def _loss(graph: Graph, problem: Problem, facets: Facets, node: int, u: int) -> float:
    """The least loss after an action."""
    loss = np.float64(graph.cost[node, u])
    if graph.first_edge[node, u] != NOTHING:
        facet, first, end = _transitions(graph, problem, node, u)
        edge, later = graph.first_edge[node, u] - first, 0.0
        for m in range(first, end):
            later += facets.chance[facet, m] * graph.low[graph.child[edge + m]]
        loss += problem.discount * later
    return loss


@inlined
def best_action(graph: Graph, problem: Problem, facets: Facets, node: int) -> int:
    """The action with the lowest limit."""
    facet = graph.known[node, graph.state[node]]
    least, best = np.inf, 0
    for u in range(problem.num_actions):
        if facets.lead[facet, u] == u:
            loss = _loss(graph, problem, facets, node, u)
            if loss < least:
                least, best = loss, u
    return best


@cold
def back_up(graph: Graph, problem: Problem, facets: Facets, node: int) -> None:
    """Raise the limit of a node to what its children allow."""
    if graph.solved[node]:
        return
    best = best_action(graph, problem, facets, node)
    graph.low[node] = _loss(graph, problem, facets, node, best)
    if graph.first_edge[node, best] == NOTHING:
        return
    _, first, end = _transitions(graph, problem, node, best)
    edge, solved = graph.first_edge[node, best] - first, True
    for m in range(first, end):
        solved &= graph.solved[graph.child[edge + m]]
    graph.solved[node] = solved


@cold
def _expand(graph: Graph, problem: Problem, facets: Facets, walk: Walk, node: int, u: int) -> None:
    """Add the beliefs that can follow an action."""
    facet, first, end = _transitions(graph, problem, node, u)
    offset = problem.row_start[graph.state[node] * problem.num_actions]
    graph.first_edge[node, u] = graph.size[EDGES]
    graph.size[DEEPEST] = max(graph.size[DEEPEST], graph.depth[node] + 2)
    for m in range(first, end):
        after, nodes = facets.following[facet, m], graph.size[NODES]
        child = _child(graph, node, after, problem.next_state[offset + m])
        graph.child[graph.size[EDGES]] = child
        graph.size[EDGES] += 1
        if child == nodes:
            _price(graph, problem, facets, walk, child)


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
    graph.mark[node] = mark
    for u in range(graph.first_edge.shape[1]):
        graph.first_edge[node, u] = NOTHING
    for state in range(graph.known.shape[1]):
        graph.known[node, state] = graph.known[parent, state]
    graph.known[node, x] = facet
    return node


@kernel
def finish(
    graph: Graph, problem: Problem, facets: Facets, order: Integers, best: ShortIntegers
) -> None:
    """Bring all limits up to date, and find the best actions; `order` has deepest nodes first."""
    for node in order:
        best[node] = best_action(graph, problem, facets, node)
        graph.low[node] = _loss(graph, problem, facets, node, best[node])


@kernel
def divide_loss(
    graph: Graph,
    problem: Problem,
    facets: Facets,
    scratch: Scratch,
    order: Integers,  # deepest nodes first
    best: ShortIntegers,  # [N]
    reach: Floats,  # [N]; the discounted probability of each node; that of the first ones is given
    loss: Floats,  # [K]; out: their mean is what the best actions lose
) -> None:
    """Compute what the best actions lose, by each MDP."""
    for i in range(len(order) - 1, -1, -1):
        node = order[i]
        if reach[node] == 0.0:
            continue
        x, u = graph.state[node], best[node]
        add_losses(facets, scratch, graph.known, node, x, u, reach[node], loss)
        if graph.first_edge[node, u] != NOTHING:
            facet, first, end = _transitions(graph, problem, node, u)
            edge = graph.first_edge[node, u] - first
            for m in range(first, end):
                later = problem.discount * facets.chance[facet, m]
                reach[graph.child[edge + m]] += reach[node] * later
