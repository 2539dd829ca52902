"""BAMCP's search: UCT over histories, with the posterior sampled at the root by an urn.

Each simulation adds at most one node: the one below an edge that is taken for the second time.
"""

from typing import NamedTuple

import numpy as np

from ...kernels.choice import greedy
from ...kernels.counts import known_reward
from ...kernels.jit import cold, inlined
from ...kernels.loop.deadline import OBSERVE, RESET, Deadline, begin, is_over, now, took
from ...kernels.loop.trajectory import register
from ...kernels.random.alias import pick
from ...kernels.random.rng import advance, load, next_word, store
from ...kernels.solving import model as models
from ...kernels.solving.undo import learn, save
from ...kernels.types import Floats, Integers, Words
from . import tree as trees
from . import urn as urns
from .leaf import ROLLOUT, UPDATED_VALUE, Leaf, value_of
from .rollout import RolloutPolicy, learn_policy, reset_policy
from .tree import NO_EDGE, NO_NODE, ROOT, Tree
from .urn import Urn, draw, push, undo


class Steps(NamedTuple):
    """The steps of a simulation inside the tree; at most D, the depth."""

    edge: Integers  # [D]
    state: Integers  # [D]; the state after the step
    reward: Floats  # [D]


class Bamcp(NamedTuple):
    """The agent's state."""

    rng: Words
    urn: Urn  # the posterior
    tree: Tree
    policy: RolloutPolicy
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
    length, last = descend(agent.tree, urn, steps, x, agent.rng)
    if agent.leaf.kind == ROLLOUT:
        value = roll_out(agent.policy, urn, agent.discount, last, length, agent.rng)
        undo(urn, len(steps.edge))
    else:
        value = value_of(agent.leaf, last, urn.pair_of, steps.state, length)
        undo(urn, length)
    for i in range(length - 1, -1, -1):
        value = steps.reward[i] + agent.discount * value
        trees.count_return(agent.tree, steps.edge[i], value)


@inlined
def descend(tree: Tree, urn: Urn, steps: Steps, x: int, rng: Words) -> tuple[int, int]:
    """Follow the tree from the root in x to its end; return the number of steps, the last state."""
    node, length = ROOT, 0
    while length < len(steps.edge) and node != NO_NODE:
        u = trees.select(tree, node, rng)
        edge, pair = node * tree.num_actions + u, x * tree.num_actions + u
        x = draw(urn, pair, next_word(rng), next_word(rng))
        push(urn, length, pair, x)
        steps.edge[length] = edge
        steps.state[length] = x
        steps.reward[length] = known_reward(urn.counts, urn.rewards, pair, x)
        length += 1
        node = trees.next_node(tree, edge, x)
    return length, x


@inlined
def roll_out(
    policy: RolloutPolicy, urn: Urn, discount: float, x: int, done: int, rng: Words
) -> float:
    """The return of the roll-out policy from x, for the steps left after those done in the tree."""
    actions = policy.num_actions
    total, weight = 0.0, 1.0
    state = load(rng)
    for i in range(done, urn.limit):
        word, state = advance(state)
        pair = x * actions + pick(policy.table, x * actions, actions, word)
        word, state = advance(state)
        other_word, state = advance(state)
        x = draw(urn, pair, word, other_word)
        push(urn, i, pair, x)
        total += weight * known_reward(urn.counts, urn.rewards, pair, x)
        weight *= discount
    store(rng, state)
    return total


@cold
def search(agent: Bamcp, x: int) -> int:
    """Simulate, then choose the action with the highest mean return among those tried."""
    tree, actions = agent.tree, agent.tree.num_actions
    begin(agent.deadline)
    if tree.size[0] == 0:
        trees.add_node(tree, NO_EDGE, x)
    if agent.leaf.kind == UPDATED_VALUE:  # every simulation goes back to this solution
        save(agent.leaf.model, agent.leaf.saved, 0)
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
    """Back to the prior, without a tree and with a roll-out policy that knows nothing."""
    began = now(agent.deadline)
    urns.reset(agent.urn)
    agent.tree.size[0] = 0
    reset_policy(agent.policy)
    if agent.leaf.kind != ROLLOUT:
        models.reset(agent.leaf.model, agent.leaf.initial)
    took(agent.deadline, RESET, began)


def act(agent: Bamcp, x: int) -> int:
    """Search."""
    return search(agent, x)


def observe(agent: Bamcp, x: int, u: int, y: int, r: float) -> None:
    """Let the posterior and the roll-out policy learn; keep the tree below (u, y), or none."""
    began = now(agent.deadline)
    tree = agent.tree
    urns.learn(agent.urn, x * tree.num_actions + u, y)
    learn_policy(agent.policy, agent.discount, x, u, y, r)
    if agent.leaf.kind != ROLLOUT:
        learn(agent.leaf.model, x, u, y)
    has_tree = agent.reuse_tree and tree.size[0] > 0
    node = trees.find_node(tree, u, y) if has_tree else NO_NODE
    if node == NO_NODE:
        tree.size[0] = 0
    else:
        trees.keep_subtree(tree, node)
    took(agent.deadline, OBSERVE, began)


register(Bamcp, reset=reset, act=act, observe=observe)
