"""BFS3's search: forward-search sparse sampling (FSSS) over histories.

A node is a history. Each of its actions gets C next states, drawn from the mean of the belief at
that history; equal ones are kept once, with their number. These outcomes carry bounds
[lower, upper] of the value below them, which backups tighten. The bounds of an action whose reward
is certain do not depend on its draws until it is taken, so they are not made before.

Each root has a tree of its own, in the same arrays.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .arrays import copy_vector
from .choice import greedy
from .counts import Counts, add, restore, reward_of
from .deadline import OBSERVE, START, Deadline, begin, is_over, now, share, took
from .jit import cold, inlined
from .rng import Words, below, binomial
from .trajectory import register
from .urn import NONE, Urn, draw, push, undo

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

NO_NODE = -1


class Tree(NamedTuple):
    """The tree below one root; M nodes and E outcomes fit. An edge is `node * A + action`."""

    size: Integers  # [2]; nodes and outcomes
    first: Integers  # [M * A]; the outcomes of an edge are first[e]:end[e]
    end: Integers  # [M * A]
    pair: Integers  # [M * A]
    reward: Floats  # [M * A]; mean reward of the drawn transitions
    lower: Floats  # [M * A]
    upper: Floats  # [M * A]
    next_state: Integers  # [E]
    times: Integers  # [E]; how often it was drawn
    child: Integers  # [E]
    child_lower: Floats  # [E]
    child_upper: Floats  # [E]


class Bfs3(NamedTuple):
    """The agent's state; D is the depth."""

    rng: Words
    counts: Counts
    initial: Counts
    urn: Urn
    tree: Tree
    place: Integers  # [S]; work space: the outcome of a next state
    path: Integers  # [D]; the outcomes of a roll-out
    path_edge: Integers  # [D]; the (node, action) above each
    q: Floats  # [A]
    rewards: Floats  # [P * S], or empty where that is too much
    is_sure: Integers  # [P]; 1 where the reward does not depend on the next state
    initial_is_sure: Integers  # [P]
    sure_reward: Floats  # [P]; the reward there
    complete: Floats  # [D + 1]; by level, the gap of bounds in which only the leaves' is left
    skipped: Floats  # [D + 1]; the same, or less than any gap if nothing is passed over
    made: Integers  # [1]; roll-outs of the last decision
    deadline: Deadline
    discount: float
    rollouts: int
    branching: int
    depth: int
    value_min: float
    value_max: float


@inlined
def reward(agent: Bfs3, pair: int, y: int) -> float:
    """The known reward of a transition."""
    if len(agent.rewards) > 0:
        return agent.rewards[pair * agent.counts.num_states + y]
    return reward_of(agent.counts, pair, y)


@inlined
def expand(agent: Bfs3, x: int) -> int:
    """A new node. Actions whose reward is certain get their outcomes when they are first taken."""
    tree, actions = agent.tree, agent.counts.num_actions
    node = tree.size[0]
    tree.size[0] = node + 1
    for u in range(actions):
        edge, pair = node * actions + u, x * actions + u
        tree.pair[edge] = pair
        tree.first[edge] = tree.end[edge] = tree.size[1]
        tree.reward[edge] = agent.sure_reward[pair]
        if not agent.is_sure[pair]:
            tree.reward[edge] = draw_outcomes(agent, edge) / agent.branching
        tree.lower[edge] = tree.reward[edge] + agent.discount * agent.value_min
        tree.upper[edge] = tree.reward[edge] + agent.discount * agent.value_max
    return node


@inlined
def draw_outcomes(agent: Bfs3, edge: int) -> float:
    """Draw the next states of an edge from the belief's mean; return the sum of their rewards.

    The numbers of draws are multinomial: binomial, next state after next state.
    """
    tree, counts, urn = agent.tree, agent.counts, agent.urn
    pair = tree.pair[edge]
    tree.first[edge] = tree.end[edge] = tree.size[1]
    left, weight = agent.branching, counts.total[pair] + urn.extra[pair]
    total = 0.0
    element = urn.newest[pair]
    while element != NONE and left > 0:
        times = binomial(agent.rng, left, urn.times[element] / weight)
        total += add_outcome(agent, edge, urn.drawn[element], times)
        left -= times
        weight -= urn.times[element]
        element = urn.older[element]
    row = counts.row_start[pair]
    for entry in range(row, row + counts.row_length[pair]):
        if left > 0:
            part = counts.entry_count[entry] + urn.entry_extra[entry]
            # Without a background the last one takes all that is left, whatever rounding says.
            last = counts.background[pair] == 0 and entry == row + counts.row_length[pair] - 1
            times = left if last else binomial(agent.rng, left, part / weight)
            total += add_outcome(agent, edge, counts.entry_next[entry], times)
            left -= times
            weight -= part
    if left >= counts.num_states:
        for y in range(counts.num_states):
            times = binomial(agent.rng, left, 1 / (counts.num_states - y))
            total += add_outcome(agent, edge, y, times)
            left -= times
    for _ in range(left):
        total += add_outcome(agent, edge, below(agent.rng, counts.num_states), 1)
    tree.size[1] = tree.end[edge]
    return total


@inlined
def add_outcome(agent: Bfs3, edge: int, y: int, times: int) -> float:
    """Add draws of a next state to an edge, which is the newest; return the sum of rewards."""
    if times == 0:
        return 0.0
    tree = agent.tree
    end = tree.end[edge]
    # `place` may be left over from another edge: it counts only if it points at y in this one.
    place = agent.place[y]
    if tree.first[edge] <= place < end and tree.next_state[place] == y:
        tree.times[place] += times
    else:
        agent.place[y] = end
        tree.next_state[end] = y
        tree.times[end] = times
        tree.child[end] = NO_NODE
        tree.child_lower[end] = agent.value_min
        tree.child_upper[end] = agent.value_max
        tree.end[edge] = end + 1
    return times * reward(agent, tree.pair[edge], y)


