"""BAMCP's search: UCT over histories, with the posterior sampled at the root by an urn.

A node is a history, reached by an edge (node, action) and a next state. Edges are numbered
`node * A + action`. Each simulation adds at most one node: the one below an edge that is taken
for the second time.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...kernels.choice import greedy
from ...kernels.counts import Counts, known_reward
from ...kernels.counts import reset as reset_counts
from ...kernels.jit import cold, inlined
from ...kernels.loop.deadline import OBSERVE, RESET, Deadline, begin, is_over, now, took
from ...kernels.loop.trajectory import register
from ...kernels.random.alias import Alias, build, pick
from ...kernels.random.rng import advance, below, load, next_word, store
from ...kernels.types import Floats, Integers, Words
from .urn import CopyingUrn, draw, learn, push, rebuild_all, undo

NO_NODE = -1
ROOT = 0

# Numbers that are used together lie together.
NODE = np.dtype(
    [
        ("root_log", np.float64),  # exploration * sqrt(ln(visits + 1))
        ("visits", np.int32),
        ("state", np.int32),  # the next state that led here
        ("sibling", np.int32),  # another node below the same edge
        ("parent", np.int32),  # the edge that led here
    ]
)
EDGE = np.dtype(
    [
        ("value", np.float64),  # mean return
        ("inverse_root", np.float64),  # 1 / sqrt(visits)
        ("visits", np.int32),
        ("child", np.int32),  # the first node below
    ]
)


class Tree(NamedTuple):
    """The search tree; M nodes fit."""

    size: Integers  # [1]
    nodes: NDArray[np.void]  # [M], of NODE
    edges: NDArray[np.void]  # [M * A], of EDGE


class Bamcp(NamedTuple):
    """The agent's state; D is the depth, K the number of simulations."""

    rng: Words
    counts: Counts
    initial: Counts
    urn: CopyingUrn
    tree: Tree
    kept: Integers  # [M]; work space of `keep_subtree`: the new number of a node
    ranking: Floats  # [A]; work space
    path: Integers  # [D]; the edges of a simulation
    path_reward: Floats  # [D]
    rewards: Floats  # [P * S], or empty where that is too much
    root_log: Floats  # [visits]; exploration * sqrt(ln(visits + 1))
    inverse_root: Floats  # [visits]; 1 / sqrt(visits)
    rollout_q: Floats  # [P]; learns from real transitions
    rollout_weight: Floats  # [P]; the roll-out policy's probability of an action
    rollout_table: Alias  # [P]; draws an action
    action_of: Integers  # [P]
    deadline: Deadline
    discount: float
    simulations: int
    depth: int
    rollout_epsilon: float
    learning_rate: float
    reuse_tree: bool


@inlined
def add_node(tree: Tree, actions: int, parent: int, y: int) -> int:
    """A new node below an edge, or none if the tree is full."""
    number = tree.size[0]
    if number == len(tree.nodes):
        return NO_NODE
    tree.size[0] = number + 1
    node = tree.nodes[np.uint64(number)]
    node["visits"] = 0
    node["state"] = y
    node["parent"] = parent
    node["sibling"] = NO_NODE
    if parent >= 0:
        edge = tree.edges[np.uint64(parent)]
        node["sibling"] = edge["child"]
        edge["child"] = number
    for e in range(number * actions, (number + 1) * actions):
        edge = tree.edges[np.uint64(e)]
        edge["value"] = 0.0
        edge["visits"] = 0
        edge["child"] = NO_NODE
    return number


@inlined
def find_node(tree: Tree, edge: int, y: int) -> int:
    """The node below an edge for a next state, or none."""
    number = int(tree.edges[np.uint64(edge)]["child"])
    while number != NO_NODE and tree.nodes[np.uint64(number)]["state"] != y:
        number = int(tree.nodes[np.uint64(number)]["sibling"])
    return number


@inlined
def select(agent: Bamcp, number: int) -> int:
    """An untried action at random, or else one with the highest upper confidence bound.

    The node then counts as visited.
    """
    tree, actions = agent.tree, agent.counts.num_actions
    node, first = tree.nodes[np.uint64(number)], number * actions
    visits = int(node["visits"])
    root_log = node["root_log"]
    node["visits"] = visits + 1
    node["root_log"] = agent.root_log[np.uint64(min(visits + 1, len(agent.root_log) - 1))]
    if visits < actions:  # each visit so far tried another action
        skip = below(agent.rng, actions - visits)
        for u in range(actions):
            if tree.edges[np.uint64(first + u)]["visits"] == 0:
                if skip == 0:
                    return u
                skip -= 1
    best, chosen = -np.inf, 0
    for u in range(actions):
        edge = tree.edges[np.uint64(first + u)]
        bound = edge["value"] + root_log * edge["inverse_root"]
        if bound > best:
            best, chosen = bound, u
    return chosen


@inlined
def rollout(agent: Bamcp, x: int, done: int) -> float:
    """The return of the roll-out policy, for the steps that are left after some in the tree."""
    actions = agent.counts.num_actions
    total, weight = 0.0, 1.0
    state = load(agent.rng)
    for i in range(done, agent.depth):
        word, state = advance(state)
        pair = x * actions + pick(agent.rollout_table, x * actions, actions, word)
        word, state = advance(state)
        other_word, state = advance(state)
        x = draw(agent.counts, agent.urn, pair, word, other_word)
        push(agent.urn, i, pair, x)
        total += weight * known_reward(agent.counts, agent.rewards, pair, x)
        weight *= agent.discount
    store(agent.rng, state)
    return total


