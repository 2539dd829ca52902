"""An urn with tables of the posterior's counts, and a list of draws per pair.

Each draw takes constant time: the counts have alias tables, which are made anew only when the
posterior learns.
"""

from typing import NamedTuple

import numpy as np

from ...beliefs.flat import FlatDirichlet
from ...builders.model import build_counts, copy
from ...builders.planning import build_alias, reward_table
from ...kernels.arrays import at
from ...kernels.counts import Counts, add
from ...kernels.counts import reset as reset_counts
from ...kernels.jit import cold, inlined
from ...kernels.random.alias import Alias, build, pick
from ...kernels.random.rng import State, advance, unit
from ...kernels.types import Floats, ShortIntegers


class TableUrn(NamedTuple):
    """The posterior, and up to L draws from one of its MDPs."""

    counts: Counts
    initial: Counts  # the prior's
    rewards: Floats  # [P * S], or empty where that is too much
    limit: int  # L
    tables: Alias  # [pool]; each row's table is at the place of its entries
    number: Floats  # [P]; draws from the pair
    drawn: ShortIntegers  # [P * L]; these draws
    pair_of: ShortIntegers  # [L]; the pair of each draw


def build_tables(prior: FlatDirichlet, horizon: int, background: bool, limit: int) -> TableUrn:
    """The prior as an urn for at most `limit` draws at a time; its tables are not made yet."""
    counts, pairs = build_counts(prior, horizon, background), prior.counts.num_pairs
    return TableUrn(
        counts=copy(counts),
        initial=counts,
        rewards=reward_table(prior),
        limit=limit,
        tables=build_alias(len(counts.entry_count)),
        number=np.zeros(pairs),
        drawn=np.zeros(pairs * limit, np.int32),
        pair_of=np.zeros(limit, np.int32),
    )


@inlined
def reset(urn: TableUrn, x: int) -> None:
    """Back to the prior."""
    reset_counts(urn.counts, urn.initial)
    for pair in range(len(urn.counts.total)):
        make_table(urn, pair)


@inlined
def learn(urn: TableUrn, pair: int, y: int, r: float) -> None:
    """Count one more real transition."""
    add(urn.counts, pair, y)
    make_table(urn, pair)


@inlined
def draw(urn: TableUrn, pair: int, state: State) -> tuple[int, State]:
    """Draw a next state; it counts for later draws once it is pushed.

    Both a copy and a new draw are looked up, because a random branch would take longer.
    """
    word, state = advance(state)
    other_word, state = advance(state)
    counts, row = urn.counts, at(pair)
    number = urn.number[row]
    length = counts.row_length[row]
    copied = int(urn.drawn[at(pair * urn.limit + int(unit(other_word) * number))])
    new = pick(urn.tables, counts.row_start[row], length, other_word)
    chance = unit(word) * (counts.total[row] + number) - number
    if counts.has_background and counts.background[row] > 0 and chance >= 0:
        # Rounding may lead past the end of a row that is all background: its last state is taken.
        if length == 0 or chance < counts.background[row] * counts.num_states:
            return min(int(chance / counts.background[row]), counts.num_states - 1), state
    return copied if chance < 0 else new, state


@inlined
def draw_after(urn: TableUrn, pair: int, _: np.uint64, state: State) -> tuple[int, State]:
    """The same: half a word does not suffice."""
    return draw(urn, pair, state)


@inlined
def push(urn: TableUrn, draws: int, pair: int, y: int) -> None:
    """Let a draw count for later ones; `draws` is the number of earlier draws."""
    row = at(pair)
    number = urn.number[row]
    urn.drawn[at(pair * urn.limit + int(number))] = y
    urn.number[row] = number + 1
    urn.pair_of[at(draws)] = pair


@inlined
def undo(urn: TableUrn, draws: int) -> None:
    """Take back all draws; `draws` is their number."""
    for i in range(draws):
        urn.number[at(urn.pair_of[i])] = 0.0


@cold
def make_table(urn: TableUrn, pair: int) -> None:
    """Make the table of a row from its counts."""
    counts = urn.counts
    first, length = counts.row_start[pair], counts.row_length[pair]
    build(urn.tables, counts.entry_next, counts.entry_count, first, length)
