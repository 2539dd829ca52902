"""Next states drawn as if from one MDP of the posterior, without drawing the MDP.

A Dirichlet row that is only sampled from need not be drawn: the next state comes from the counts,
then counts once more itself (a Polya urn; the same law). The counts themselves stay untouched.
What was drawn is counted beside them, and taken back with `undo`.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .counts import Counts
from .jit import inlined
from .rng import Words, uniform

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

NONE = -1


class Urn(NamedTuple):
    """Draws that count, at most L: of entries by entry, of other next states in lists."""

    extra: Floats  # [P]; draws of the pair
    entry_extra: Floats  # [pool]; draws of the entry
    newest: Integers  # [P]; the head of the pair's list of next states without an entry
    older: Integers  # [L]; the next element of the list
    drawn: Integers  # [L]; the next state of an element
    times: Floats  # [L]; draws of an element
    log_pair: Integers  # [L]; the pair of each draw
    log_place: Integers  # [L]; its entry, or -1 - its element
    size: Integers  # [2]; elements and draws


@inlined
def draw(counts: Counts, urn: Urn, pair: int, rng: Words) -> int:
    """Draw a next state; to have it count from now on, `push` it."""
    chance = uniform(rng) * (counts.total[pair] + urn.extra[pair])
    last = counts.num_states - 1
    if counts.background[pair] > 0:
        spread = counts.background[pair] * counts.num_states
        if chance < spread:
            return min(int(chance / counts.background[pair]), last)
        chance -= spread
    # If rounding leads past the end, the last next state that is possible is taken.
    first = counts.row_start[pair]
    for entry in range(first, first + counts.row_length[pair]):
        weight = counts.entry_count[entry] + urn.entry_extra[entry]
        if weight > 0:
            last = counts.entry_next[entry]
            if chance < weight:
                return last
            chance -= weight
    element = urn.newest[pair]
    while element != NONE:
        last = urn.drawn[element]
        if chance < urn.times[element]:
            return last
        chance -= urn.times[element]
        element = urn.older[element]
    return last


@inlined
def push(counts: Counts, urn: Urn, pair: int, y: int) -> None:
    """Count a draw."""
    urn.extra[pair] += 1
    draws = urn.size[1]
    urn.log_pair[draws] = pair
    urn.size[1] = draws + 1
    first = counts.row_start[pair]
    for entry in range(first, first + counts.row_length[pair]):
        if counts.entry_next[entry] == y:
            urn.entry_extra[entry] += 1
            urn.log_place[draws] = entry
            return
    element = urn.newest[pair]
    while element != NONE and urn.drawn[element] != y:
        element = urn.older[element]
    if element == NONE:
        element = urn.size[0]
        urn.size[0] = element + 1
        urn.older[element] = urn.newest[pair]
        urn.newest[pair] = element
        urn.drawn[element] = y
        urn.times[element] = 0
    urn.times[element] += 1
    urn.log_place[draws] = -1 - element


@inlined
def undo(urn: Urn, draws: int) -> None:
    """Take back the last draws until so many are left."""
    for i in range(urn.size[1] - 1, draws - 1, -1):
        pair, place = urn.log_pair[i], urn.log_place[i]
        urn.extra[pair] -= 1
        if place >= 0:
            urn.entry_extra[place] -= 1
        else:
            element = -1 - place
            urn.times[element] -= 1
            if urn.times[element] == 0:  # the last one made is the first to go
                urn.newest[pair] = urn.older[element]
                urn.size[0] = element
    urn.size[1] = draws
