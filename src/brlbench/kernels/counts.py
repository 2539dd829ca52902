"""Posterior counts of a flat Dirichlet-multinomial, learning one transition at a time.

The count of (pair, y) is the pair's background, the same for every next state, plus the count of
the entry for y if there is one. A uniform prior is all background, so its rows cost as little as
sparse ones. A full row moves to the end of the pool, where it has room to grow.
"""

from typing import NamedTuple

from .arrays import at, copy_start, copy_vector
from .jit import cold, inlined
from .types import Floats, Integers


class Counts(NamedTuple):
    """Counts of all transitions, and the known rewards."""

    num_states: int
    num_actions: int
    has_background: bool
    background: Floats  # [P]
    total: Floats  # [P]; sum of all counts of the pair
    reward_sum: Floats  # [P]; sum of count times reward
    row_start: Integers  # [P]
    row_length: Integers  # [P]
    row_room: Integers  # [P]; number of entries that fit
    entry_next: Integers  # [pool]
    entry_count: Floats  # [pool]
    pool_end: Integers  # [1]
    reward_start: Integers  # [P + 1]; rows of the reward table
    reward_next: Integers  # [R]
    reward: Floats  # [R]


@inlined
def reset(counts: Counts, initial: Counts) -> None:
    """Back to the initial counts."""
    copy_vector(counts.total, initial.total)
    copy_vector(counts.reward_sum, initial.reward_sum)
    copy_vector(counts.row_start, initial.row_start)
    copy_vector(counts.row_length, initial.row_length)
    copy_vector(counts.row_room, initial.row_room)
    end = initial.pool_end[0]
    copy_start(counts.entry_next, initial.entry_next, end)
    copy_start(counts.entry_count, initial.entry_count, end)
    counts.pool_end[0] = end


@inlined
def reward_of(counts: Counts, pair: int, y: int) -> float:
    """The known reward of a transition, by binary search in its row."""
    low, high = counts.reward_start[pair], counts.reward_start[pair + 1]
    while low < high:
        middle = (low + high) // 2
        if counts.reward_next[middle] < y:
            low = middle + 1
        else:
            high = middle
    if low < counts.reward_start[pair + 1] and counts.reward_next[low] == y:
        return counts.reward[low]
    return 0.0


@inlined
def known_reward(counts: Counts, table: Floats, pair: int, y: int) -> float:
    """The known reward of a transition, from a full table [P * S] unless that is empty."""
    if len(table) > 0:
        return table[at(pair * counts.num_states + y)]
    return reward_of(counts, pair, y)


@inlined
def add(counts: Counts, pair: int, y: int) -> None:
    """Count one more transition."""
    counts.total[pair] += 1
    counts.reward_sum[pair] += reward_of(counts, pair, y)
    first = counts.row_start[pair]
    for entry in range(first, first + counts.row_length[pair]):
        if counts.entry_next[entry] == y:
            counts.entry_count[entry] += 1
            return
    append(counts, pair, y)


@inlined
def add_rewarded(counts: Counts, entry_reward: Floats, pair: int, y: int) -> None:
    """Count one more transition, and keep `entry_reward` [pool], the rewards of all entries."""
    length = counts.row_length[pair]
    add(counts, pair, y)
    if counts.row_length[pair] != length:
        first = counts.row_start[pair]
        for entry in range(first, first + length + 1):
            entry_reward[entry] = reward_of(counts, pair, counts.entry_next[entry])


@cold
def append(counts: Counts, pair: int, y: int) -> None:
    """Give a next state an entry of its own, with a count of one."""
    length = counts.row_length[pair]
    if length == counts.row_room[pair]:
        old, new = counts.row_start[pair], counts.pool_end[0]
        counts.row_room[pair] = 2 * length + 2
        counts.pool_end[0] += counts.row_room[pair]
        if counts.pool_end[0] > len(counts.entry_count):
            raise IndexError("more decisions than the agent was trained for (task.horizon)")
        for i in range(length):
            counts.entry_next[new + i] = counts.entry_next[old + i]
            counts.entry_count[new + i] = counts.entry_count[old + i]
        counts.row_start[pair] = new
    entry = counts.row_start[pair] + length
    counts.entry_next[entry] = y
    counts.entry_count[entry] = 1.0
    counts.row_length[pair] += 1


@cold
def support_size(counts: Counts, pair: int) -> int:
    """The number of possible next states."""
    if counts.background[pair] > 0:
        return counts.num_states
    return counts.row_length[pair]


@inlined
def spread(counts: Counts, pair: int) -> float:
    """One minus the sum of the squared mean probabilities: 0 if the next state is certain.

    Divided by the total count plus one, it is the sum of the posterior variances of the
    probabilities.
    """
    if support_size(counts, pair) == 1:
        return 0.0
    background, first = counts.background[pair], counts.row_start[pair]
    squares = counts.num_states * background * background
    for entry in range(first, first + counts.row_length[pair]):
        count = counts.entry_count[entry]
        squares += count * (count + 2 * background)
    return max(0.0, 1 - squares / (counts.total[pair] * counts.total[pair]))
