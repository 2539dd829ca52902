"""Make the arrays of agents that solve MDPs of sampled rows."""

import numpy as np

from ...errors import InvalidInput
from ...kernels.counts import Counts
from ...kernels.solving.draws import Draws
from ...kernels.solving.merged_state import (
    MAX_REGIONS,
    TWO_ROWS,
    Initial,
    Merged,
    Regions,
    Sample,
    Solution,
)
from ...kernels.types import Floats, Integers
from ...mdps.dirichlet import FlatDirichlet
from ..base import Task
from .model import build_counts, copy, entry_rewards, solved_model

# Beyond this many states sweeps take less time than elimination.
MAX_MATRIX_STATES = 256
# At most this many probabilities of rows are kept (32 MB); other rows are drawn repeatedly.
MAX_KEPT = 2**22
# Drawing more numbers than this in one sampling would take many seconds.
MAX_DRAWN = 10**9


def build_merged(
    prior: FlatDirichlet, task: Task, num_rows: Integers, most_rows: Floats
) -> tuple[Merged, Initial]:
    """The prior's merged MDP, not sampled yet; `most_rows` [P] limits the rows of a pair."""
    counts = build_counts(prior, task.horizon, background=False)
    states, pool = prior.num_states, len(counts.entry_count)
    merged = Merged(
        posterior=copy(counts),
        discount=task.discount,
        entry_reward=entry_rewards(prior, counts),
        num_rows=num_rows,
        sample=_build_sample(counts, most_rows),
        regions=_build_regions(len(counts.total), pool),
        solution=_build_solution(states, len(counts.total)),
        worth=np.zeros(states),
    )
    return merged, Initial(counts=counts, value=solved_model(prior, task).value)


def build_draws(prior: FlatDirichlet, task: Task, samples: int, parameter: str) -> Draws:
    """Room for the Q-values of MDPs of the prior, none of which is drawn yet."""
    one, actions = np.ones(prior.counts.num_pairs), prior.num_actions
    check_size(prior, samples * one, parameter, "use fewer samples")
    merged, initial = build_merged(prior, task, one.astype(np.int64), one)
    return Draws(
        merged=merged,
        initial=initial,
        q=np.zeros((samples, actions)),
        mean=np.zeros(actions),
    )


def _build_sample(counts: Counts, most_rows: Floats) -> Sample:
    pairs, pool = len(counts.total), len(counts.entry_count)
    several = (most_rows > 1) & (counts.row_length > 2)
    # Twice, because a pair's rows move when more of them are kept.
    room = min(2 * float(most_rows[several] @ counts.row_length[several]), MAX_KEPT)
    return Sample(
        first_entry=np.zeros(pairs, np.int64),
        length=np.zeros(pairs, np.int64),
        rows=np.zeros(pool + counts.num_states + TWO_ROWS * pairs + int(room)),
        end=np.zeros(1, np.int64),
        is_single=np.zeros(pairs, np.bool_),
        first_row=np.zeros(pairs, np.int64),
        kept=np.zeros(pairs, np.int64),
        left=np.zeros(pairs, np.int64),
        redrawn=np.zeros(pairs, np.bool_),
        key=np.zeros(pairs, np.uint64),
        stream=np.zeros(4, np.uint64),
        best=np.zeros(pairs, np.int64),
        best_reward=np.zeros(pairs),
    )


def _build_regions(pairs: int, pool: int) -> Regions:
    return Regions(
        number=np.zeros(pairs, np.int64),
        region=np.zeros(MAX_REGIONS * pool),
        chance=np.zeros(MAX_REGIONS * pairs),
        distance=np.zeros(pairs),
    )


def _build_solution(states: int, pairs: int) -> Solution:
    side = states if states <= MAX_MATRIX_STATES else 0
    return Solution(
        policy=np.zeros(states, np.int64),
        value=np.zeros(states),
        scale=np.zeros(1),
        q=np.zeros(pairs),
        matrix=np.zeros((side, side)),
    )


def check_size(prior: FlatDirichlet, most_rows: Floats, parameter: str, remedy: str) -> None:
    """Refuse a prior from which one sampling could draw too many numbers.

    Rows with two outcomes count as if they had three: once a transition is observed that is
    impossible under the prior, their shortcut no longer applies.
    """
    outcomes = np.maximum(np.diff(prior.counts.row_start), 3)
    drawn = float(np.sum(most_rows * outcomes))
    if drawn > MAX_DRAWN:
        raise InvalidInput(
            f"{parameter}: one sampling from this prior could draw {drawn:.1g} numbers, the limit "
            f"is {MAX_DRAWN:.0g}: {remedy}"
        )
