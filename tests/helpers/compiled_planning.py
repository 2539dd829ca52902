"""Functions that only compiled code can call, made callable for tests of searching agents."""

import numpy as np
from numpy.typing import NDArray

from brlbench.agents.bfs3 import belief as path_belief
from brlbench.agents.bfs3 import bounds, fsss, outcomes
from brlbench.agents.bfs3.belief import NO_ENTRY
from brlbench.agents.bfs3.kernel import Bfs3
from brlbench.agents.bfs3.tree import IS_SKETCH, NO_EDGE, NOT_FOLLOWED
from brlbench.kernels.jit import inlined, kernel
from brlbench.kernels.random import multinomial, rng
from brlbench.kernels.types import Floats, Words

Integers = NDArray[np.int64]


@kernel
def draw_binomial(state: Words, trials: int, probability: float, out: Integers) -> None:
    """`binomial`, many times."""
    for i in range(len(out)):
        out[i], words = rng.binomial(rng.load(state), trials, probability)
        rng.store(state, words)


@kernel
def share_first(state: Words, number: int, part: float, out: Floats) -> None:
    """The first part, of weight `part` in 1, of some draws; by `share_next`, and by its end.

    Per draw, out [n, 2, 9] has what is shared, and the generator's words afterwards.
    """
    digits, inside = multinomial.first_end(1.0, part)
    for i in range(len(out)):
        draws, words = multinomial.new_draws(rng.load(state), number, 1.0)
        shared, after = multinomial.share_next(words, draws, multinomial.NOTHING_SHARED, part)
        other, other_after = multinomial.share_first(words, draws, part, digits, inside)
        write(out[i, 0], shared, after)
        write(out[i, 1], other, other_after)
        rng.store(state, after)


@inlined
def write(out: Floats, shared: multinomial.Shared, words: rng.State) -> None:
    """Shared draws and a generator's words as numbers."""
    out[0], out[1], out[2] = shared.number, shared.weight, shared.digit
    out[3], out[4] = shared.inside, shared.undecided
    out[5] = shared.passed
    for j in range(3):
        out[6 + j] = words[j] >> np.uint64(11)  # fits into a float


@kernel
def draw_words(state: Words, number: int, skipped: Words) -> None:
    """Make some draws; `skipped` are the words after skipping them, from the same words."""
    rng.store(skipped, multinomial.skip_draws(rng.load(state), number))
    _, words = multinomial.new_draws(rng.load(state), number, 1.0)
    rng.store(state, words)


@kernel
def expand_often(agent: Bfs3, x: int, out: Integers) -> None:
    """The number of draws of each next state, out [n, A, S], in new nodes at the same history."""
    tree = agent.tree
    for n in range(out.shape[0]):
        tree.size[:] = 0
        make_arms(agent, expand(agent, x))
        for u in range(tree.num_actions):
            if tree.arm[u].edge == NO_EDGE:
                tree.arm[u].edge = draw_edge(agent, u, x * tree.num_actions + u)
            edge = tree.edge[tree.arm[u].edge]
            for i in range(edge.first, edge.end):
                out[n, u, tree.outcome[i].next_state] += tree.outcome[i].times


@kernel
def upper_bound(agent: Bfs3, x: int, rollouts: int) -> float:
    """The upper bound of a root's value after some roll-outs, in an empty tree."""
    agent.tree.size[:] = 0
    root = expand(agent, x)
    _, agent.made[0] = fsss.tighten(
        agent.tree,
        agent.belief,
        agent.path,
        agent.constants,
        agent.deadline,
        root,
        rollouts,
        agent.rng,
    )
    return float(agent.tree.node[root].upper)


@kernel
def more_rollouts(agent: Bfs3, number: int) -> None:
    """Roll-outs from the root and back to it, even if the search is complete."""
    tree, belief, path, constants = agent.tree, agent.belief, agent.path, agent.constants
    for _ in range(number):
        level = fsss.descend(tree, belief, path, constants, 0, agent.rng)
        fsss.ascend(tree, belief, path, constants, level, True)


@kernel
def expand(agent: Bfs3, x: int) -> int:
    """`expand`."""
    return fsss.expand(agent.tree, agent.belief, agent.constants, x, agent.rng)


@kernel
def make_arms(agent: Bfs3, n: int) -> None:
    """`make_arms`."""
    bounds.make_arms(agent.tree, agent.belief, n)


@kernel
def make_all_again(agent: Bfs3, n: int, level: int) -> int:
    """Turn all sketches below a node into nodes, and bring all arms there up to date."""
    tree, belief = agent.tree, agent.belief
    bounds.make_arms(tree, belief, n)
    for arm in range(n * tree.num_actions, (n + 1) * tree.num_actions):
        if tree.arm[arm].edge != NO_EDGE:
            edge = tree.edge[tree.arm[arm].edge]
            for i in range(edge.first, edge.end):
                outcome = tree.outcome[i]
                if outcome.child_kind != NOT_FOLLOWED:
                    path_belief.count(belief, edge.pair, outcome.next_state, outcome.entry)
                    if outcome.child_kind == IS_SKETCH:
                        fsss.make_node(tree, belief, agent.constants, outcome, level + 1, agent.rng)
                    make_all_again(agent, outcome.child + 0, level + 1)  # 64 bits
                    path_belief.take_back(belief, edge.pair, outcome.entry)
    return 0


@kernel
def draw_edge(agent: Bfs3, arm: int, pair: int) -> int:
    """`draw_edge`, with the arm's reward set."""
    tree, constants = agent.tree, agent.constants
    words = rng.load(agent.rng)
    edge, _, words = outcomes.draw_edge(tree, agent.belief, constants.branching, arm, pair, words)
    rng.store(agent.rng, words)
    bounds.set_reward(constants, tree.edge[edge], tree.arm[arm].reward)
    return edge


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
    """`count`, with or without an entry for the next state."""
    path_belief.count(agent.belief, pair, y, entry_of(agent, pair, y))


@kernel
def entry_of(agent: Bfs3, pair: int, y: int) -> int:
    """The entry of a next state, if it has one."""
    row = agent.belief.pair[pair].row
    for entry in range(row, row + agent.belief.pair[pair].length):
        if agent.belief.entry[entry].next_state == y:
            return entry
    return NO_ENTRY
