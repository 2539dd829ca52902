"""Unknown binary rewards for agents that look at all that can happen: next states with rewards.

Counts have two entries per next state, one per reward. They are the count of the next state, shared
in proportion to the expected chances of the rewards. All rows of changed pairs are set anew.
"""

from typing import Any, NamedTuple

from ...kernels import families
from ...kernels.arrays import copy_vector
from ...kernels.counts import Counts
from ...kernels.counts import reset as reset_counts
from ...kernels.jit import inlined, kernel
from ...kernels.solving import endless
from ...kernels.types import Floats
from .kernel import Means, copy_means, learn, mean

PER_STATE = 2  # entries; that of the reward 0 comes first


class Outcomes(NamedTuple):
    """A belief about transitions, and one about binary rewards."""

    inner: Any  # Flat or Tied
    means: Means
    rows: Counts  # of next states alone


class SavedOutcomes(NamedTuple):
    """N saved copies of what changes."""

    weight: Floats  # [N, P]
    total: Floats  # [N, P]
    row_total: Floats  # [N, P]
    entry_count: Floats  # [N, pool]


@kernel
def set_all_rows(belief: Outcomes, counts: Counts) -> None:
    """Set all rows."""
    for pair in range(len(counts.total)):
        set_row(belief, counts, pair)


@inlined
def set_row(belief: Outcomes, counts: Counts, pair: int) -> None:
    """Set a row: it has the place of the next states' row, in a pool of twice the size."""
    rows, win = belief.rows, mean(belief.means, pair)
    first, length = rows.row_start[pair], rows.row_length[pair]
    counts.row_start[pair] = PER_STATE * first
    counts.row_length[pair] = PER_STATE * length
    counts.row_room[pair] = PER_STATE * rows.row_room[pair]
    counts.total[pair] = rows.total[pair]
    counts.reward_sum[pair] = win * rows.total[pair]
    for entry in range(first, first + length):
        number = rows.entry_count[entry]
        for reward in range(PER_STATE):
            counts.entry_next[PER_STATE * entry + reward] = rows.entry_next[entry]
            chance = win if reward == 1 else 1 - win
            counts.entry_count[PER_STATE * entry + reward] = chance * number


def reset(belief: Outcomes, initial: Outcomes) -> None:
    """Back to the initial belief."""
    families.reset(belief.inner, initial.inner)
    copy_means(belief.means, initial.means)
    reset_counts(belief.rows, initial.rows)


def count(belief: Outcomes, counts: Counts, pair: int, y: int, r: float) -> int:
    """Learn, and set the rows that changed."""
    number = families.count(belief.inner, belief.rows, pair, y, r)
    if number > 0:
        learn(belief.means, pair, r)
    for i in range(number):
        set_row(belief, counts, families.changed(belief.inner, pair, i))
    counts.pool_end[0] = PER_STATE * belief.rows.pool_end[0]
    return number


def count_rewarded(
    belief: Outcomes, counts: Counts, entry_reward: Floats, pair: int, y: int, r: float
) -> int:
    """As `count`: the reward of an entry is its place."""
    return families.count(belief, counts, pair, y, r)


def observe(
    belief: Outcomes, counts: Counts, entry_reward: Floats, pair: int, y: int, r: float
) -> None:
    """Learn."""
    families.count(belief, counts, pair, y, r)


def changed(belief: Outcomes, pair: int, i: int) -> int:
    """The i-th pair whose row changed."""
    return families.changed(belief.inner, pair, i)


def overwrites(belief: Outcomes) -> bool:
    """Rows are set anew."""
    return True


def update_solution(belief: Outcomes, model: Any, x: int, u: int, y: int, number: int) -> None:
    """Exchange the rows that changed."""
    if number > 0:
        endless.update_rows(model, x * model.counts.num_actions + u, number)


def save_belief(belief: Outcomes, saved: SavedOutcomes, k: int) -> None:
    """Save the belief as number k; its rows have all entries that can be needed."""
    copy_vector(saved.weight[k], belief.means.weight)
    copy_vector(saved.total[k], belief.means.total)
    copy_vector(saved.row_total[k], belief.rows.total)
    copy_vector(saved.entry_count[k], belief.rows.entry_count)


def restore_belief(belief: Outcomes, saved: SavedOutcomes, k: int) -> None:
    """Back to the belief number k."""
    copy_vector(belief.means.weight, saved.weight[k])
    copy_vector(belief.means.total, saved.total[k])
    copy_vector(belief.rows.total, saved.row_total[k])
    copy_vector(belief.rows.entry_count, saved.entry_count[k])
