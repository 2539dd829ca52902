"""BAMCP's search: UCT over histories, with the posterior sampled at the root by an urn.

A node is a history, reached by an edge (node, action) and a next state. Edges are numbered
`node * A + action`. Each simulation adds at most one node: the one below an edge that is taken
for the second time.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .choice import greedy
from .counts import Counts, add, restore, reward_of
from .deadline import OBSERVE, START, Deadline, begin, is_over, now, took
from .jit import cold, inlined
from .rng import Words, below, uniform
from .trajectory import register
from .urn import Urn, draw, push, undo

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

NO_NODE = -1
ROOT = 0


class Tree(NamedTuple):
    """The search tree; M nodes fit."""

    size: Integers  # [1]
    visits: Integers  # [M]
    state: Integers  # [M]; the next state that led here
    parent: Integers  # [M]; the edge that led here
    sibling: Integers  # [M]; another node below the same edge
    edge_visits: Integers  # [M * A]
    edge_value: Floats  # [M * A]; mean return
    edge_child: Integers  # [M * A]; the first node below


class Bamcp(NamedTuple):
    """The agent's state; D is the depth, K the number of simulations."""

    rng: Words
    counts: Counts
    initial: Counts
    urn: Urn
    tree: Tree
    kept: Integers  # [M]; work space of `keep_subtree`: the new number of a node
    ranking: Floats  # [A]; work space
    path: Integers  # [D]; the edges of a simulation
    path_reward: Floats  # [D]
    rewards: Floats  # [P * S], or empty where that is too much
    root_log: Floats  # [visits]; exploration * sqrt(ln(visits + 1))
    inverse_root: Floats  # [visits]; 1 / sqrt(visits)
    rollout_q: Floats  # [P]; learns from real transitions
    deadline: Deadline
    discount: float
    simulations: int
    depth: int
    rollout_epsilon: float
    learning_rate: float
    reuse_tree: bool


@inlined
def reward(agent: Bamcp, pair: int, y: int) -> float:
    """The known reward of a transition."""
    if len(agent.rewards) > 0:
        return agent.rewards[pair * agent.counts.num_states + y]
    return reward_of(agent.counts, pair, y)


@inlined
def add_node(tree: Tree, actions: int, edge: int, y: int) -> int:
    """A new node below an edge, or none if the tree is full."""
    node = tree.size[0]
    if node == len(tree.visits):
        return NO_NODE
    tree.size[0] = node + 1
    tree.visits[node] = 0
    tree.state[node] = y
    tree.parent[node] = edge
    tree.sibling[node] = NO_NODE
    if edge >= 0:
        tree.sibling[node] = tree.edge_child[edge]
        tree.edge_child[edge] = node
    for e in range(node * actions, (node + 1) * actions):
        tree.edge_visits[e] = 0
        tree.edge_value[e] = 0.0
        tree.edge_child[e] = NO_NODE
    return node


@inlined
def find_node(tree: Tree, edge: int, y: int) -> int:
    """The node below an edge for a next state, or none."""
    node = tree.edge_child[edge]
    while node != NO_NODE and tree.state[node] != y:
        node = tree.sibling[node]
    return node


@inlined
def select(agent: Bamcp, node: int) -> int:
    """An untried action at random, or else one with the highest upper confidence bound."""
    tree, actions = agent.tree, agent.counts.num_actions
    first = node * actions
    untried = 0
    for u in range(actions):
        untried += tree.edge_visits[first + u] == 0
    if untried > 0:
        skip = below(agent.rng, untried) if untried > 1 else 0
        for u in range(actions):
            if tree.edge_visits[first + u] == 0:
                if skip == 0:
                    return u
                skip -= 1
    root_log = agent.root_log[min(tree.visits[node], len(agent.root_log) - 1)]
    best, chosen = -np.inf, 0
    for u in range(actions):
        n = min(tree.edge_visits[first + u], len(agent.inverse_root) - 1)
        bound = tree.edge_value[first + u] + root_log * agent.inverse_root[n]
        if bound > best:
            best, chosen = bound, u
    return chosen


@inlined
def rollout(agent: Bamcp, x: int, steps: int) -> float:
    """The return of some steps of the roll-out policy."""
    counts, actions = agent.counts, agent.counts.num_actions
    total, weight = 0.0, 1.0
    for _ in range(steps):
        if uniform(agent.rng) < agent.rollout_epsilon:
            u = below(agent.rng, actions)
        else:
            u = greedy(agent.rollout_q, x * actions, actions, 0.0, agent.rng)
        pair = x * actions + u
        y = draw(counts, agent.urn, pair, agent.rng)
        push(agent.counts, agent.urn, pair, y)
        total += weight * reward(agent, pair, y)
        weight *= agent.discount
        x = y
    return total


