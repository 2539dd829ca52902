"""Draw the rows of a merged MDP, no more than are needed: see `merged`."""

import numpy as np

from ..choice import TIE
from ..jit import cold, inlined
from ..random.beta import draw_extremes
from ..random.gamma import SMALL_SHAPE, draw_row
from ..random.rng import next_word
from ..random.tail import draw_region, find_region, is_in
from ..types import Floats, Words
from .merged_state import MAX_REGIONS, ONE, Merged, entries_of, set_row_reward, set_worth
from .tolerances import SWITCH

# From this many draws on, quantiles at random places are cheaper than the draws themselves.
MANY_DRAWS = 32
# Of many rows only the best ones are looked for at first, with so many proposals; then, each
# time that this was not enough, with twice as many.
FIRST_PROPOSALS = 16.0


@inlined
def draw(merged: Merged, rng: Words) -> None:
    """Draw the rows of all pairs."""
    posterior, rows = merged.posterior, merged.rows
    pairs = len(merged.q)
    two_outcomes = len(posterior.entry_count) + len(merged.value)
    merged.end[0] = two_outcomes + 4 * pairs
    for pair in range(pairs):
        first, length = posterior.row_start[pair], posterior.row_length[pair]
        merged.first_entry[pair], merged.length[pair] = first, length
        merged.several[pair], merged.best[pair] = ONE, first
        merged.left[pair], merged.redrawn[pair] = 0, False
        shapes = posterior.entry_count[first : first + length]
        if length == 1 or merged.num_rows[pair] == 1:
            draw_row(rng, shapes, rows[first : first + length])
            set_row_reward(merged, pair)
        elif length == 2:
            place = two_outcomes + 4 * pair
            merged.several[pair], merged.kept[pair] = place, 2
            draw_two_outcomes(rng, shapes, merged.num_rows[pair], rows[place : place + 4])
        else:
            merged.several[pair], merged.kept[pair] = merged.end[0], 0
            merged.left[pair], merged.regions[pair] = merged.num_rows[pair], 0
            while merged.kept[pair] == 0 and not merged.redrawn[pair]:
                draw_more(merged, pair, rng)


@inlined
def draw_more(merged: Merged, pair: int, rng: Words) -> None:
    """Draw the best of the rows that are left, or all of them if they are few."""
    length, left, kept = merged.length[pair], merged.left[pair], merged.kept[pair]
    shapes = merged.posterior.entry_count[entries_of(merged, pair)]
    chance = add_region(merged, pair, shapes)
    # Far more room than the rows in a region can take; a number of them is known by chance only.
    most = left if chance == 1 else min(left, int(2 * chance * left) + 100)
    begin, end = merged.end[0], merged.end[0] + kept * length
    if end + most * length > len(merged.rows):
        if chance < 1:
            merged.regions[pair] -= 1
        merged.redrawn[pair], merged.key[pair] = True, next_word(rng)
        return
    for i in range(kept * length):
        merged.rows[begin + i] = merged.rows[merged.several[pair] + i]
    room = merged.rows[end : end + most * length]
    number = merged.regions[pair]
    regions = merged.region[regions_of(merged, pair, number)]
    if chance < 1:
        chances = merged.chance[MAX_REGIONS * pair : MAX_REGIONS * pair + number]
        drawn = draw_region(rng, shapes, regions, chances, left, room)
    else:
        drawn = left
        draw_outside(rng, shapes, regions, room)
    merged.several[pair], merged.kept[pair] = begin, kept + drawn
    merged.left[pair] = left - drawn
    merged.end[0] = end + drawn * length


@inlined
def add_region(merged: Merged, pair: int, shapes: Floats) -> float:
    """Add a region of high values; return the chance of all regions, or 1 if it is no use."""
    length, left, number = merged.length[pair], merged.left[pair], merged.regions[pair]
    proposals = FIRST_PROPOSALS * 2.0**number
    if number == MAX_REGIONS or 2 * proposals > left:
        return 1.0
    worth = merged.worth[:length]
    set_worth(merged, pair, worth)
    if not can_be_ranked(shapes, worth):
        return 1.0
    region = merged.region[regions_of(merged, pair, number + 1)][number * length :]
    chances = merged.chance[MAX_REGIONS * pair : MAX_REGIONS * pair + number + 1]
    chances[number], merged.distance[pair] = find_region(
        shapes, worth, proposals / left, merged.distance[pair], region
    )
    total = 0.0
    for chance in chances:
        total += chance
    if total >= 1:
        return 1.0
    merged.regions[pair] += 1
    return total


@inlined
def regions_of(merged: Merged, pair: int, number: int) -> slice:
    """Where the first regions of a pair are."""
    start = MAX_REGIONS * merged.first_entry[pair]
    return slice(start, start + number * merged.length[pair])


@inlined
def can_be_ranked(shapes: Floats, worth: Floats) -> bool:
    """Whether rows differ in value, and their variates don't underflow."""
    least, greatest, largest = worth[0], worth[0], 0.0
    for i in range(len(shapes)):
        least, greatest = min(least, worth[i]), max(greatest, worth[i])
        largest = max(largest, shapes[i])
    spread = greatest - least
    return largest >= SMALL_SHAPE and spread > TIE * max(abs(least), abs(greatest))


@cold
def draw_outside(rng: Words, shapes: Floats, regions: Floats, rows: Floats) -> None:
    """Fill some room with rows that are in none of the regions."""
    length = len(shapes)
    for place in range(0, len(rows), length):
        row = rows[place : place + length]
        inside = True
        while inside:
            draw_row(rng, shapes, row)
            inside = False
            for start in range(0, len(regions), length):
                inside |= is_in(regions[start : start + length], row)


@cold
def draw_doubtful(merged: Merged, rng: Words) -> bool:
    """Draw more rows of pairs where others than those kept may be the best; return if any."""
    more = False
    for pair in range(len(merged.q)):
        if merged.left[pair] > 0 and not merged.redrawn[pair] and not is_certain(merged, pair):
            draw_more(merged, pair, rng)
            more = True
    return more


@inlined
def is_certain(merged: Merged, pair: int) -> bool:
    """Whether no row outside of the last region can change the values or be a best action.

    Notation: c is the region, w the worth, q the value to exceed. If for some m >= 0 no outcome has
    w - q > m c, then c.p <= 0 implies w.p <= q.
    """
    length, scale = merged.length[pair], merged.scale[0]
    worth = merged.worth[:length]
    set_worth(merged, pair, worth)
    not_tied = merged.value[pair // merged.posterior.num_actions] - 2 * TIE * scale
    q = max(merged.q[pair] + SWITCH * scale, not_tied)
    region = merged.region[regions_of(merged, pair, merged.regions[pair])][-length:]
    least, most = 0.0, np.inf
    for i in range(length):
        better = worth[i] - q
        if region[i] > 0:
            least = max(least, better / region[i])
        elif region[i] < 0:
            most = min(most, better / region[i])
        elif better > 0:
            return False
    return least <= most


@inlined
def draw_two_outcomes(rng: Words, shapes: Floats, number: int, extremes: Floats) -> None:
    """Draw a number of rows with two outcomes and keep two of them, the extremes."""
    if number >= MANY_DRAWS:
        least, greatest = draw_extremes(rng, shapes[0], shapes[1], number)
    else:
        least, greatest = 1.0, 0.0
        for _ in range(number):
            draw_row(rng, shapes, extremes[:2])
            least, greatest = min(least, extremes[0]), max(greatest, extremes[0])
    extremes[0], extremes[1] = least, 1 - least
    extremes[2], extremes[3] = greatest, 1 - greatest
