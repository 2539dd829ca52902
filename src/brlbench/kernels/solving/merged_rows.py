"""The rows of a merged MDP, no more than are needed: see `merged`.

A region is a set of rows of high value, see `tail`.
"""

from typing import Any, NamedTuple

import numpy as np

from ..arrays import at
from ..choice import TIE
from ..dispatch import by_type, provide
from ..jit import cold, inlined
from ..random.beta import draw_extremes
from ..random.gamma import SMALL_SHAPE, draw_row
from ..random.rng import next_word
from ..random.tail import draw_region, find_region, is_in
from ..types import Booleans, Floats, Integers, Words
from .plans import Endless, Episode
from .sampled import Sampled, draw_single, entries_of, place_row
from .tolerances import SWITCH

MAX_REGIONS = 8
TWO_ROWS = 4  # probabilities of two rows with two outcomes
# From this many draws on, drawing their extremes is cheaper than drawing them all.
MANY_DRAWS = 32
# The first region gets about this many proposals; each further one gets twice as many.
FIRST_PROPOSALS = 16.0
# Instead of a chance: no region is added, and all remaining rows are drawn.
EVERYWHERE = 1.0
# Offsets of the two extreme rows of two outcomes.
LEAST, GREATEST = 0, 2


class Sample(NamedTuple):
    """Rows sampled for each pair, in `rows.probability` of the MDP.

    That array begins with one row per pair, at the place of its entries in the posterior's pool.
    Then come a spare row, room for two rows of two outcomes per pair, and all rows of the other
    pairs: [pool + S + TWO_ROWS * P + room].
    """

    end: Integers  # [1]; end of the rows in memory
    is_single: Booleans  # [P]; whether one row is all that the pair has
    first_row: Integers  # [P]; where the pair's rows in memory begin
    number: Integers  # [P]; rows in memory
    left: Integers  # [P]; rows not in memory
    redrawn: Booleans  # [P]; whether the rows not in memory are drawn again whenever needed
    key: Words  # [P]; of the stream of a pair whose rows are redrawn
    stream: Words  # [4]; work space: that stream


class TailRegions(NamedTuple):
    """The regions of each pair: all rows inside are in memory."""

    number: Integers  # [P]
    region: Floats  # [MAX_REGIONS * pool]; the regions of a pair, one after the other
    chance: Floats  # [MAX_REGIONS * P]; probability of proposing a row there
    distance: Floats  # [P]; see `find_region`


class Merged(NamedTuple):
    """An MDP of best rows, and the rows from which they are chosen."""

    mdp: Sampled  # its row of a pair is the best one known
    num_rows: Integers  # [P]; number of rows to sample, K
    sample: Sample
    regions: TailRegions
    worth: Floats  # [S]; work space: what each outcome of a pair is worth


@inlined
def regions_of(merged: Merged, pair: int, number: int) -> slice:
    """The slice of `region` for the pair's first regions."""
    start = MAX_REGIONS * merged.mdp.rows.first_entry[pair]
    return slice(start, start + number * merged.mdp.rows.length[pair])


@inlined
def set_worth(merged: Merged, pair: int, worth: Floats) -> None:
    """Compute what each outcome of the pair is worth."""
    mdp = merged.mdp
    value, entries = mdp.optimum.value, entries_of(mdp.rows, pair)
    following = mdp.posterior.entry_next[entries]
    rewards = mdp.entry_reward[entries]
    for i in range(len(worth)):
        worth[i] = rewards[i] + mdp.discount * value[at(following[i])]


@inlined
def draw(merged: Merged, rng: Words) -> None:
    """Draw the rows of all pairs."""
    pairs = len(merged.num_rows)
    merged.sample.end[0] = two_rows_of(merged, pairs)
    for pair in range(pairs):
        draw_pair(merged, pair, rng)


@inlined
def two_rows_of(merged: Merged, pair: int) -> int:
    """The offset of the two rows of a pair with two outcomes."""
    return len(merged.mdp.posterior.entry_count) + len(merged.worth) + TWO_ROWS * pair


@inlined
def draw_pair(merged: Merged, pair: int, rng: Words) -> None:
    """Draw the pair's rows, or those of high value if there are many."""
    mdp, sample = merged.mdp, merged.sample
    place_row(mdp, pair)
    first, length = mdp.rows.first_entry[pair], mdp.rows.length[pair]
    sample.first_row[pair] = first
    sample.left[pair], sample.redrawn[pair] = 0, False
    sample.is_single[pair] = length == 1 or merged.num_rows[pair] == 1
    if sample.is_single[pair]:
        sample.number[pair] = 1
        draw_single(mdp, pair, rng)
    elif length == 2:
        place = two_rows_of(merged, pair)
        sample.first_row[pair], sample.number[pair] = place, 2
        shapes = mdp.posterior.entry_count[first : first + length]
        extremes = mdp.rows.probability[place : place + TWO_ROWS]
        draw_two_outcomes(rng, shapes, merged.num_rows[pair], extremes)
    else:
        sample.first_row[pair], sample.number[pair] = sample.end[0], 0
        sample.left[pair], merged.regions.number[pair] = merged.num_rows[pair], 0
        while sample.number[pair] == 0 and not sample.redrawn[pair]:
            draw_more(merged, pair, rng)


@inlined
def draw_two_outcomes(rng: Words, shapes: Floats, number: int, extremes: Floats) -> None:
    """Draw a number of rows with two outcomes and keep the two extreme ones."""
    if number >= MANY_DRAWS:
        least, greatest = draw_extremes(rng, shapes[0], shapes[1], number)
    else:
        least, greatest = 1.0, 0.0
        for _ in range(number):
            draw_row(rng, shapes, extremes[:2])
            least, greatest = min(least, extremes[0]), max(greatest, extremes[0])
    extremes[LEAST], extremes[LEAST + 1] = least, 1 - least
    extremes[GREATEST], extremes[GREATEST + 1] = greatest, 1 - greatest


