"""The merged MDP of rows sampled from a posterior: each row is an action of its own.

K(x, u) rows of transition probabilities are drawn for every pair (Asmuth et al., 2009). Given the
values of the states, the value of a row p is the sum over y of p(y) (reward(y) + discount *
value(y)). Policy iteration: every pair takes its best row, every state its best action, and the
values of that policy are computed exactly, until nothing improves.

No more rows are drawn than are needed. A row's value is linear in p. So if a pair has two outcomes,
only its rows with the least and the greatest probability of the first outcome can be best. If
another pair has many rows, those with the highest values under the last solution are drawn first,
see `tail`. Once the MDP of these rows is solved, a bound tells which pairs may have better ones.
For these pairs the highest rows under the new solution are drawn too. The values, the best
actions and their values are those of the merged MDP of all rows, with the same law as if all had
been drawn; the values of other actions may be too low. When the room for rows is used up, a pair's
remaining rows come from a stream of its own and are drawn again whenever they are needed.

With too many states for a matrix (`matrix` is then empty), values are computed by sweeps, to
within SWEEP_TOLERANCE of their scale.
"""

import numpy as np

from ..arrays import at, copy_vector
from ..choice import first_greedy, greedy
from ..counts import add_rewarded
from ..counts import reset as reset_counts
from ..jit import cold, inlined
from ..random.rng import keyed_word
from ..types import Floats, Words
from .merged_rows import draw, draw_doubtful, draw_outside
from .merged_state import (
    Initial,
    Merged,
    best_of,
    best_value,
    dot,
    entries_of,
    regions_of,
    set_best_reward,
    set_worth,
)
from .tolerances import SWEEP_TOLERANCE, SWITCH

FIRST_DISTANCE = 0.01
_ROUNDING = 1e-14  # sweeps can't make the relative change smaller
_MAX_TURNS = 1000


@inlined
def reset(merged: Merged, initial: Initial) -> None:
    """Back to the prior."""
    reset_counts(merged.posterior, initial.counts)
    copy_vector(merged.solution.value, initial.value)
    merged.regions.distance[:] = FIRST_DISTANCE


@inlined
def learn(merged: Merged, pair: int, y: int) -> None:
    """Count one transition; the merged MDP stays as it is."""
    add_rewarded(merged.posterior, merged.entry_reward, pair, y)


@inlined
def best_action(merged: Merged, x: int, rng: Words) -> int:
    """A best action of the merged MDP; ties are broken at random."""
    actions = merged.posterior.num_actions
    return greedy(merged.solution.q, x * actions, actions, merged.solution.scale[0], rng)


@inlined
def first_best_action(merged: Merged, x: int) -> int:
    """The lowest-numbered best action of the merged MDP."""
    actions = merged.posterior.num_actions
    return first_greedy(merged.solution.q, x * actions, actions, merged.solution.scale[0])


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
        if len(merged.solution.matrix) > 0:
            evaluate(merged)
        else:
            sweep(merged)


@inlined
def improve(merged: Merged) -> bool:
    """Take the best rows and actions under the present values; return whether values improve."""
    solution, q = merged.solution, merged.solution.q
    largest = 0.0
    for value in solution.value:
        largest = max(largest, abs(value))
    solution.scale[0] = largest
    actions = merged.posterior.num_actions
    gain = 0.0
    for x in range(len(solution.policy)):
        best = x * actions
        for pair in range(best, best + actions):
            if merged.sample.is_single[pair]:
                q[pair] = best_value(merged, pair)
            else:
                q[pair] = find_best_row(merged, pair)
                set_best_reward(merged, pair)
            if q[pair] > q[best]:
                best = pair
        solution.policy[x] = best - x * actions
        gain = max(gain, q[best] - solution.value[x])
    return gain > (SWITCH if len(solution.matrix) > 0 else SWEEP_TOLERANCE) * largest


@inlined
def find_best_row(merged: Merged, pair: int) -> float:
    """Find the best of several rows and return its value."""
    sample = merged.sample
    first, length = sample.first_row[pair], sample.length[pair]
    worth = merged.worth[:length]
    set_worth(merged, pair, worth)
    greatest = -np.inf
    for place in range(first, first + sample.kept[pair] * length, length):
        value = dot(sample.rows[place : place + length], worth)
        if value > greatest:
            greatest, sample.best[pair] = value, place
    if sample.redrawn[pair]:
        return find_best_redrawn(merged, pair, worth, greatest)
    return greatest


@cold
def find_best_redrawn(merged: Merged, pair: int, worth: Floats, greatest: float) -> float:
    """Draw the remaining rows again; keep one if it is better; return the best value."""
    sample, regions = merged.sample, merged.regions
    first, spare = sample.first_entry[pair], len(merged.entry_reward)
    shapes = merged.posterior.entry_count[entries_of(sample, pair)]
    best = sample.rows[first : first + len(shapes)]
    row = sample.rows[spare : spare + len(shapes)]
    kept_regions = regions.region[regions_of(merged, pair, regions.number[pair])]
    for i in range(len(sample.stream)):
        sample.stream[i] = keyed_word(sample.key[pair], 0, i)
    for _ in range(sample.left[pair]):
        draw_outside(sample.stream, shapes, kept_regions, row)
        value = dot(row, worth)
        if value > greatest:
            greatest, sample.best[pair] = value, first
            copy_vector(best, row)
    return greatest


@inlined
def evaluate(merged: Merged) -> None:
    """Compute the values of the policy by elimination from the last state to the first.

    No pivots are needed, because the matrix is diagonally dominant.
    """
    set_equations(merged)
    matrix, value = merged.solution.matrix, merged.solution.value
    states = len(value)
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


@inlined
def set_equations(merged: Merged) -> None:
    """Set `matrix` to I - discount * P_policy, and `value` to the policy's rewards."""
    sample, solution = merged.sample, merged.solution
    for x in range(len(solution.value)):
        pair = x * merged.posterior.num_actions + solution.policy[x]
        row = sample.rows[best_of(sample, pair)]
        following = merged.posterior.entry_next[entries_of(sample, pair)]
        solution.value[x] = sample.best_reward[pair]
        solution.matrix[x, :] = 0.0
        solution.matrix[x, x] = 1.0
        for i in range(len(row)):
            solution.matrix[x, at(following[i])] -= merged.discount * row[i]


@cold
def sweep(merged: Merged) -> None:
    """Compute the values of the policy by Gauss-Seidel sweeps.

    If a sweep changes no value by more than c, all are within c / (1 - discount) of the exact ones.
    """
    solution = merged.solution
    tolerance = max(SWEEP_TOLERANCE / 4 * (1 - merged.discount), _ROUNDING)
    change, largest = 1.0, 0.0
    while change > tolerance * largest:
        change, largest = 0.0, 0.0
        for x in range(len(solution.value)):
            pair = x * merged.posterior.num_actions + solution.policy[x]
            value = best_value(merged, pair)
            change = max(change, abs(value - solution.value[x]))
            largest = max(largest, abs(value))
            solution.value[x] = value
