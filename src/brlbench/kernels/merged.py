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
    target: Floats  # [S]; work space: what each outcome of a pair is worth
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
        size = merged.num_rows[pair] * length
        if length == 1 or size == length:
            draw_row(rng, posterior.entry_count, first, length, rows, first)
            set_row_reward(merged, pair)
        elif length == 2:
            merged.several[pair] = two_outcomes + 4 * pair
            draw_two_outcomes(merged, pair, rng)
        elif end + size <= len(rows):
            merged.several[pair] = end
            for place in range(end, end + size, length):
                draw_row(rng, posterior.entry_count, first, length, rows, place)
            end += size
        else:
            merged.several[pair] = REDRAWN
            merged.key[pair] = next_word(rng)


@inlined
def draw_two_outcomes(merged: Merged, pair: int, rng: Words) -> None:
    """Draw the rows of a pair with two outcomes and keep the extremes."""
    shapes, rows = merged.posterior.entry_count, merged.rows
    first, length, place = merged.first_entry[pair], merged.length[pair], merged.several[pair]
    if merged.num_rows[pair] >= MANY_DRAWS:
        least, greatest = draw_extremes(
            rng, shapes[first], shapes[first + 1], merged.num_rows[pair]
        )
    else:
        least, greatest = 1.0, 0.0
        for _ in range(merged.num_rows[pair]):
            draw_row(rng, shapes, first, length, rows, place)
            least, greatest = min(least, rows[place]), max(greatest, rows[place])
    rows[place], rows[place + 1] = least, 1 - least
    rows[place + 2], rows[place + 3] = greatest, 1 - greatest


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
def set_row_reward(merged: Merged, pair: int) -> None:
    """The expected reward of the best row known of a pair."""
    first, place = merged.first_entry[pair], merged.best[pair]
    reward = 0.0
    if merged.posterior.reward_start[pair] < merged.posterior.reward_start[pair + 1]:
        for i in range(merged.length[pair]):
            reward += merged.rows[place + i] * merged.entry_reward[first + i]
    merged.row_reward[pair] = reward


@inlined
def row_value(merged: Merged, pair: int) -> float:
    """The value of the best row known of a pair; in two sums, as in `dot`."""
    rows, following, value = merged.rows, merged.posterior.entry_next, merged.value
    first, place, length = merged.first_entry[pair], merged.best[pair], merged.length[pair]
    even, odd = 0.0, 0.0
    for i in range(0, length - 1, 2):
        even += rows[place + i] * value[following[first + i]]
        odd += rows[place + i + 1] * value[following[first + i + 1]]
    if length % 2:
        even += rows[place + length - 1] * value[following[first + length - 1]]
    return merged.row_reward[pair] + merged.discount * (even + odd)


@inlined
def best_row(merged: Merged, pair: int) -> float:
    """Find the best of several rows, and return its value."""
    first, length, start = merged.first_entry[pair], merged.length[pair], merged.several[pair]
    for i in range(length):
        value = merged.value[merged.posterior.entry_next[first + i]]
        merged.target[i] = merged.entry_reward[first + i] + merged.discount * value
    if start == REDRAWN:
        return best_redrawn(merged, pair)
    size = 4 if length == 2 else merged.num_rows[pair] * length
    greatest = -np.inf
    for place in range(start, start + size, length):
        worth = dot(merged.rows, place, merged.target, length)
        if worth > greatest:
            greatest, merged.best[pair] = worth, place
    return greatest


@cold
def best_redrawn(merged: Merged, pair: int) -> float:
    """Draw the rows of a pair again, keep the best, and return its value."""
    first, length = merged.first_entry[pair], merged.length[pair]
    shapes, rows = merged.posterior.entry_count, merged.rows
    spare = len(shapes)
    for i in range(len(merged.stream)):
        merged.stream[i] = keyed_word(merged.key[pair], 0, i)
    greatest = -np.inf
    for _ in range(merged.num_rows[pair]):
        draw_row(merged.stream, shapes, first, length, rows, spare)
        worth = dot(rows, spare, merged.target, length)
        if worth > greatest:
            greatest = worth
            for i in range(length):
                rows[first + i] = rows[spare + i]
    return greatest


@inlined
def dot(rows: Floats, place: int, target: Floats, length: int) -> float:
    """The value of a row; in two sums, which a processor can add at the same time."""
    even, odd = 0.0, 0.0
    for i in range(0, length - 1, 2):
        even += rows[place + i] * target[i]
        odd += rows[place + i + 1] * target[i + 1]
    if length % 2:
        even += rows[place + length - 1] * target[length - 1]
    return even + odd


@inlined
def evaluate(merged: Merged) -> None:
    """The values of the policy, by elimination from the last state to the first.

    No pivots are needed, because the matrix is diagonally dominant.
    """
    matrix, value = merged.matrix, merged.value
    states = len(value)
    for x in range(states):
        pair = x * merged.posterior.num_actions + merged.policy[x]
        first, place = merged.first_entry[pair], merged.best[pair]
        value[x] = merged.row_reward[pair]
        matrix[x, :] = 0.0
        matrix[x, x] = 1.0
        for i in range(merged.length[pair]):
            y = merged.posterior.entry_next[first + i]
            matrix[x, y] -= merged.discount * merged.rows[place + i]
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
    change, largest = 1.0, 0.0
    while change > SWEEP_TOLERANCE / 4 * (1 - merged.discount) * largest:
        change, largest = 0.0, 0.0
        for x in range(len(merged.value)):
            pair = x * merged.posterior.num_actions + merged.policy[x]
            value = row_value(merged, pair)
            change = max(change, abs(value - merged.value[x]))
            largest = max(largest, abs(value))
            merged.value[x] = value
