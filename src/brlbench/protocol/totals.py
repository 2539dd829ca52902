"""What is kept of trajectories whose single decisions would take too much memory."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..mdps.sparse import Floats, Integers
from .experiment import Experiment
from .times import TimeCounts

if TYPE_CHECKING:  # importing kernels takes long
    from ..kernels.loop.trajectory import Record

MOST_DECISIONS = 10_000_000
"""The single decisions of an experiment with more than this are kept only if asked for."""


class PartTotals(NamedTuple):
    """What is kept of a part's n trajectories."""

    returns: Floats  # [n]
    cpu_nanoseconds: Integers  # [n]
    noise: Floats | None  # [n, F]
    start_values: Floats | None  # [n, F]
    times: TimeCounts


class Totals(NamedTuple):
    """What is kept of all trajectories: N MDPs, K trajectories per MDP."""

    returns: Floats  # [N, K]
    online_seconds: dict[str, float]  # by time feature
    overruns: float | None  # share of decisions past the deadline, if there was one


def keeps_decisions(experiment: Experiment, keep_paths: bool) -> bool:
    """True if a result keeps each decision's reward and time."""
    return keep_paths or experiment.num_trajectories * experiment.horizon <= MOST_DECISIONS


def totals_of(record: "Record", experiment: Experiment) -> PartTotals:
    """Reduce the record of a part to its totals."""
    return PartTotals(
        returns_of(record, experiment),
        record.cpu_nanoseconds,
        record.noise,
        record.start_values,
        TimeCounts.of(record.nanoseconds, experiment.deadline),
    )


def returns_of(record: "Record | PartTotals", experiment: Experiment) -> Floats:
    """The return [n] of each trajectory of a part."""
    if isinstance(record, PartTotals):
        return record.returns
    return discounted(record.rewards, experiment.discount)


def discounted(rewards: Floats, discount: float) -> Floats:
    """The discounted return [...] of each row of rewards [..., T]."""
    weights = discount ** np.arange(rewards.shape[-1])
    # Not a matrix product, whose rounding could depend on the number of rows.
    return np.asarray((rewards * weights).sum(axis=-1))