@inlined
def back_up(agent: Bfs3, edge: int) -> None:
    """The bounds of a (node, action) from those of its outcomes."""
    tree = agent.tree
    lower, upper = 0.0, 0.0
    for outcome in range(tree.first[edge], tree.end[edge]):
        lower += tree.times[outcome] * tree.child_lower[outcome]
        upper += tree.times[outcome] * tree.child_upper[outcome]
    weight = agent.discount / agent.branching
    tree.lower[edge] = tree.reward[edge] + weight * lower
    tree.upper[edge] = tree.reward[edge] + weight * upper


@inlined
def best_edge(agent: Bfs3, node: int) -> int:
    """The action of a node with the highest upper bound, as an edge."""
    actions = agent.counts.num_actions
    best = node * actions
    for edge in range(best + 1, (node + 1) * actions):
        if agent.tree.upper[edge] > agent.tree.upper[best]:
            best = edge
    return best


@inlined
def widest_outcome(agent: Bfs3, edge: int, level: int) -> int:
    """The outcome of an action that leaves most of its uncertainty, of those not passed over."""
    tree = agent.tree
    best, widest = tree.first[edge], -1.0
    for outcome in range(tree.first[edge], tree.end[edge]):
        gap = tree.child_upper[outcome] - tree.child_lower[outcome]
        if gap > agent.skipped[level + 1] and tree.times[outcome] * gap > widest:
            best, widest = outcome, tree.times[outcome] * gap
    return best


@inlined
def node_lower(agent: Bfs3, node: int) -> float:
    """The lower bound of a node: the highest of its actions."""
    actions = agent.counts.num_actions
    best = agent.tree.lower[node * actions]
    for edge in range(node * actions + 1, (node + 1) * actions):
        best = max(best, agent.tree.lower[edge])
    return best


@inlined
def rollout(agent: Bfs3) -> None:
    """Follow the highest upper bounds from the root to the full depth, then back up."""
    tree, node = agent.tree, 0
    draws = agent.urn.size[1]
    for level in range(agent.depth):
        edge = best_edge(agent, node)
        if tree.first[edge] == tree.end[edge]:
            draw_outcomes(agent, edge)
        outcome = widest_outcome(agent, edge, level)
        agent.path[level], agent.path_edge[level] = outcome, edge
        y = tree.next_state[outcome]
        push(agent.counts, agent.urn, tree.pair[edge], y)
        if level + 1 < agent.depth:
            if tree.child[outcome] == NO_NODE:
                tree.child[outcome] = expand(agent, y)
            node = tree.child[outcome]
    for level in range(agent.depth - 1, -1, -1):
        edge, outcome = agent.path_edge[level], agent.path[level]
        child = tree.child[outcome]
        if child != NO_NODE:
            tree.child_lower[outcome] = node_lower(agent, child)
            tree.child_upper[outcome] = tree.upper[best_edge(agent, child)]
            back_up(agent, edge)
    undo(agent.urn, draws)


@cold
def upper_bound(agent: Bfs3, x: int) -> float:
    """FSSS: the upper bound of the value at the present history, in state x."""
    tree = agent.tree
    tree.size[0] = tree.size[1] = 0
    expand(agent, x)
    # All paths have the full depth: when only the gap of the leaves is left, nothing can change.
    # Nor when a roll-out found nothing new: all others would go the same way.
    for i in range(agent.rollouts):
        nodes, outcomes = tree.size[0], tree.size[1]
        rollout(agent)
        agent.made[0] += 1
        gap = tree.upper[best_edge(agent, 0)] - node_lower(agent, 0)
        found_nothing = nodes == tree.size[0] and outcomes == tree.size[1]
        if gap <= agent.complete[0] or found_nothing or is_over(agent.deadline, i + 1):
            break
    return tree.upper[best_edge(agent, 0)]


@cold
def search(agent: Bfs3, x: int) -> int:
    """For each action: the mean over C drawn next states of reward and discounted bound."""
    actions = agent.counts.num_actions
    end, left = begin(agent.deadline), actions * agent.branching
    agent.made[0] = 0
    scale = 0.0
    for u in range(actions):
        pair, total = x * actions + u, 0.0
        for _ in range(agent.branching):
            share(agent.deadline, end, left)
            left -= 1
            y = draw(agent.counts, agent.urn, pair, agent.rng)
            push(agent.counts, agent.urn, pair, y)
            total += reward(agent, pair, y) + agent.discount * upper_bound(agent, y)
            undo(agent.urn, 0)
        agent.q[u] = total / agent.branching
        scale = max(scale, abs(agent.q[u]))
    return greedy(agent.q, 0, actions, scale, agent.rng)


def start(agent: Bfs3, x: int) -> None:
    """Back to the prior."""
    began = now(agent.deadline)
    restore(agent.counts, agent.initial)
    copy_vector(agent.is_sure, agent.initial_is_sure)
    took(agent.deadline, START, began)


def act(agent: Bfs3, x: int) -> int:
    """Search."""
    return search(agent, x)


def observe(agent: Bfs3, x: int, u: int, y: int, r: float) -> None:
    """Count the transition, which may be one that was thought impossible."""
    began = now(agent.deadline)
    pair = x * agent.counts.num_actions + u
    add(agent.counts, pair, y)
    if reward(agent, pair, y) != agent.sure_reward[pair]:
        agent.is_sure[pair] = 0
    took(agent.deadline, OBSERVE, began)


register(Bfs3, start=start, act=act, observe=observe)
