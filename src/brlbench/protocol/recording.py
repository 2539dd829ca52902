"""Makes results: rows of the table from records of play, and the header from the experiment."""

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..agents import AGENTS, default_parameters, describe
from ..agents.base import Agent
from ..mdps.sparse import Floats
from ..results import result as results
from ..results.result import Result
from ..results.schema import COLUMNS, largest, total
from ..results.times import TimeHistogram
from .experiment import Experiment
from .luck import can_adjust, find_start_values, known_start_values

if TYPE_CHECKING:  # importing kernels takes long
    from ..kernels.loop.trajectory import Record
    from .playing import PlayedPart
    from .training import Training


class Rows(NamedTuple):
    """Rows of a result's table."""

    columns: dict[str, NDArray[Any]]  # [n, ...] each
    histogram: TimeHistogram | None  # of decision times, if those are not kept


def keeps_decisions(experiment: Experiment, keep_paths: bool) -> bool:
    """True if a result keeps each decision's reward and time."""
    return keep_paths or experiment.num_trajectories * experiment.horizon <= results.MOST_DECISIONS


def rows_of(
    record: "Record", experiment: Experiment, first: int, *, decisions: bool, paths: bool
) -> Rows:
    """Rows of a result's table, from the record of consecutive trajectories.

    With `decisions` they have the reward and time of each decision, with `paths` states and
    actions.
    """
    numbers = np.arange(first, first + len(record.rewards))
    mdps, trajectories = np.divmod(numbers, experiment.trajectories_per_mdp)
    columns: dict[str, NDArray[Any]] = {
        "mdp": mdps,
        "trajectory": trajectories,
        "return": discounted(record.rewards, experiment.discount),
        **record._asdict(),
    }
    kept = {
        name: columns[name]
        for name, each in COLUMNS.items()
        if (paths or not each.is_path) and (decisions or not each.of_decisions)
        if columns[name].size  # luck may have no baselines
    }
    return Rows(
        kept, None if decisions else TimeHistogram.of(record.nanoseconds, experiment.deadline)
    )


def make_part(
    agent: Agent,
    experiment: Experiment,
    training: "Training",
    played: "PlayedPart",
    machine: dict[str, Any],
) -> Result:
    """A part of a result, which `results.result.join` joins with others."""
    algorithm, parameters = describe(agent)
    has_luck = can_adjust(experiment)
    return Result(
        algorithm=algorithm,
        parameters=parameters,
        settings=experiment.settings(),
        experiment_hash=experiment.hash,
        machine=machine | {"waiting_share": played.waiting_share},
        measured={
            "offline_seconds": training.seconds,
            "offline_cpu_seconds": training.cpu_seconds,
            "playing_seconds": played.seconds,
            "peak_bytes": largest([training.peak_bytes, played.peak_bytes]),
            "histogram": total([each.histogram for each in played.rows]),
        },
        defaults=None if algorithm in AGENTS else default_parameters(agent),
        expected=known_start_values(experiment) if has_luck else None,
        columns={
            name: np.concatenate([each.columns[name] for each in played.rows])
            for name in played.rows[0].columns
        },
        find_expected=partial(find_start_values, experiment) if has_luck else None,
    )


def discounted(rewards: Floats, discount: float) -> Floats:
    """The discounted return [...] of each row of rewards [..., T]."""
    weights = discount ** np.arange(rewards.shape[-1])
    # Not a matrix product, whose rounding could depend on the number of rows.
    return np.asarray((rewards * weights).sum(axis=-1))
