"""Alias tables and the copying urn, which compiled code alone can call, made callable for tests."""

import numpy as np
from numpy.typing import NDArray

from brlbench.agents.bamcp import urn as copying_urn
from brlbench.agents.bamcp.urn import CopyingUrn
from brlbench.kernels.counts import Counts
from brlbench.kernels.jit import kernel
from brlbench.kernels.random import alias
from brlbench.kernels.random.alias import Alias
from brlbench.kernels.random.rng import next_word
from brlbench.kernels.types import Words

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


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
def learn_all(counts: Counts, urn: CopyingUrn, transitions: Integers) -> None:
    """Make tables, then `learn` each transition [n, 3]."""
    copying_urn.rebuild_all(counts, urn)
    for i in range(len(transitions)):
        pair = transitions[i, 0] * counts.num_actions + transitions[i, 1]
        copying_urn.learn(counts, urn, pair, transitions[i, 2])


@kernel
def draw_sequences(
    counts: Counts,
    urn: CopyingUrn,
    pairs: Integers,  # [L]
    rng: Words,
    out: Integers,  # [n, L]
) -> None:
    """Draw a next state of each pair in turn, each draw counting for the next; many times."""
    for i in range(out.shape[0]):
        for j in range(len(pairs)):
            out[i, j] = copying_urn.draw(counts, urn, pairs[j], next_word(rng), next_word(rng))
            copying_urn.push(urn, j, pairs[j], out[i, j])
        copying_urn.undo(urn, len(pairs))
