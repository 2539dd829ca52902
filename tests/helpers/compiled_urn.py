"""Alias tables and the urn, which compiled code alone can call, made callable for tests."""

from brlbench.agents.bamcp import urn as urns
from brlbench.agents.bamcp.urn import Urn
from brlbench.kernels.jit import kernel
from brlbench.kernels.random import alias
from brlbench.kernels.random.alias import Alias
from brlbench.kernels.random.rng import next_word
from brlbench.kernels.types import Floats, Integers, Words


@kernel
def build(table: Alias, values: Integers, weights: Floats, first: int, cells: int) -> None:
    """`build`."""
    alias.build(table, values, weights, first, cells)


@kernel
def pick_all(table: Alias, first: int, cells: int, words: Words, out: Integers) -> None:
    """`pick` with each word."""
    for i in range(len(words)):
        out[i] = alias.pick(table, first, cells, words[i])


@kernel
def learn_all(urn: Urn, transitions: Integers) -> None:
    """Make all tables, then `learn` each transition [n, 3]."""
    for pair in range(len(urn.counts.total)):
        urns.make_table(urn, pair)
    for i in range(len(transitions)):
        pair = transitions[i, 0] * urn.counts.num_actions + transitions[i, 1]
        urns.learn(urn, pair, transitions[i, 2])


@kernel
def draw_sequences(
    urn: Urn,
    pairs: Integers,  # [L]
    rng: Words,
    out: Integers,  # [n, L]
) -> None:
    """Draw a next state of each pair in turn, each draw counting for the next; many times."""
    for i in range(out.shape[0]):
        for j in range(len(pairs)):
            out[i, j] = urns.draw(urn, pairs[j], next_word(rng), next_word(rng))
            urns.push(urn, j, pairs[j], out[i, j])
        urns.undo(urn, len(pairs))
