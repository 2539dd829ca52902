"""Make the arrays of agents that solve MDPs of sampled rows (PSRL, BOSS and SBOSS)."""

import numpy as np

from ...errors import InvalidInput
from ...kernels.counts import Counts
from ...kernels.solving.merged_state import MAX_REGIONS, Initial, Merged
from ...mdps.dirichlet import FlatDirichlet
from ...mdps.sparse import Floats, Integers
from ..base import Task
from .model import build_counts, copy, solved_model

# Beyond this many states sweeps take less time than elimination.
MAX_MATRIX_STATES = 256
# Rows are kept up to this many probabilities, 32 MB; those of further pairs are drawn repeatedly.
MAX_KEPT = 2**22
# More numbers than this in one sampling would take more than some seconds.
MAX_DRAWN = 10**9


def build_merged(
    prior: FlatDirichlet, task: Task, num_rows: Integers, most_rows: Floats
) -> tuple[Merged, Initial]:
    """The prior's merged MDP, not sampled yet; `most_rows` [P] limits the rows of a pair."""
    counts = explicit_counts(prior, task.horizon)
    states, pairs = prior.num_states, len(counts.total)
    pool = len(counts.entry_count)
    rewards = np.zeros(pool)
    rewards[: counts.pool_end[0]] = prior.rewards.mean.at(prior.counts)
    several = (most_rows > 1) & (counts.row_length > 2)
    # Twice, because the rows of a pair may move when there are more of them.
    room = min(2 * float(most_rows[several] @ counts.row_length[several]), MAX_KEPT)
    side = states if states <= MAX_MATRIX_STATES else 0
    merged = Merged(
        posterior=copy(counts),
        discount=task.discount,
        entry_reward=rewards,
        num_rows=num_rows,
        first_entry=np.zeros(pairs, np.int64),
        length=np.zeros(pairs, np.int64),
        rows=np.zeros(pool + states + 4 * pairs + int(room)),
        end=np.zeros(1, np.int64),
        several=np.zeros(pairs, np.int64),
        kept=np.zeros(pairs, np.int64),
        left=np.zeros(pairs, np.int64),
        regions=np.zeros(pairs, np.int64),
        region=np.zeros(MAX_REGIONS * pool),
        chance=np.zeros(MAX_REGIONS * pairs),
        distance=np.zeros(pairs),
        redrawn=np.zeros(pairs, np.bool_),
        best=np.zeros(pairs, np.int64),
        row_reward=np.zeros(pairs),
        key=np.zeros(pairs, np.uint64),
        stream=np.zeros(4, np.uint64),
        worth=np.zeros(states),
        policy=np.zeros(states, np.int64),
        matrix=np.zeros((side, side)),
        value=np.zeros(states),
        scale=np.zeros(1),
        q=np.zeros(pairs),
    )
    return merged, Initial(counts, solved_model(prior, task).value)


def explicit_counts(prior: FlatDirichlet, horizon: int) -> Counts:
    """The prior's counts with an entry for every possible next state, even where all are alike."""
    table = prior.counts
    entries, lengths = len(table.values), np.diff(table.row_start)
    growing = lengths[lengths < prior.num_states]
    room = entries + horizon * (2 * int(growing.max(initial=0)) + 8)
    next_state, count = np.zeros(room, np.int64), np.zeros(room)
    next_state[:entries], count[:entries] = table.next_state, table.values
    return build_counts(prior, horizon)._replace(
        has_background=False,
        background=np.zeros(table.num_pairs),
        row_start=table.row_start[:-1].copy(),
        row_length=lengths,
        row_room=lengths.copy(),
        entry_next=next_state,
        entry_count=count,
        pool_end=np.array([entries]),
    )


def check_size(prior: FlatDirichlet, most_rows: Floats, parameter: str, remedy: str) -> None:
    """Refuse what would take very long: too many numbers to draw in one sampling.

    Rows with two outcomes are counted as if they had three: a transition that the prior holds
    to be impossible may be observed, and then no shortcut applies.
    """
    outcomes = np.maximum(np.diff(prior.counts.row_start), 3)
    drawn = float(np.sum(most_rows * outcomes))
    if drawn > MAX_DRAWN:
        raise InvalidInput(
            f"{parameter}: one sampling from this prior could draw {drawn:.1g} numbers, the limit "
            f"is {MAX_DRAWN:.0g}: {remedy}"
        )
