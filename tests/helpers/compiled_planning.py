"""What the searching agents' compiled code alone can call, made callable for tests."""

import numpy as np
from numpy.typing import NDArray

from brlbench.agents.bfs3 import belief as path_belief
from brlbench.agents.bfs3 import fsss, outcomes
from brlbench.agents.bfs3.belief import NO_ENTRY
from brlbench.agents.bfs3.tree import NO_EDGE, NO_NODE, Bfs3
from brlbench.kernels.jit import kernel
from brlbench.kernels.random import rng
from brlbench.kernels.types import Words

Integers = NDArray[np.int64]


@kernel
def draw_binomial(state: Words, trials: int, probability: float, out: Integers) -> None:
    """`binomial`, many times."""
    for i in range(len(out)):
        out[i] = rng.binomial(state, trials, probability)


@kernel
def expand_often(agent: Bfs3, x: int, out: Integers) -> None:
    """The number of draws of each next state, out [n, A, S], in new nodes at the same history."""
    actions, tree = agent.belief.counts.num_actions, agent.tree
    for n in range(out.shape[0]):
        tree.size[:] = 0
        fsss.make_arms(agent, fsss.expand(agent, x))
        for u in range(actions):
            if tree.arm[u].edge == NO_EDGE:
                tree.arm[u].edge, _ = outcomes.draw_edge(agent, u, x * actions + u, 0.0)
            edge = tree.edge[tree.arm[u].edge]
            for i in range(edge.first, edge.end):
                out[n, u, tree.outcome[i].next_state] += tree.outcome[i].times


@kernel
def upper_bound(agent: Bfs3, x: int) -> float:
    """`upper_bound`, in an empty tree."""
    agent.tree.size[:] = 0
    fsss.tighten(agent, fsss.expand(agent, x), agent.rollouts)
    return float(agent.tree.node[0].upper)


@kernel
def more_rollouts(agent: Bfs3, number: int) -> None:
    """Roll-outs from the root and back to it, whether the search is complete or not."""
    for _ in range(number):
        fsss.ascend(agent, fsss.descend(agent, 0), True)


@kernel
def expand(agent: Bfs3, x: int) -> int:
    """`expand`."""
    return fsss.expand(agent, x)


@kernel
def make_arms(agent: Bfs3, n: int) -> None:
    """`make_arms`."""
    fsss.make_arms(agent, n)


@kernel
def make_all_again(agent: Bfs3, n: int, level: int) -> int:
    """Have no sketches below a node, and have all arms know what their nodes know of them."""
    tree, actions = agent.tree, agent.belief.counts.num_actions
    fsss.make_arms(agent, n)
    for arm in range(n * actions, (n + 1) * actions):
        if tree.arm[arm].edge != NO_EDGE:
            edge = tree.edge[tree.arm[arm].edge]
            for i in range(edge.first, edge.end):
                outcome = tree.outcome[i]
                if outcome.child != NO_NODE:
                    path_belief.count(agent.belief, edge.pair, outcome.next_state, outcome.entry)
                    if outcome.child < NO_NODE:
                        sketch = fsss.sketch_or_child(outcome.child)
                        y = outcome.next_state
                        outcome.child = fsss.make_again(agent, sketch, y, level + 1)
                    make_all_again(agent, outcome.child, level + 1)
                    path_belief.take_back(agent.belief, edge.pair, outcome.entry)
    return 0


@kernel
def draw_edge(agent: Bfs3, arm: int, pair: int) -> int:
    """`draw_edge`, of an arm."""
    return outcomes.draw_edge(agent, arm, pair, agent.tree.arm[arm].reward)[0]


@kernel
def count(agent: Bfs3, pair: int, y: int, entry: int) -> None:
    """`count`."""
    path_belief.count(agent.belief, pair, y, entry)


@kernel
def take_back(agent: Bfs3, pair: int, entry: int) -> None:
    """`take_back`."""
    path_belief.take_back(agent.belief, pair, entry)


@kernel
def count_any(agent: Bfs3, pair: int, y: int) -> None:
    """`count`, of a next state that may have an entry or not."""
    path_belief.count(agent.belief, pair, y, entry_of(agent, pair, y))


@kernel
def entry_of(agent: Bfs3, pair: int, y: int) -> int:
    """The entry of a next state, if it has one."""
    row = agent.belief.pair[pair].row
    for entry in range(row, row + agent.belief.pair[pair].length):
        if agent.belief.entry[entry].next_state == y:
            return entry
    return NO_ENTRY