@inlined
def simulate(agent: Bamcp, x: int) -> None:
    """One simulation from the root, and its backup."""
    tree, actions = agent.tree, agent.counts.num_actions
    node, length, tried = ROOT, 0, True
    while length < agent.depth and tried:
        u = select(agent, node)
        edge, pair = node * actions + u, x * actions + u
        y = draw(agent.counts, agent.urn, pair, agent.rng)
        push(agent.counts, agent.urn, pair, y)
        agent.path[length] = edge
        agent.path_reward[length] = reward(agent, pair, y)
        length += 1
        x = y
        tried = tree.edge_visits[edge] > 0
        if tried:
            below_edge = find_node(tree, edge, y)
            node = add_node(tree, actions, edge, y) if below_edge == NO_NODE else below_edge
            tried = node != NO_NODE
    value = rollout(agent, x, agent.depth - length)
    for i in range(length - 1, -1, -1):
        value = agent.path_reward[i] + agent.discount * value
        edge = agent.path[i]
        tree.visits[edge // actions] += 1
        tree.edge_visits[edge] += 1
        tree.edge_value[edge] += (value - tree.edge_value[edge]) / tree.edge_visits[edge]
    undo(agent.urn, 0)


@cold
def search(agent: Bamcp, x: int) -> int:
    """Simulate, then choose the action of the highest mean return among those tried."""
    tree, actions = agent.tree, agent.counts.num_actions
    begin(agent.deadline)
    if tree.size[0] == 0:
        add_node(tree, actions, NO_NODE, x)
    for i in range(agent.simulations):
        simulate(agent, x)
        if is_over(agent.deadline, i + 1):
            break
    scale = 0.0
    for u in range(actions):
        scale = max(scale, abs(tree.edge_value[u]))
        agent.ranking[u] = tree.edge_value[u] if tree.edge_visits[u] > 0 else -np.inf
    return greedy(agent.ranking, 0, actions, scale, agent.rng)


@cold
def keep_subtree(agent: Bamcp, root: int) -> None:
    """Make a node the root: the nodes below it move up, the others go.

    Parents come before their children, so one pass in order does it in place.
    """
    tree, actions, kept = agent.tree, agent.counts.num_actions, agent.kept
    size = 0
    for node in range(tree.size[0]):
        edge = tree.parent[node]
        kept[node] = NO_NODE
        if node < root or (node > root and kept[edge // actions] == NO_NODE):
            continue
        kept[node] = size
        tree.visits[size] = tree.visits[node]
        tree.state[size] = tree.state[node]
        for u in range(actions):
            tree.edge_visits[size * actions + u] = tree.edge_visits[node * actions + u]
            tree.edge_value[size * actions + u] = tree.edge_value[node * actions + u]
            tree.edge_child[size * actions + u] = NO_NODE
        tree.parent[size] = tree.sibling[size] = NO_NODE
        if node > root:
            new_edge = kept[edge // actions] * actions + edge % actions
            tree.parent[size] = new_edge
            tree.sibling[size] = tree.edge_child[new_edge]
            tree.edge_child[new_edge] = size
        size += 1
    tree.size[0] = size


def start(agent: Bamcp, x: int) -> None:
    """Back to the prior, without a tree and with an ignorant roll-out policy."""
    began = now(agent.deadline)
    restore(agent.counts, agent.initial)
    agent.tree.size[0] = 0
    agent.rollout_q[:] = 0.0
    took(agent.deadline, START, began)


def act(agent: Bamcp, x: int) -> int:
    """Search."""
    return search(agent, x)


def observe(agent: Bamcp, x: int, u: int, y: int, r: float) -> None:
    """Learn counts and the roll-out policy; drop the tree, or what is not below (u, y)."""
    began = now(agent.deadline)
    actions = agent.counts.num_actions
    pair = x * actions + u
    add(agent.counts, pair, y)
    best = agent.rollout_q[y * actions]
    for v in range(1, actions):
        best = max(best, agent.rollout_q[y * actions + v])
    error = r + agent.discount * best - agent.rollout_q[pair]
    agent.rollout_q[pair] += agent.learning_rate * error
    has_tree = agent.reuse_tree and agent.tree.size[0] > 0
    node = find_node(agent.tree, u, y) if has_tree else NO_NODE
    if node == NO_NODE:
        agent.tree.size[0] = 0
    else:
        keep_subtree(agent, node)
    took(agent.deadline, OBSERVE, began)


register(Bamcp, start=start, act=act, observe=observe)
