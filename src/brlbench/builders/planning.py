"""Build alias tables, deadlines and practice trajectories for agents that search."""

import numpy as np

from ..beliefs.base import Family
from ..beliefs.flat import FlatDirichlet
from ..beliefs.tied import TiedDirichlet
from ..kernels.loop.deadline import NO_LIMIT, NUM_TIMES, Deadline
from ..kernels.practice import Practice
from ..kernels.random.alias import Alias
from ..kernels.types import Floats
from ..mdps.task import Task
from .belief import build_belief
from .model import copy

# Rewards are in a full table of up to this many numbers; beyond, they are searched for.
_MAX_FULL_TABLE = 1 << 20
# Nanoseconds from one look at the clock to the next; a look takes 26.
_BETWEEN_LOOKS = 1500


def build_alias(cells: int) -> Alias:
    """Room for alias tables."""
    return Alias(limit=np.zeros(cells, np.uint64), values=np.zeros(cells, np.int64))


def reward_table(prior: FlatDirichlet | TiedDirichlet) -> Floats:
    """All rewards [P * S], or an empty table if that is too large."""
    size = prior.num_states * prior.num_actions * prior.num_states
    return prior.rewards.mean.to_dense().ravel() if size <= _MAX_FULL_TABLE else np.zeros(0)


def build_deadline(task: Task, simulation: float) -> Deadline:
    """The deadline of each decision; a simulation takes at least `simulation` nanoseconds."""
    limit = NO_LIMIT
    if task.deadline is not None:
        limit = max(1, int(min(task.deadline * 1e9, 2.0**60)))
    stride = max(1, int(_BETWEEN_LOOKS / simulation))
    return Deadline(limit=limit, stride=stride, times=np.zeros(NUM_TIMES, np.int64))


def simulations_in_time(simulations: int, simulation: float, task: Task) -> int:
    """The simulations asked for, but no more than can be made within the deadline."""
    if task.deadline is None:
        return simulations
    return min(simulations, 1 + int(min(task.deadline * 1e9 / simulation, 2.0**60)))


def build_practice(prior: Family, task: Task, rng: np.random.Generator) -> Practice:
    """Trajectories on MDPs of a prior, for compiled code."""
    belief, counts, _ = build_belief(prior, task.horizon)
    key = rng.integers(0, 2**64, dtype=np.uint64)
    return Practice(
        belief=copy(belief),
        initial_belief=belief,
        counts=copy(counts),
        initial=counts,
        drawn=np.zeros(1, np.int64),
        start=prior.start.copy(),
        discount=task.discount,
        horizon=task.horizon,
        episode=task.episode or task.horizon,
        key=key,
    )