@inlined
def draw_more(merged: Merged, pair: int, rng: Words) -> None:
    """Draw the remaining rows of high value, or all remaining rows if they are few."""
    sample, regions, rows = merged.sample, merged.regions, merged.mdp.rows
    length, left = rows.length[pair], sample.left[pair]
    shapes = merged.mdp.posterior.entry_count[entries_of(rows, pair)]
    chance = choose_region(merged.mdp.plan, merged, pair, shapes)
    # Far more room than the rows in a region need: their number is random.
    most = left if chance == EVERYWHERE else min(left, int(2 * chance * left) + 100)
    start = sample.end[0] + sample.number[pair] * length
    if start + most * length > len(rows.probability):
        if chance != EVERYWHERE:
            regions.number[pair] -= 1
        sample.redrawn[pair], sample.key[pair] = True, next_word(rng)
        return
    move_to_end(merged, pair)
    room = rows.probability[start : start + most * length]
    number = regions.number[pair]
    kept_regions = regions.region[regions_of(merged, pair, number)]
    if chance != EVERYWHERE:
        drawn = draw_region(
            rng, shapes, kept_regions, regions.chance[chances_of(pair, number)], left, room
        )
    else:
        drawn = left
        draw_outside(rng, shapes, kept_regions, room)
    sample.number[pair] += drawn
    sample.left[pair] = left - drawn
    sample.end[0] = start + drawn * length


@inlined
def move_to_end(merged: Merged, pair: int) -> None:
    """Copy the pair's rows behind all others, where they can grow."""
    rows, sample = merged.mdp.rows, merged.sample
    old, new = sample.first_row[pair], sample.end[0]
    for i in range(sample.number[pair] * rows.length[pair]):
        rows.probability[new + i] = rows.probability[old + i]
    sample.first_row[pair] = new


@by_type
def choose_region(plan: Any, merged: Merged, pair: int, shapes: Floats) -> float:  # type: ignore[empty-body]
    """Choose the rows to draw next; return the chance of all regions, or EVERYWHERE for all."""


def _choose_endless(plan: Endless, merged: Merged, pair: int, shapes: Floats) -> float:
    return add_region(merged, pair, shapes)


def _choose_all(plan: Episode, merged: Merged, pair: int, shapes: Floats) -> float:
    return EVERYWHERE


provide(Endless, {choose_region: _choose_endless})
provide(Episode, {choose_region: _choose_all})


@inlined
def add_region(merged: Merged, pair: int, shapes: Floats) -> float:
    """Add a region of high values; return the chance of all, or EVERYWHERE if none is added."""
    sample, regions = merged.sample, merged.regions
    left, number = sample.left[pair], regions.number[pair]
    length = merged.mdp.rows.length[pair]
    proposals = FIRST_PROPOSALS * 2.0**number
    if number == MAX_REGIONS or 2 * proposals > left:
        return EVERYWHERE
    worth = merged.worth[:length]
    set_worth(merged, pair, worth)
    if not can_be_ranked(shapes, worth):
        return EVERYWHERE
    region = regions.region[regions_of(merged, pair, number + 1)][number * length :]
    chances = regions.chance[chances_of(pair, number + 1)]
    chances[number], regions.distance[pair] = find_region(
        shapes, worth, proposals / left, regions.distance[pair], region
    )
    total = 0.0
    for chance in chances:
        total += chance
    if total >= 1:
        return EVERYWHERE
    regions.number[pair] += 1
    return total


@inlined
def chances_of(pair: int, number: int) -> slice:
    """The slice of `chance` for the pair's first regions."""
    return slice(MAX_REGIONS * pair, MAX_REGIONS * pair + number)


@inlined
def can_be_ranked(shapes: Floats, worth: Floats) -> bool:
    """Whether rows differ in value and their gamma variates do not underflow."""
    least, greatest, largest = worth[0], worth[0], 0.0
    for i in range(len(shapes)):
        least, greatest = min(least, worth[i]), max(greatest, worth[i])
        largest = max(largest, shapes[i])
    spread = greatest - least
    return largest >= SMALL_SHAPE and spread > TIE * max(abs(least), abs(greatest))


@cold
def draw_outside(rng: Words, shapes: Floats, regions: Floats, rows: Floats) -> None:
    """Fill `rows`, one row after the other, with rows that are in none of the regions."""
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
    """Draw more rows of pairs whose best row may be unknown; return whether there are any."""
    sample, doubtful = merged.sample, False
    for pair in range(len(sample.left)):
        if sample.left[pair] > 0 and not sample.redrawn[pair] and not is_certain(merged, pair):
            draw_more(merged, pair, rng)
            doubtful = True
    return doubtful


@inlined
def is_certain(merged: Merged, pair: int) -> bool:
    """Whether no row outside of the last region can change the values or be a best action.

    Notation: c is the region, w the worth, q the value to exceed. If for some m >= 0 no outcome has
    w - q > m c, then c.p <= 0 implies w.p <= q.
    """
    optimum, length = merged.mdp.optimum, merged.mdp.rows.length[pair]
    scale = optimum.scale[0]
    worth = merged.worth[:length]
    set_worth(merged, pair, worth)
    not_tied = optimum.value[pair // merged.mdp.posterior.num_actions] - 2 * TIE * scale
    q = max(optimum.q[pair] + SWITCH * scale, not_tied)
    kept_regions = regions_of(merged, pair, merged.regions.number[pair])
    region = merged.regions.region[kept_regions][-length:]
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
