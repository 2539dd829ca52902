"""The merged MDP of rows sampled from a posterior: each row is an action of its own.

K(x, u) rows of transition probabilities are drawn for every pair (Asmuth et al., 2009). The value
of a row p under the values of the states is the sum over y of p(y) (reward(y) + discount *
value(y)). Policy iteration: every pair takes its best row, every state its best action, and the
values of that policy are computed exactly, until nothing is better any more.

No more rows are kept than are needed. A row's value is linear in p, so that of a pair with two
outcomes only the rows with the least and the greatest probability of the first can be best. Where
the room for rows is used up, the rows of a pair are drawn from a stream of its own, and drawn again
each time that they are looked at.

With more states than fit a matrix (an empty `matrix` says so) values are computed by sweeps, to
within SWEEP_TOLERANCE of their scale.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .arrays import copy_vector
from .beta import draw_extremes
from .counts import Counts, add, restore, reward_of
from .gamma import draw_row
from .jit import cold, inlined
from .rng import Words, keyed_word, next_word

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# From this many draws on, quantiles at random places are cheaper than the draws themselves.
MANY_DRAWS = 32
ONE, REDRAWN = -1, -2
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
    several: Integers  # [P]; where several rows of a pair begin; or ONE, or REDRAWN
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
    end = two_outcomes + 4 * pairs
    for pair in range(pairs):
        first, length = posterior.row_start[pair], posterior.row_length[pair]
        merged.first_entry[pair], merged.length[pair] = first, length
        merged.several[pair], merged.best[pair] = ONE, first
        shapes = posterior.entry_count[first : first + length]
        size = merged.num_rows[pair] * length
        if length == 1 or size == length:
            draw_row(rng, shapes, rows[first : first + length])
            set_row_reward(merged, pair)
        elif length == 2:
            place = two_outcomes + 4 * pair
            merged.several[pair] = place
            draw_two_outcomes(rng, shapes, merged.num_rows[pair], rows[place : place + 4])
        elif end + size <= len(rows):
            merged.several[pair] = end
            for place in range(end, end + size, length):
                draw_row(rng, shapes, rows[place : place + length])
            end += size
        else:
            merged.several[pair] = REDRAWN
            merged.key[pair] = next_word(rng)


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
def best_row(merged: Merged, pair: int) -> float:
    """Find the best of several rows, and return its value."""
    start, length = merged.several[pair], merged.length[pair]
    following = merged.posterior.entry_next[entries_of(merged, pair)]
    rewards, worth = merged.entry_reward[entries_of(merged, pair)], merged.worth[:length]
    for i in range(length):
        worth[i] = rewards[i] + merged.discount * merged.value[np.uint64(following[i])]
    if start == REDRAWN:
        return best_redrawn(merged, pair, worth)
    end = start + (4 if length == 2 else merged.num_rows[pair] * length)
    greatest = -np.inf
    for place in range(start, end, length):
        value = dot(merged.rows[place : place + length], worth)
        if value > greatest:
            greatest, merged.best[pair] = value, place
    return greatest


@cold
def best_redrawn(merged: Merged, pair: int, worth: Floats) -> float:
    """Draw the rows of a pair again, keep the best, and return its value."""
    spare = len(merged.entry_reward)
    shapes = merged.posterior.entry_count[entries_of(merged, pair)]
    best, row = merged.rows[best_of(merged, pair)], merged.rows[spare : spare + len(shapes)]
    for i in range(len(merged.stream)):
        merged.stream[i] = keyed_word(merged.key[pair], 0, i)
    greatest = -np.inf
    for _ in range(merged.num_rows[pair]):
        draw_row(merged.stream, shapes, row)
        value = dot(row, worth)
        if value > greatest:
            greatest = value
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
