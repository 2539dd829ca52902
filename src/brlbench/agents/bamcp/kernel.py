"""BAMCP's search: UCT over histories, with the posterior sampled at the root by an urn.

Each simulation adds at most one node: the one below an edge that is taken for the second time.
"""

from typing import Any, NamedTuple

import numpy as np

from ...kernels.choice import greedy
from ...kernels.jit import cold, inlined
from ...kernels.loop.deadline import OBSERVE, RESET, Deadline, begin, is_over, now, took
from ...kernels.loop.trajectory import register
from ...kernels.random.rng import load, store
from ...kernels.types import Floats, Integers, Words
from . import leaf as leaves
from . import starts as beginnings
from . import tree as trees
from . import urn as urns
from .leaf import Leaf
from .tree import NO_EDGE, NO_NODE, ROOT, Tree
from .urn import Urn


class Steps(NamedTuple):
    """The steps of a simulation inside the tree; at most D, the depth."""

    edge: Integers  # [D]
    state: Integers  # [D]; the state after the step
    reward: Floats  # [D]


class Bamcp(NamedTuple):
    """The agent's state."""

    rng: Words
    urn: Urn  # the posterior
    starts: Any  # Starts, or Endless without episodes
    tree: Tree
    leaf: Leaf
    steps: Steps  # work space
    ranking: Floats  # [A]; work space
    deadline: Deadline
    discount: float
    simulations: int
    reuse_tree: bool


@inlined
def simulate(agent: Bamcp, x: int) -> None:
    """One simulation from the root, and its backup."""
    steps, urn = agent.steps, agent.urn
    urns.begin(urn, agent.rng)
    length, last = descend(agent.tree, urn, agent.starts, steps, x, agent.rng)
    value = leaves.value(
        agent.leaf,
        urn,
        agent.starts,
        agent.discount,
        last,
        steps.state,
        steps.reward,
        length,
        agent.rng,
    )
    for i in range(length - 1, -1, -1):
        value = steps.reward[i] + agent.discount * value
        trees.count_return(agent.tree, steps.edge[i], value)


@inlined
def descend(tree: Tree, urn: Urn, starts: Any, steps: Steps, x: int, rng: Words) -> tuple[int, int]:
    """Follow the tree from the root in x to its end; return the number of steps, the last state."""
    node, length = ROOT, 0
    while length < len(steps.edge) and node != NO_NODE:
        u = trees.select(tree, node, rng)
        edge, pair = node * tree.num_actions + u, x * tree.num_actions + u
        x, state = urns.draw(urn, pair, load(rng))
        store(rng, state)
        urns.push(urn, length, pair, x)
        steps.edge[length] = edge
        steps.state[length] = x
        steps.reward[length] = urns.reward(urn, pair, x)
        outcome = urns.outcome(urn, pair, x)
        x, outcome = beginnings.go_on_in_tree(starts, length, x, outcome, rng)
        length += 1
        node = trees.next_node(tree, edge, outcome)
    return length, x


@cold
def search(agent: Bamcp, x: int) -> int:
    """Simulate, then choose the action with the highest mean return among those tried."""
    tree, actions = agent.tree, agent.tree.num_actions
    begin(agent.deadline)
    if tree.size[0] == 0:
        trees.add_node(tree, NO_EDGE, x)
    leaves.begin(agent.leaf)
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


def reset(agent: Bamcp, x: int) -> None:
    """Back to the prior, without a tree."""
    began = now(agent.deadline)
    urns.reset(agent.urn, x)
    beginnings.begin(agent.starts)
    agent.tree.size[0] = 0
    leaves.reset(agent.leaf, x)
    took(agent.deadline, RESET, began)


def act(agent: Bamcp, x: int) -> int:
    """Search."""
    return search(agent, x)


def observe(agent: Bamcp, x: int, u: int, y: int, r: float) -> None:
    """Let the posterior and the leaf learn; keep the tree below u and its outcome, or none.

    Where an episode ends, none is kept, and nothing follows that the leaf could learn.
    """
    began = now(agent.deadline)
    tree, pair = agent.tree, x * agent.tree.num_actions + u
    outcome = urns.real_outcome(agent.urn, pair, y, r)
    urns.learn(agent.urn, pair, y, r)
    beginnings.advance_one(agent.starts)
    has_tree, discount = agent.reuse_tree and tree.size[0] > 0, agent.discount
    if beginnings.at_border(agent.starts):
        has_tree, discount = False, 0.0
    leaves.learn(agent.leaf, discount, x, u, y, r)
    node = trees.find_node(tree, u, outcome) if has_tree else NO_NODE
    if node == NO_NODE:
        tree.size[0] = 0
    else:
        trees.keep_subtree(tree, node)
    took(agent.deadline, OBSERVE, began)


register(Bamcp, reset=reset, act=act, observe=observe)
