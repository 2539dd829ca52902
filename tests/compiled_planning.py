"""What the searching agents' compiled code alone can call, made callable for tests."""

import numpy as np
from numpy.typing import NDArray

from brlbench.kernels import bfs3, rng, urn
from brlbench.kernels.bfs3 import Bfs3
from brlbench.kernels.counts import Counts
from brlbench.kernels.fsss import ALL_SPECIAL
from brlbench.kernels.jit import kernel
from brlbench.kernels.rng import Words
from brlbench.kernels.urn import Urn

Integers = NDArray[np.int64]


@kernel
def draw_binomial(state: Words, trials: int, probability: float, out: Integers) -> None:
    """`binomial`, many times."""
    for i in range(len(out)):
        out[i] = rng.binomial(state, trials, probability)


@kernel
def draw_next(kept: Counts, beside: Urn, pair: int, state: Words) -> int:
    """`draw`."""
    return urn.draw(kept, beside, pair, state)


@kernel
def push_draw(kept: Counts, beside: Urn, pair: int, y: int) -> None:
    """`push`."""
    urn.push(kept, beside, pair, y)


@kernel
def undo_draws(beside: Urn, draws: int) -> None:
    """`undo`."""
    urn.undo(beside, draws)


@kernel
def draw_sequences(
    kept: Counts,
    beside: Urn,
    pairs: Integers,  # [L]
    state: Words,
    out: Integers,  # [n, L]
) -> None:
    """Draw a next state of each pair in turn, each draw counting for the next; many times."""
    for i in range(out.shape[0]):
        for j in range(len(pairs)):
            out[i, j] = urn.draw(kept, beside, pairs[j], state)
            urn.push(kept, beside, pairs[j], out[i, j])
        urn.undo(beside, 0)


@kernel
def expand_often(agent: Bfs3, x: int, out: Integers) -> None:
    """The number of draws of each next state, out [n, A, S], in new nodes at the same history."""
    actions, tree = agent.counts.num_actions, agent.tree
    for n in range(out.shape[0]):
        agent.tree.size[0] = agent.tree.size[1] = 0
        bfs3.expand(agent, x)
        for u in range(actions):
            if agent.num_special[x * actions + u] != ALL_SPECIAL:
                bfs3.draw_outcomes(agent, u)
            for i in range(tree.edge[u].first, tree.edge[u].end):
                out[n, u, tree.outcome[i].next_state] += tree.outcome[i].times


@kernel
def upper_bound(agent: Bfs3, x: int) -> float:
    """`upper_bound`."""
    return bfs3.upper_bound(agent, x)


@kernel
def more_rollouts(agent: Bfs3, number: int) -> None:
    """`rollout`, whether the search is complete or not."""
    for _ in range(number):
        bfs3.rollout(agent)


@kernel
def expand(agent: Bfs3, x: int) -> int:
    """`expand`."""
    return bfs3.expand(agent, x)


@kernel
def draw_outcomes(agent: Bfs3, e: int) -> None:
    """`draw_outcomes`."""
    bfs3.draw_outcomes(agent, e)


@kernel
def count(agent: Bfs3, pair: int, y: int, times: int) -> None:
    """`count`."""
    bfs3.count(agent, pair, y, bfs3.entry_of(agent, pair, y), times)
