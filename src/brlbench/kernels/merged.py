"""The merged MDP of rows sampled from a posterior: each row is an action of its own.

K(x, u) rows of transition probabilities are drawn for every pair (Asmuth et al., 2009). The value
of a row p under the values of the states is the sum over y of p(y) (reward(y) + discount *
value(y)). Policy iteration: every pair takes its best row, every state its best action, and the
values of that policy are computed exactly, until nothing is better any more.

No more rows are drawn than are needed. A row's value is linear in p, so that of a pair with two
outcomes only the rows with the least and the greatest probability of the first can be best. Of many
rows of other pairs those of the highest values under the last solution are drawn first, see `tail`.
Once the MDP of these is solved, a bound tells where others may still be better; there more rows are
drawn, now of the highest values under this solution. The values, the best actions and their values
are those of the merged MDP of all rows, and their law is what it would be if all had been drawn;
the values of other actions may be lower. Where the room for rows is used up, those left of a pair
are drawn from a stream of its own, and drawn again each time that they are looked at.

With more states than fit a matrix (an empty `matrix` says so) values are computed by sweeps, to
within SWEEP_TOLERANCE of their scale.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .arrays import copy_vector
from .beta import draw_extremes
from .choice import TIE
from .counts import Counts, add, restore, reward_of
from .gamma import SMALL_SHAPE, draw_row
from .jit import cold, inlined
from .rng import Words, keyed_word, next_word
from .tail import draw_region, find_region, is_in

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]

# From this many draws on, quantiles at random places are cheaper than the draws themselves.
MANY_DRAWS = 32
# Of many rows only the best ones are looked for at first, with so many proposals; then, each
# time that this was not enough, with twice as many.
FIRST_PROPOSALS = 16.0
MAX_REGIONS = 8
FIRST_DISTANCE = 0.01
ONE = -1
SWITCH = 1e-12  # an improvement by less than this part of the scale is rounding
SWEEP_TOLERANCE = 1e-9
_ROUNDING = 1e-14  # no sweep can be asked to change less
_MAX_TURNS = 1000


class Merged(NamedTuple):
    """A posterior, rows sampled from it, and the solution of the MDP that they make.

    Rows have their probabilities in the order of the posterior's entries at the sampling. First in
    `rows` is one row for each pair, where its entries lie in the posterior's pool; then follow a
    spare row, two rows for each pair with two outcomes, and all the rows of other pairs.
    """

    posterior: Counts  # has an entry for every possible next state, and no background
    discount: float
    entry_reward: Floats  # [pool]; of the posterior's entries
    num_rows: Integers  # [P]; how many rows to draw, K
    first_entry: Integers  # [P]; where the entries of a pair were at the sampling
    length: Integers  # [P]; how many they were
    rows: Floats  # [pool + S + 4 P + room]
    end: Integers  # [1]; of the rows kept
    several: Integers  # [P]; where several rows of a pair begin; or ONE
    kept: Integers  # [P]; how many they are
    left: Integers  # [P]; how many others there are
    regions: Integers  # [P]; in how many regions all rows are kept
    region: Floats  # [MAX_REGIONS * pool]; the regions of a pair, one after the other
    chance: Floats  # [MAX_REGIONS * P]; with which rows are proposed there
    distance: Floats  # [P]; see `find_region`
    redrawn: Booleans  # [P]; whether the others are drawn each time that they are looked at
    best: Integers  # [P]; where the best row is
    row_reward: Floats  # [P]; the expected reward of the best row
    key: Words  # [P]; of the stream of a pair whose rows are redrawn
    stream: Words  # [4]; work space: that stream
    worth: Floats  # [S]; work space: what each outcome of a pair is worth
    policy: Integers  # [S]
    matrix: Floats  # [S, S], or [0, 0]; work space
    value: Floats  # [S]
    scale: Floats  # [1]; the largest absolute value
    q: Floats  # [P]


class Initial(NamedTuple):
    """Where every trajectory begins."""

    counts: Counts  # the prior's
    value: Floats  # [S]; the values of the prior's mean MDP


@inlined
def start(merged: Merged, initial: Initial) -> None:
    """Back to the prior."""
    restore(merged.posterior, initial.counts)
    copy_vector(merged.value, initial.value)
    merged.distance[:] = FIRST_DISTANCE


@inlined
def learn(merged: Merged, pair: int, y: int) -> None:
    """Count one transition; the merged MDP stays as it is."""
    posterior = merged.posterior
    length = posterior.row_length[pair]
    add(posterior, pair, y)
    if posterior.row_length[pair] != length:
        first = posterior.row_start[pair]
        for entry in range(first, first + length + 1):
            merged.entry_reward[entry] = reward_of(posterior, pair, posterior.entry_next[entry])


@cold
def resample(merged: Merged, rng: Words) -> None:
    """Draw all rows anew and solve the merged MDP, starting from the values of the last one."""
    draw(merged, rng)
    doubtful = True
    while doubtful:
        solve(merged)
        doubtful = draw_doubtful(merged, rng)


@inlined
def solve(merged: Merged) -> None:
    """Policy iteration over the rows that are kept."""
    for turn in range(_MAX_TURNS):
        better = improve(merged)
        if turn > 0 and not better:
            break
        if len(merged.matrix) > 0:
            evaluate(merged)
        else:
            sweep(merged)


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


@inlined
def improve(merged: Merged) -> bool:
    """Take the best rows and actions under the present values; return if that is an improvement."""
    largest = 0.0
    for value in merged.value:
        largest = max(largest, abs(value))
    merged.scale[0] = largest
    actions = merged.posterior.num_actions
    gain = 0.0
    for x in range(len(merged.policy)):
        best = x * actions
        for pair in range(best, best + actions):
            if merged.several[pair] == ONE:
                merged.q[pair] = row_value(merged, pair)
            else:
                merged.q[pair] = best_row(merged, pair)
                set_row_reward(merged, pair)
            if merged.q[pair] > merged.q[best]:
                best = pair
        merged.policy[x] = best - x * actions
        gain = max(gain, merged.q[best] - merged.value[x])
    return gain > (SWITCH if len(merged.matrix) > 0 else SWEEP_TOLERANCE) * largest


@inlined
def best_of(merged: Merged, pair: int) -> slice:
    """Where in `rows` the best row known of a pair is."""
    return slice(merged.best[pair], merged.best[pair] + merged.length[pair])


@inlined
def entries_of(merged: Merged, pair: int) -> slice:
    """Where in the posterior's pool the outcomes of a pair were at the sampling."""
    return slice(merged.first_entry[pair], merged.first_entry[pair] + merged.length[pair])


