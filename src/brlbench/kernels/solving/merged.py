"""The merged MDP of rows sampled from a posterior: each row is an action of its own.

K(x, u) rows of transition probabilities are drawn for every pair (Asmuth et al., 2009). Given the
values of the states, the value of a row p is the sum over y of p(y) (reward(y) + discount *
value(y)). Policy iteration as in `sampled`, but every pair first takes its best row.

No more rows are drawn than are needed. A row's value is linear in p. So if a pair has two outcomes,
only its rows with the least and the greatest probability of the first outcome can be best. If
another pair has many rows, those with the highest values under the last solution are drawn first,
see `tail`. Once the MDP of these rows is solved, a bound tells which pairs may have better ones.
For these pairs the highest rows under the new solution are drawn too. The values, the best
actions and their values are those of the merged MDP of all rows, with the same law as if all had
been drawn; the values of other actions may be too low. When the room for rows is used up, a pair's
remaining rows come from a stream of its own and are drawn again whenever they are needed.

In episodes, the best row depends on the decisions left, so all rows are drawn at once.
"""

from typing import Any

import numpy as np

from ..arrays import copy_vector
from ..dispatch import by_type, provide
from ..jit import cold, inlined
from ..random.rng import keyed_word
from ..types import Floats, Words
from . import sampled
from .merged_rows import Merged, draw, draw_doubtful, draw_outside, regions_of, set_worth
from .plans import Endless
from .sampled import MAX_TURNS, Initial, dot, entries_of, evaluate, improve, q_value, set_reward

FIRST_DISTANCE = 0.01


@by_type
def reset(merged: Any, initial: Initial, x: int) -> bool:  # type: ignore[empty-body]
    """Back to the prior, and learn from the start state x; return whether that taught anything."""


@by_type
def resample(merged: Any, rng: Words) -> None:
    """Draw all rows anew and solve the merged MDP, starting from the values of the last one."""


def _reset(merged: Merged, initial: Initial, x: int) -> bool:
    merged.regions.distance[:] = FIRST_DISTANCE
    return sampled.reset(merged.mdp, initial, x)


def _resample(merged: Merged, rng: Words) -> None:
    resample_rows(merged, rng)


provide(Merged, {reset: _reset, resample: _resample})


@cold
def resample_rows(merged: Merged, rng: Words) -> None:
    """`resample`, for rows of pairs that are independent."""
    draw(merged, rng)
    solve_rows(merged.mdp.plan, merged, rng)


@by_type
def solve_rows(plan: Any, merged: Merged, rng: Words) -> None:
    """Solve the merged MDP, and draw rows that may be better than those in memory, by the plan."""


def _solve_endless(plan: Endless, merged: Merged, rng: Words) -> None:
    doubtful = True
    while doubtful:
        solve(merged)
        doubtful = draw_doubtful(merged, rng)


provide(Endless, {solve_rows: _solve_endless})


@inlined
def solve(merged: Merged) -> None:
    """Policy iteration over the rows in memory."""
    for turn in range(MAX_TURNS):
        take_best_rows(merged)
        better = improve(merged.mdp)
        if turn > 0 and not better:
            break
        evaluate(merged.mdp)


@inlined
def take_best_rows(merged: Merged) -> None:
    """Take the best row of every pair under the present values, and compute all Q-values."""
    mdp = merged.mdp
    for pair in range(len(mdp.optimum.q)):
        if merged.sample.is_single[pair]:
            mdp.optimum.q[pair] = q_value(mdp, pair)
        else:
            mdp.optimum.q[pair] = find_best_row(merged, pair)
            set_reward(mdp, pair)


@inlined
def find_best_row(merged: Merged, pair: int) -> float:
    """Find the best of several rows and return its value."""
    rows, sample = merged.mdp.rows, merged.sample
    first, length = sample.first_row[pair], rows.length[pair]
    worth = merged.worth[:length]
    set_worth(merged, pair, worth)
    greatest = -np.inf
    for place in range(first, first + sample.number[pair] * length, length):
        value = dot(rows.probability[place : place + length], worth)
        if value > greatest:
            greatest, rows.start[pair] = value, place
    if sample.redrawn[pair]:
        return find_best_redrawn(merged, pair, worth, greatest)
    return greatest


@cold
def find_best_redrawn(merged: Merged, pair: int, worth: Floats, greatest: float) -> float:
    """Draw the remaining rows again; keep one if it is better; return the best value."""
    sample, regions, rows = merged.sample, merged.regions, merged.mdp.rows
    first, spare = rows.first_entry[pair], len(merged.mdp.entry_reward)
    shapes = merged.mdp.posterior.entry_count[entries_of(rows, pair)]
    best = rows.probability[first : first + len(shapes)]
    row = rows.probability[spare : spare + len(shapes)]
    kept_regions = regions.region[regions_of(merged, pair, regions.number[pair])]
    for i in range(len(sample.stream)):
        sample.stream[i] = keyed_word(sample.key[pair], 0, i)
    for _ in range(sample.left[pair]):
        draw_outside(sample.stream, shapes, kept_regions, row)
        value = dot(row, worth)
        if value > greatest:
            greatest, rows.start[pair] = value, first
            copy_vector(best, row)
    return greatest
