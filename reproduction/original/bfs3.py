"""BFS3 as the original library plays it, without shortcuts.

x, u, y are a state, an action and the next state; i is the place of y among the next states that
the prior allows for the pair, in ascending order. Values of FSSS's nodes are sums in that order,
with the original's order of operations, so that they round alike.
"""

from typing import NamedTuple

import numpy as np

from brlbench.beliefs.flat import FlatDirichlet
from brlbench.kernels.jit import cold, inlined
from brlbench.kernels.loop.trajectory import register
from brlbench.kernels.random.rng import binomial, load, store, uniform
from brlbench.kernels.types import Floats, Integers, Words

from .choosing import highest, random_best

ROOT, NO_NODE = 0, -1


class Belief(NamedTuple):
    """What is known of each pair's next states; n is the largest number of next states."""

    number: Integers  # [S, A]; of next states
    next_state: Integers  # [S, A, n]
    reward: Floats  # [S, A, n]
    prior: Floats  # [S, A, n]
    seen: Integers  # [S, A, n]; real transitions, and during a roll-out those of its path
    weight: Floats  # [n]; work space


class Tree(NamedTuple):
    """The nodes of one search: histories after its root."""

    size: Integers  # [1]
    draws: Integers  # [nodes, A, n]; how often each next state was drawn
    child: Integers  # [nodes, A, n]; the node that follows, or NO_NODE
    upper: Floats  # [nodes]
    lower: Floats  # [nodes]
    upper_of: Floats  # [nodes, A]; bounds on the values of actions
    lower_of: Floats  # [nodes, A]


class Path(NamedTuple):
    """The steps of one roll-out."""

    node: Integers  # [depth]
    state: Integers  # [depth]
    action: Integers  # [depth]
    place: Integers  # [depth]; of the next state


class Bfs3(NamedTuple):
    """The agent's state."""

    rng: Words
    belief: Belief
    tree: Tree
    path: Path
    q: Floats  # [A]
    gaps: Floats  # [n]; work space
    branching: int
    rollouts: int  # from each drawn next state
    discount: float
    value_min: float
    value_max: float
    tolerance: float  # absolute


def reset(agent: Bfs3, x: int) -> None:
    """Forget all transitions."""
    agent.belief.seen[:] = 0


def observe(agent: Bfs3, x: int, u: int, y: int, r: float) -> None:
    """Count the transition."""
    for i in range(agent.belief.number[x, u]):
        if agent.belief.next_state[x, u, i] == y:
            agent.belief.seen[x, u, i] += 1


def act(agent: Bfs3, x: int) -> int:
    """A best action by the mean of FSSS's upper bounds at its drawn next states."""
    belief = agent.belief
    for u in range(len(agent.q)):
        total = 0.0
        for _ in range(agent.branching):
            i = draw(belief, x, u, weigh(belief, x, u), agent.rng)
            belief.seen[x, u, i] += 1
            later = search(agent, belief.next_state[x, u, i])
            belief.seen[x, u, i] -= 1
            total += (belief.reward[x, u, i] + agent.discount * later) / agent.branching
        agent.q[u] = total
    return random_best(agent.q, agent.tolerance, agent.rng)


register(Bfs3, reset=reset, act=act, observe=observe)


@inlined
def weigh(belief: Belief, x: int, u: int) -> float:
    """Set the weights of a pair's next states, and return their sum."""
    total = 0.0
    for i in range(belief.number[x, u]):
        belief.weight[i] = belief.prior[x, u, i] + belief.seen[x, u, i]
        total += belief.weight[i]
    return total


@inlined
def draw(belief: Belief, x: int, u: int, total: float, rng: Words) -> int:
    """The place of a next state, drawn from the mean of the belief, after `weigh`."""
    chance, last = uniform(rng) * total, belief.number[x, u] - 1
    for i in range(last):
        chance -= belief.weight[i]
        if chance < 0:
            return i
    return last


@cold
def search(agent: Bfs3, x: int) -> float:
    """FSSS: the upper bound of the value of x after some roll-outs, in a new tree."""
    agent.tree.size[0] = 0
    add_node(agent, x)
    for _ in range(agent.rollouts):
        roll_out(agent, x)
    return agent.tree.upper[ROOT]