@inlined
def simulate(agent: Bamcp, x: int) -> None:
    """One simulation from the root, and its backup."""
    tree, actions = agent.tree, agent.counts.num_actions
    node, length, tried = ROOT, 0, True
    while length < agent.depth and tried:
        u = select(agent, node)
        edge, pair = node * actions + u, x * actions + u
        x = draw(agent.counts, agent.urn, pair, next_word(agent.rng), next_word(agent.rng))
        push(agent.urn, length, pair, x)
        agent.path[length] = edge
        agent.path_reward[length] = known_reward(agent.counts, agent.rewards, pair, x)
        length += 1
        tried = tree.edges[np.uint64(edge)]["visits"] > 0
        if tried:
            node = find_node(tree, edge, x)
            if node == NO_NODE:
                node = add_node(tree, actions, edge, x)
            tried = node != NO_NODE
    value = rollout(agent, x, length)
    undo(agent.urn, agent.depth)
    for i in range(length - 1, -1, -1):
        value = agent.path_reward[i] + agent.discount * value
        taken = tree.edges[np.uint64(agent.path[i])]
        visits = int(taken["visits"]) + 1
        taken["visits"] = visits
        taken["inverse_root"] = agent.inverse_root[
            np.uint64(min(visits, len(agent.inverse_root) - 1))
        ]
        taken["value"] += (value - taken["value"]) / visits


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
        edge = tree.edges[u]
        scale = max(scale, abs(edge["value"]))
        agent.ranking[u] = edge["value"] if edge["visits"] > 0 else -np.inf
    return greedy(agent.ranking, 0, actions, scale, agent.rng)


@cold
def keep_subtree(agent: Bamcp, root: int) -> None:
    """Make a node the root: the nodes below it move up, the others go.

    Parents come before their children, so one pass in order does it in place.
    """
    tree, actions, kept = agent.tree, agent.counts.num_actions, agent.kept
    size = 0
    for number in range(tree.size[0]):
        parent = int(tree.nodes[number]["parent"])
        kept[number] = NO_NODE
        if number < root or (number > root and kept[parent // actions] == NO_NODE):
            continue
        kept[number] = size
        node = tree.nodes[size]
        node["visits"] = tree.nodes[number]["visits"]
        node["root_log"] = tree.nodes[number]["root_log"]
        node["state"] = tree.nodes[number]["state"]
        node["parent"] = node["sibling"] = NO_NODE
        for u in range(actions):
            edge, old_edge = tree.edges[size * actions + u], tree.edges[number * actions + u]
            edge["value"] = old_edge["value"]
            edge["visits"] = old_edge["visits"]
            edge["inverse_root"] = old_edge["inverse_root"]
            edge["child"] = NO_NODE
        if number > root:
            above = kept[parent // actions] * actions + parent % actions
            node["parent"] = above
            node["sibling"] = tree.edges[above]["child"]
            tree.edges[above]["child"] = size
        size += 1
    tree.size[0] = size


@cold
def set_rollout_policy(agent: Bamcp, x: int) -> None:
    """Make a state's table: random with the probability that is set, or else greedy."""
    actions, q, weight = agent.counts.num_actions, agent.rollout_q, agent.rollout_weight
    first, end = x * actions, (x + 1) * actions
    best, tied = -np.inf, 0
    for pair in range(first, end):
        if q[pair] > best:
            best, tied = q[pair], 0
        tied += q[pair] == best
    for pair in range(first, end):
        weight[pair] = agent.rollout_epsilon / actions
        if q[pair] == best:
            weight[pair] += (1 - agent.rollout_epsilon) / tied
    build(agent.rollout_table, agent.action_of, weight, first, actions)


def reset(agent: Bamcp, x: int) -> None:
    """Back to the prior, without a tree and with an ignorant roll-out policy."""
    began = now(agent.deadline)
    reset_counts(agent.counts, agent.initial)
    rebuild_all(agent.counts, agent.urn)
    agent.tree.size[0] = 0
    agent.rollout_q[:] = 0.0
    for state in range(agent.counts.num_states):
        set_rollout_policy(agent, state)
    took(agent.deadline, RESET, began)


def act(agent: Bamcp, x: int) -> int:
    """Search."""
    return search(agent, x)


def observe(agent: Bamcp, x: int, u: int, y: int, r: float) -> None:
    """Learn counts and the roll-out policy; drop the tree, or what is not below (u, y)."""
    began = now(agent.deadline)
    actions = agent.counts.num_actions
    pair = x * actions + u
    learn(agent.counts, agent.urn, pair, y)
    best = agent.rollout_q[y * actions]
    for v in range(1, actions):
        best = max(best, agent.rollout_q[y * actions + v])
    error = r + agent.discount * best - agent.rollout_q[pair]
    agent.rollout_q[pair] += agent.learning_rate * error
    set_rollout_policy(agent, x)
    has_tree = agent.reuse_tree and agent.tree.size[0] > 0
    node = find_node(agent.tree, u, y) if has_tree else NO_NODE
    if node == NO_NODE:
        agent.tree.size[0] = 0
    else:
        keep_subtree(agent, node)
    took(agent.deadline, OBSERVE, began)


register(Bamcp, reset=reset, act=act, observe=observe)
