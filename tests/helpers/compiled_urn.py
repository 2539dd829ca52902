"""Alias tables and the urn, which compiled code alone can call, made callable for tests."""

from brlbench.agents.bamcp import urn as urns
from brlbench.agents.bamcp.case_urn import HYPOTHESIS, CaseUrn
from brlbench.agents.bamcp.urn import Urn
from brlbench.kernels.jit import kernel
from brlbench.kernels.random import alias
from brlbench.kernels.random.alias import Alias
from brlbench.kernels.random.rng import advance, load, store
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
    """`reset`, then `learn` each transition [n, 3]."""
    urns.reset(urn, 0)
    for i in range(len(transitions)):
        pair = transitions[i, 0] * urn.counts.num_actions + transitions[i, 1]
        urns.learn(urn, pair, transitions[i, 2], 0.0)


@kernel
def draw_sequences(
    urn: Urn,
    pairs: Integers,  # [L]
    rng: Words,
    out: Integers,  # [n, L]
) -> None:
    """Draw a next state of each pair in turn, each draw counting for the next; many times."""
    state = load(rng)
    for i in range(out.shape[0]):
        for j in range(len(pairs)):
            if j % 2 == 0:
                y, state = urns.draw(urn, pairs[j], state)
            else:
                word, state = advance(state)
                y, state = urns.draw_after(urn, pairs[j], word, state)
            urns.push(urn, j, pairs[j], y)
            out[i, j] = y
        urns.undo(urn, len(pairs))
    store(rng, state)


@kernel
def draw_cases(urn: CaseUrn, rng: Words, out: Integers) -> None:
    """The hypotheses [n] that begin simulations."""
    for i in range(len(out)):
        urns.begin(urn, rng)
        out[i] = urn.last[HYPOTHESIS]


@kernel
def learn_case(urn: CaseUrn, pair: int, y: int, r: float) -> None:
    """`learn`."""
    urns.learn(urn, pair, y, r)


@kernel
def reset_cases(urn: CaseUrn, x: int) -> None:
    """`reset`."""
    urns.reset(urn, x)
