"""Build merged MDPs: of several rows per pair, or of whole models, sampled from a belief."""

import numpy as np

from ..beliefs.base import Family
from ..kernels.solving.merged_models import MergedModels
from ..kernels.solving.merged_rows import MAX_REGIONS, TWO_ROWS, Merged, Sample, TailRegions
from ..kernels.solving.sampled import Initial
from ..kernels.types import Floats, Integers
from ..mdps.task import Task
from .sampled import build_sampled, with_room

# At most this many probabilities of rows are in memory (32 MB); other rows are drawn repeatedly.
MAX_IN_MEMORY = 2**22


def build_merged(
    prior: Family, task: Task, num_rows: Integers, most_rows: Floats
) -> tuple[Merged, Initial]:
    """The prior's merged MDP, not sampled yet: each pair uses the best of several sampled rows.

    `num_rows` [P] is the number of rows of each pair, and `most_rows` [P] its upper limit.
    """
    mdp, initial = build_sampled(prior, task, look_up=False, by_outcome=True)
    lengths = mdp.posterior.row_length
    several = (most_rows > 1) & (lengths > 2)
    # Twice, because a pair's rows move when more of them are drawn.
    room = min(2 * float(most_rows[several] @ lengths[several]), MAX_IN_MEMORY)
    pairs = len(lengths)
    longest = max(prior.num_states, int(lengths.max()))
    mdp = with_room(mdp, longest + TWO_ROWS * pairs + int(room))
    merged = Merged(
        mdp=mdp,
        num_rows=num_rows,
        sample=Sample(
            end=np.zeros(1, np.int64),
            is_single=np.zeros(pairs, np.bool_),
            first_row=np.zeros(pairs, np.int64),
            number=np.zeros(pairs, np.int64),
            left=np.zeros(pairs, np.int64),
            redrawn=np.zeros(pairs, np.bool_),
            key=np.zeros(pairs, np.uint64),
            stream=np.zeros(4, np.uint64),
        ),
        regions=TailRegions(
            number=np.zeros(pairs, np.int64),
            region=np.zeros(MAX_REGIONS * len(mdp.entry_reward)),
            chance=np.zeros(MAX_REGIONS * pairs),
            distance=np.zeros(pairs),
        ),
        worth=np.zeros(longest),
    )
    return merged, initial


def build_merged_models(prior: Family, task: Task, models: int) -> tuple[MergedModels, Initial]:
    """The merged MDP of this many models, not sampled yet."""
    mdp, initial = build_sampled(prior, task, look_up=False)
    rewards = np.zeros((models, prior.num_states * prior.num_actions))
    return MergedModels(with_room(mdp, models * len(mdp.entry_reward)), rewards), initial
