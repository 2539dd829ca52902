"""Build the merged MDP of several rows per pair, sampled from the posterior."""

import numpy as np

from ..kernels.solving.merged_rows import MAX_REGIONS, TWO_ROWS, Merged, Sample, TailRegions
from ..kernels.solving.sampled import Initial
from ..kernels.types import Floats, Integers
from ..mdps.dirichlet import FlatDirichlet
from ..mdps.task import Task
from .sampled import build_sampled

# At most this many probabilities of rows are in memory (32 MB); other rows are drawn repeatedly.
MAX_IN_MEMORY = 2**22


def build_merged(
    prior: FlatDirichlet, task: Task, num_rows: Integers, most_rows: Floats
) -> tuple[Merged, Initial]:
    """The prior's merged MDP, not sampled yet: each pair uses the best of several sampled rows.

    `num_rows` [P] is the number of rows of each pair, and `most_rows` [P] its upper limit.
    """
    lengths = np.diff(prior.counts.row_start)
    several = (most_rows > 1) & (lengths > 2)
    # Twice, because a pair's rows move when more of them are drawn.
    room = min(2 * float(most_rows[several] @ lengths[several]), MAX_IN_MEMORY)
    pairs = len(lengths)
    mdp, initial = build_sampled(prior, task, prior.num_states + TWO_ROWS * pairs + int(room))
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
        worth=np.zeros(prior.num_states),
    )
    return merged, initial
