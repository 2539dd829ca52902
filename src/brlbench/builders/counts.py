"""Build counts from priors that have them."""

import numpy as np

from ..beliefs.flat import FlatDirichlet
from ..beliefs.tied import TiedDirichlet
from ..kernels.counts import Counts
from ..kernels.types import Booleans, Floats

Counting = FlatDirichlet | TiedDirichlet


def has_equal_counts(prior: Counting) -> Booleans:
    """Whether, for each pair [P], all next states are possible with the same count."""
    table, first = prior.counts, prior.counts.row_start[:-1]
    lowest, highest = (each.reduceat(table.values, first) for each in (np.minimum, np.maximum))
    return np.asarray((lowest == highest) & (np.diff(table.row_start) == prior.num_states))


def build_counts(
    prior: Counting, horizon: int, background: bool = True, listed: Booleans | None = None
) -> Counts:
    """The prior's counts, with room for the next states that `horizon` transitions can add.

    With `background`, a full row of equal counts becomes background. Its only entries are those of
    the prior's transitions that are `listed`; they begin at zero. Listed entries come first in all
    rows.
    """
    table, rewards = prior.counts, prior.rewards.mean
    uniform = background & has_equal_counts(prior)
    in_uniform = uniform[table.pair]
    listed = np.zeros(len(in_uniform), np.bool_) if listed is None else listed
    chosen = np.flatnonzero(~in_uniform | listed)
    chosen = chosen[np.lexsort((~listed[chosen], table.pair[chosen]))]
    entries = len(chosen)
    row_length = np.bincount(table.pair[chosen], minlength=table.num_pairs)
    # A full row moves to room for twice its length plus two; at worst, every transition moves one.
    growing = row_length[row_length < prior.num_states]
    moved = horizon * (2 * int(growing.max(initial=0)) + 8)
    # However long the horizon, all the rooms of a row take less than 4 S entries together.
    room = entries + min(moved, 4 * prior.num_states * len(growing))
    next_state, count = np.zeros(room, np.int64), np.zeros(room)
    next_state[:entries] = table.next_state[chosen]
    count[:entries] = np.where(in_uniform, 0.0, table.values)[chosen]
    reward_sum = table.replace(table.values * rewards.at(table)).row_sums()
    return Counts(
        num_states=prior.num_states,
        num_actions=prior.num_actions,
        has_background=bool(uniform.any()),
        background=np.where(uniform, table.values[table.row_start[:-1]], 0.0),
        total=table.row_sums(),
        reward_sum=reward_sum,
        row_start=np.concatenate([[0], np.cumsum(row_length)[:-1]]),
        row_length=row_length,
        row_room=row_length.copy(),
        entry_next=next_state,
        entry_count=count,
        pool_end=np.array([entries]),
        reward_start=rewards.row_start.copy(),
        reward_next=rewards.next_state.copy(),
        reward=rewards.values.copy(),
    )


def entry_rewards(prior: Counting, counts: Counts) -> Floats:
    """The rewards [pool] of the entries of counts without background, with the same room."""
    rewards = np.zeros(len(counts.entry_count))
    rewards[: counts.pool_end[0]] = prior.rewards.mean.at(prior.counts)
    return rewards
