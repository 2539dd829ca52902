"""Next states drawn as if from one MDP of the posterior, without drawing the MDP, in constant time.

The law is that of `urn`. There each draw scans the row, and counts are increased; here, after n
draws of a pair, the next one copies one of them with probability n / (total + n), and otherwise
comes from the counts alone, by alias tables. That pays where counts change rarely and many draws
are made from them, all of which are then taken back at once, as in BAMCP; `urn` is for draws that
are taken back one after the other, and it can tell their number.
"""

from typing import NamedTuple

import numpy as np

from ...kernels.counts import Counts, add
from ...kernels.jit import inlined
from ...kernels.random.alias import Alias, build, pick
from ...kernels.random.rng import unit
from ...kernels.types import Floats, ShortIntegers


class CopyingUrn(NamedTuple):
    """Tables of the counts' entries, and at most L draws that count."""

    limit: int  # L
    tables: Alias  # [pool]; for each row, where its entries are
    number: Floats  # [P]; draws of the pair
    drawn: ShortIntegers  # [P * L]; these draws
    log_pair: ShortIntegers  # [L]; the pair of each draw


@inlined
def draw(counts: Counts, urn: CopyingUrn, pair: int, word: np.uint64, other_word: np.uint64) -> int:
    """The next state that two random words draw; to have it count from now on, `push` it.

    Both a copy and a new draw are looked up, whichever is taken: a jump that depends on chance
    would take longer.
    """
    row = np.uint64(pair)  # an unsigned index saves Numba a look whether it is negative
    number = urn.number[row]
    length = counts.row_length[row]
    copied = int(urn.drawn[np.uint64(pair * urn.limit + int(unit(other_word) * number))])
    new = pick(urn.tables, counts.row_start[row], length, other_word)
    chance = unit(word) * (counts.total[row] + number) - number
    if counts.has_background and counts.background[row] > 0 and chance >= 0:
        # If rounding leads past the end of a row that is all background, its last state is taken.
        if length == 0 or chance < counts.background[row] * counts.num_states:
            return min(int(chance / counts.background[row]), counts.num_states - 1)
    return copied if chance < 0 else new


@inlined
def push(urn: CopyingUrn, draws: int, pair: int, y: int) -> None:
    """Count a draw, after so many others."""
    row = np.uint64(pair)
    number = urn.number[row]
    urn.drawn[np.uint64(pair * urn.limit + int(number))] = y
    urn.number[row] = number + 1
    urn.log_pair[np.uint64(draws)] = pair


@inlined
def undo(urn: CopyingUrn, draws: int) -> None:
    """Take back all draws, which are so many."""
    for i in range(draws):
        urn.number[np.uint64(urn.log_pair[i])] = 0.0


@inlined
def learn(counts: Counts, urn: CopyingUrn, pair: int, y: int) -> None:
    """Count one more real transition."""
    add(counts, pair, y)
    rebuild(counts, urn, pair)


@inlined
def rebuild(counts: Counts, urn: CopyingUrn, pair: int) -> None:
    """Make the table of a row anew."""
    first, length = counts.row_start[pair], counts.row_length[pair]
    build(urn.tables, counts.entry_next, counts.entry_count, first, length)


@inlined
def rebuild_all(counts: Counts, urn: CopyingUrn) -> None:
    """Make the tables of all rows."""
    for pair in range(len(counts.total)):
        rebuild(counts, urn, pair)
