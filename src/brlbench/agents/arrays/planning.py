"""Make the arrays that searching agents work on."""

import numpy as np

from ...kernels.counts import Counts
from ...kernels.loop.deadline import SIZE, Deadline
from ...kernels.random.alias import Alias
from ...mdps.dirichlet import FlatDirichlet
from ...mdps.sparse import Floats
from ..bamcp.urn import CopyingUrn
from ..base import Task

# Rewards are looked up in a full table up to this many numbers, and searched for beyond.
_MAX_FULL_TABLE = 1 << 20
# Nanoseconds from one look at the clock to the next; a look takes 26.
_BETWEEN_LOOKS = 1500


def build_alias(cells: int) -> Alias:
    """Room for tables."""
    return Alias(limit=np.zeros(cells, np.uint64), values=np.zeros(cells, np.int64))


def build_copying_urn(counts: Counts, limit: int) -> CopyingUrn:
    """An empty urn beside some counts, for at most `limit` draws; without tables yet."""
    pairs = len(counts.total)
    return CopyingUrn(
        limit=limit,
        tables=build_alias(len(counts.entry_count)),
        number=np.zeros(pairs),
        drawn=np.zeros(pairs * limit, np.int32),
        log_pair=np.zeros(limit, np.int32),
    )


def reward_table(prior: FlatDirichlet) -> Floats:
    """All rewards [P * S], or nothing where that is too much."""
    size = prior.num_states * prior.num_actions * prior.num_states
    return prior.rewards.mean.to_dense().ravel() if size <= _MAX_FULL_TABLE else np.zeros(0)


def build_deadline(task: Task, simulation: float) -> Deadline:
    """The deadline of each decision, for simulations that take some nanoseconds or more."""
    limit = 0 if task.deadline is None else max(1, int(min(task.deadline * 1e9, 2.0**60)))
    stride = max(1, int(_BETWEEN_LOOKS / simulation))
    return Deadline(limit, stride, np.zeros(SIZE, np.int64))


def simulations_in_time(simulations: int, simulation: float, task: Task) -> int:
    """As many simulations as were asked for, or as can at most be made within the deadline."""
    if task.deadline is None:
        return simulations
    return min(simulations, 1 + int(min(task.deadline * 1e9 / simulation, 2.0**60)))
