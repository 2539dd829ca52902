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

import numpy as np

from ..arrays import copy_vector
from ..counts import add, restore, reward_of
from ..jit import cold, inlined
from ..random.rng import keyed_word
from ..types import Floats, Words
from .merged_rows import draw, draw_doubtful, draw_outside, regions_of
from .merged_state import (
    ONE,
    Initial,
    Merged,
    best_of,
    dot,
    entries_of,
    row_value,
    set_row_reward,
    set_worth,
)
from .tolerances import SWEEP_TOLERANCE, SWITCH

FIRST_DISTANCE = 0.01
_ROUNDING = 1e-14  # no sweep can be asked to change less
_MAX_TURNS = 1000


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