@inlined
def set_row_reward(merged: Merged, pair: int) -> None:
    """The expected reward of the best row known of a pair."""
    merged.row_reward[pair] = 0.0
    if merged.posterior.reward_start[pair] < merged.posterior.reward_start[pair + 1]:
        row = merged.rows[best_of(merged, pair)]
        merged.row_reward[pair] = dot(row, merged.entry_reward[entries_of(merged, pair)])


@inlined
def row_value(merged: Merged, pair: int) -> float:
    """The value of the best row known of a pair."""
    row = merged.rows[best_of(merged, pair)]
    following = merged.posterior.entry_next[entries_of(merged, pair)]
    total = 0.0
    for i in range(len(row)):
        total += row[i] * merged.value[np.uint64(following[i])]
    return merged.row_reward[pair] + merged.discount * total


@inlined
def set_worth(merged: Merged, pair: int, worth: Floats) -> None:
    """What each outcome of a pair is worth."""
    following = merged.posterior.entry_next[entries_of(merged, pair)]
    rewards = merged.entry_reward[entries_of(merged, pair)]
    for i in range(len(worth)):
        worth[i] = rewards[i] + merged.discount * merged.value[np.uint64(following[i])]


@inlined
def best_row(merged: Merged, pair: int) -> float:
    """Find the best of several rows, and return its value."""
    start, length = merged.several[pair], merged.length[pair]
    worth = merged.worth[:length]
    set_worth(merged, pair, worth)
    greatest = -np.inf
    for place in range(start, start + merged.kept[pair] * length, length):
        value = dot(merged.rows[place : place + length], worth)
        if value > greatest:
            greatest, merged.best[pair] = value, place
    if merged.redrawn[pair]:
        return best_redrawn(merged, pair, worth, greatest)
    return greatest


@cold
def best_redrawn(merged: Merged, pair: int, worth: Floats, greatest: float) -> float:
    """Draw rows of a pair again, keep the best if it is a better one, and return the best value."""
    first, spare = merged.first_entry[pair], len(merged.entry_reward)
    shapes = merged.posterior.entry_count[entries_of(merged, pair)]
    best = merged.rows[first : first + len(shapes)]
    row = merged.rows[spare : spare + len(shapes)]
    regions = merged.region[regions_of(merged, pair, merged.regions[pair])]
    for i in range(len(merged.stream)):
        merged.stream[i] = keyed_word(merged.key[pair], 0, i)
    for _ in range(merged.left[pair]):
        draw_outside(merged.stream, shapes, regions, row)
        value = dot(row, worth)
        if value > greatest:
            greatest, merged.best[pair] = value, first
            copy_vector(best, row)
    return greatest


@inlined
def dot(row: Floats, numbers: Floats) -> float:
    """The expectation of some numbers under the probabilities of a row."""
    total = 0.0
    for i in range(len(row)):
        total += row[i] * numbers[i]
    return total


@inlined
def evaluate(merged: Merged) -> None:
    """The values of the policy, by elimination from the last state to the first.

    No pivots are needed, because the matrix is diagonally dominant.
    """
    matrix, value = merged.matrix, merged.value
    states = len(value)
    for x in range(states):
        pair = x * merged.posterior.num_actions + merged.policy[x]
        row = merged.rows[best_of(merged, pair)]
        following = merged.posterior.entry_next[entries_of(merged, pair)]
        value[x] = merged.row_reward[pair]
        matrix[x, :] = 0.0
        matrix[x, x] = 1.0
        for i in range(len(row)):
            matrix[x, np.uint64(following[i])] -= merged.discount * row[i]
    for k in range(states - 1, -1, -1):
        pivot = 1 / matrix[k, k]
        for i in range(k):
            factor = matrix[i, k] * pivot
            if factor != 0.0:
                value[i] -= factor * value[k]
                for j in range(k):
                    matrix[i, j] -= factor * matrix[k, j]
    for k in range(states):
        total = value[k]
        for j in range(k):
            total -= matrix[k, j] * value[j]
        value[k] = total / matrix[k, k]


@cold
def sweep(merged: Merged) -> None:
    """The values of the policy, by Gauss-Seidel sweeps.

    If a sweep changes no value by more than c, all are within c / (1 - discount) of the exact ones.
    """
    tolerance = max(SWEEP_TOLERANCE / 4 * (1 - merged.discount), _ROUNDING)
    change, largest = 1.0, 0.0
    while change > tolerance * largest:
        change, largest = 0.0, 0.0
        for x in range(len(merged.value)):
            pair = x * merged.posterior.num_actions + merged.policy[x]
            value = row_value(merged, pair)
            change = max(change, abs(value - merged.value[x]))
            largest = max(largest, abs(value))
            merged.value[x] = value