@inlined
def roll_out(agent: Bfs3, x: int) -> None:
    """From the root to the depth, along the highest upper bounds and the widest gaps."""
    belief, tree, path, node = agent.belief, agent.tree, agent.path, ROOT
    depth = len(path.node)
    for level in range(depth):
        u = random_best(tree.upper_of[node], agent.tolerance, agent.rng)
        i = widest(agent, node, x, u)
        path.node[level], path.state[level] = node, x
        path.action[level], path.place[level] = u, i
        belief.seen[x, u, i] += 1
        if level + 1 < depth:  # what is below the last step keeps the widest bounds
            x = belief.next_state[x, u, i]
            if tree.child[node, u, i] == NO_NODE:
                tree.child[node, u, i] = add_node(agent, x)
            node = tree.child[node, u, i]
    for level in range(depth - 1, -1, -1):
        back_up(agent, path.node[level], path.state[level])
        belief.seen[path.state[level], path.action[level], path.place[level]] -= 1


@inlined
def widest(agent: Bfs3, node: int, x: int, u: int) -> int:
    """The place of a drawn next state with the widest gap between its bounds, times its draws."""
    number = agent.belief.number[x, u]
    for i in range(number):
        lower, upper = bounds(agent, node, u, i)
        agent.gaps[i] = (upper - lower) * agent.tree.draws[node, u, i]
    return random_best(agent.gaps[:number], agent.tolerance, agent.rng)


@inlined
def bounds(agent: Bfs3, node: int, u: int, i: int) -> tuple[float, float]:
    """The bounds of the value of a next state."""
    child = agent.tree.child[node, u, i]
    if child == NO_NODE:
        return agent.value_min, agent.value_max
    return agent.tree.lower[child], agent.tree.upper[child]


@inlined
def add_node(agent: Bfs3, x: int) -> int:
    """Draw the next states of all actions."""
    belief, tree, node = agent.belief, agent.tree, agent.tree.size[0]
    tree.size[0] += 1
    for u in range(len(agent.q)):
        for i in range(belief.number[x, u]):
            tree.child[node, u, i] = NO_NODE
        draw_all(agent, node, x, u)
    back_up(agent, node, x)
    return node


@inlined
def draw_all(agent: Bfs3, node: int, x: int, u: int) -> None:
    """Draw all next states of a pair at once: the number of each is binomial, given the others."""
    belief, left = agent.belief, agent.branching
    total, last = weigh(belief, x, u), belief.number[x, u] - 1
    for i in range(last):
        drawn, words = binomial(load(agent.rng), left, belief.weight[i] / total)
        store(agent.rng, words)
        agent.tree.draws[node, u, i] = drawn
        left -= drawn
        total -= belief.weight[i]
    agent.tree.draws[node, u, last] = left


@inlined
def back_up(agent: Bfs3, node: int, x: int) -> None:
    """Bellman's equation for both bounds."""
    belief, tree = agent.belief, agent.tree
    for u in range(len(agent.q)):
        lower_sum = upper_sum = 0.0
        for i in range(belief.number[x, u]):
            draws, reward = tree.draws[node, u, i], belief.reward[x, u, i]
            if draws > 0:
                lower, upper = bounds(agent, node, u, i)
                lower_sum += (reward + agent.discount * lower) * draws / agent.branching
                upper_sum += (reward + agent.discount * upper) * draws / agent.branching
        tree.lower_of[node, u], tree.upper_of[node, u] = lower_sum, upper_sum
    tree.lower[node] = highest(tree.lower_of[node])
    tree.upper[node] = highest(tree.upper_of[node])


def build_belief(prior: FlatDirichlet) -> Belief:
    """The prior, without transitions."""
    table, pairs = prior.counts, (prior.num_states, prior.num_actions)
    number = np.diff(table.row_start)
    most = int(number.max())
    place = np.arange(len(table.values)) - table.row_start[table.pair]
    next_state = np.zeros((len(number), most), np.int64)
    reward, counts = np.zeros((len(number), most)), np.zeros((len(number), most))
    next_state[table.pair, place] = table.next_state
    reward[table.pair, place] = prior.rewards.mean.at(table)
    counts[table.pair, place] = table.values
    return Belief(
        number=number.reshape(pairs),
        next_state=next_state.reshape(*pairs, most),
        reward=reward.reshape(*pairs, most),
        prior=counts.reshape(*pairs, most),
        seen=np.zeros((*pairs, most), np.int64),
        weight=np.zeros(most),
    )


def build_tree(nodes: int, actions: int, most: int) -> Tree:
    """Room for some nodes, with at most `most` next states per action."""
    shape = (nodes, actions, most)
    return Tree(
        size=np.zeros(1, np.int64),
        draws=np.zeros(shape, np.int64),
        child=np.zeros(shape, np.int64),
        upper=np.zeros(nodes),
        lower=np.zeros(nodes),
        upper_of=np.zeros(shape[:2]),
        lower_of=np.zeros(shape[:2]),
    )


def build_path(depth: int) -> Path:
    """Room for one roll-out."""
    return Path(*(np.zeros(depth, np.int64) for _ in Path._fields))
