"""Hypothetical transitions of a solved model: count them, and take them back exactly.

Solutions are saved and restored as a whole, counts one transition at a time. Saved numbers are put
back as they were, because adding and subtracting one can change the last digits.
"""

from typing import Any, NamedTuple

from ..arrays import copy_matrix, copy_vector
from ..counts import Counts, add
from ..dispatch import by_type, provide
from ..families import Flat
from ..jit import cold, inlined
from ..types import Floats, Integers
from . import model as models
from .model import Model

PAIR, START, LENGTH, ROOM, END, ENTRY = 0, 1, 2, 3, 4, 5  # slots of `row`
TOTAL, REWARD_SUM, COUNT = 0, 1, 2  # slots of `number`
NUM_ROW, NUM_NUMBER = 6, 3
NO_ENTRY = -1


class SavedRows(NamedTuple):
    """K saved copies of all counts, for families in which a transition changes many rows."""

    total: Floats  # [K, P]
    reward_sum: Floats  # [K, P]
    entry_count: Floats  # [K, pool]
    entry_reward: Floats  # [K, pool]
    belief: Any  # K saved beliefs, as the family's `save` needs them


class Saved(NamedTuple):
    """K saved solutions, and the numbers that L counted transitions replaced."""

    policy: Integers  # [K, S]
    inverse: Floats  # [K, S, S], or [K, 0, 0]
    value: Floats  # [K, S]
    q: Floats  # [K, P]
    norms: Floats  # [K, 2]
    row: Integers  # [L, NUM_ROW]
    number: Floats  # [L, NUM_NUMBER]
    rows: Any  # SavedRows, or Flat() where transitions are taken back one by one


@cold
def save(model: Model, saved: Saved, k: int) -> None:
    """Save the model's solution as number k."""
    copy_vector(saved.policy[k], model.policy)
    copy_matrix(saved.inverse[k], model.inverse)
    copy_vector(saved.value[k], model.value)
    copy_vector(saved.q[k], model.q)
    copy_vector(saved.norms[k], model.norms)


@cold
def restore(model: Model, saved: Saved, k: int) -> None:
    """Back to the solution number k."""
    copy_vector(model.policy, saved.policy[k])
    copy_matrix(model.inverse, saved.inverse[k])
    copy_vector(model.value, saved.value[k])
    copy_vector(model.q, saved.q[k])
    copy_vector(model.norms, saved.norms[k])


@by_type
def save_belief(belief: Any, saved: Any, k: int) -> None:
    """Save a belief as number k."""


@by_type
def restore_belief(belief: Any, saved: Any, k: int) -> None:
    """Back to the belief number k."""


def _nothing(belief: Flat, saved: Any, k: int) -> None:
    pass


provide(Flat, {save_belief: _nothing, restore_belief: _nothing})


@cold
def save_rows(belief: Any, counts: Counts, entry_reward: Floats, saved: SavedRows, k: int) -> None:
    """Save counts, the rewards of their entries and a belief as number k."""
    copy_vector(saved.total[k], counts.total)
    copy_vector(saved.reward_sum[k], counts.reward_sum)
    copy_vector(saved.entry_count[k], counts.entry_count)
    copy_vector(saved.entry_reward[k], entry_reward)
    save_belief(belief, saved.belief, k)


@cold
def restore_rows(
    belief: Any, counts: Counts, entry_reward: Floats, saved: SavedRows, k: int
) -> None:
    """Back to the counts, the rewards and the belief number k."""
    copy_vector(counts.total, saved.total[k])
    copy_vector(counts.reward_sum, saved.reward_sum[k])
    copy_vector(counts.entry_count, saved.entry_count[k])
    copy_vector(entry_reward, saved.entry_reward[k])
    restore_belief(belief, saved.belief, k)


@cold
def save_all(model: Model, saved: Saved, k: int) -> None:
    """Save the model's solution, its counts and its belief as number k."""
    save(model, saved, k)
    save_rows(model.belief, model.counts, model.entry_reward, saved.rows, k)


@cold
def restore_all(model: Model, saved: Saved, k: int) -> None:
    """Back to the solution, the counts and the belief number k."""
    restore(model, saved, k)
    restore_rows(model.belief, model.counts, model.entry_reward, saved.rows, k)


@cold
def learn(model: Model, x: int, u: int, y: int, r: float) -> None:
    """As `model.learn`, but not inlined."""
    number = models.count(model, x * model.counts.num_actions + u, y, r)
    update_apart(model, x, u, y, number)


@cold
def update_apart(model: Model, x: int, u: int, y: int, number: int) -> None:
    """As `model.update`, but not inlined: it is large."""
    models.update(model, x, u, y, number)


@inlined
def count(counts: Counts, saved: Saved, i: int, pair: int, y: int) -> None:
    """Count a transition that `uncount` takes back, the last one first."""
    row, number = saved.row, saved.number
    row[i, PAIR] = pair
    row[i, START] = counts.row_start[pair]
    row[i, LENGTH] = counts.row_length[pair]
    row[i, ROOM] = counts.row_room[pair]
    row[i, END] = counts.pool_end[0]
    row[i, ENTRY] = NO_ENTRY
    for entry in range(row[i, START], row[i, START] + row[i, LENGTH]):
        if counts.entry_next[entry] == y:
            row[i, ENTRY] = entry
            number[i, COUNT] = counts.entry_count[entry]
    number[i, TOTAL] = counts.total[pair]
    number[i, REWARD_SUM] = counts.reward_sum[pair]
    add(counts, pair, y)


@inlined
def uncount(counts: Counts, saved: Saved, i: int) -> None:
    """Take transition i back. The old copy of a moved row is still valid."""
    row, number = saved.row, saved.number
    pair = row[i, PAIR]
    counts.row_start[pair] = row[i, START]
    counts.row_length[pair] = row[i, LENGTH]
    counts.row_room[pair] = row[i, ROOM]
    counts.pool_end[0] = row[i, END]
    if row[i, ENTRY] != NO_ENTRY:
        counts.entry_count[row[i, ENTRY]] = number[i, COUNT]
    counts.total[pair] = number[i, TOTAL]
    counts.reward_sum[pair] = number[i, REWARD_SUM]
