"""Makes results: rows of the table from records of play, and the header from the experiment."""

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..agents import AGENTS, default_parameters, describe
from ..agents.base import Agent, is_told
from ..beliefs.hypotheses.effective import effective_sizes
from ..mdps.sparse import Floats, Integers
from ..results import result as results
from ..results.result import Result
from ..results.schema import (
    COLUMNS,
    EFFECTIVE_HYPOTHESES,
    GLOBAL_NUMBERS,
    Axis,
    largest,
    total,
)
from ..results.times import TimeHistogram
from .experiment import Experiment
from .luck import can_adjust, find_start_values, known_start_values, num_baselines

if TYPE_CHECKING:  # importing kernels takes long
    from ..kernels.loop.trajectory import Record
    from .playing import Part, PlayedPart
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
    if (hypotheses := experiment.hypotheses) is not None:
        following = following_states(record, experiment, range(first, first + len(numbers)))
        history = (record.states[:, :-1], record.actions, following, record.rewards)
        columns[EFFECTIVE_HYPOTHESES] = effective_sizes(hypotheses, *history)
    kept = {name: columns[name] for name in _kept_columns(experiment, decisions, paths)}
    return Rows(
        kept, None if decisions else TimeHistogram.of(record.nanoseconds, experiment.deadline)
    )


def following_states(record: "Record", experiment: Experiment, trajectories: range) -> Integers:
    """The state [n, T] that each decision led to, even where an episode ended."""
    if experiment.episode is None:
        return record.states[:, 1:]
    from ..builders import model
    from ..kernels.loop import environment

    mdps, places = experiment.mdps_of(trajectories)
    following = np.zeros_like(record.actions)
    environment.follow(
        model.build_environment(mdps, experiment.episode),
        model.build_tables(mdps),
        places,
        experiment.noise_words[trajectories.start : trajectories.stop],
        record.states,
        record.actions,
        following,
    )
    return following


def _kept_columns(experiment: Experiment, decisions: bool, paths: bool) -> list[str]:
    """The columns of a result's table."""
    return [
        name
        for name, each in COLUMNS.items()
        if (paths or not each.is_path) and (decisions or not each.of_decisions)
        if each.axis is not Axis.BASELINE or num_baselines(experiment) > 0
        if name != EFFECTIVE_HYPOTHESES or experiment.hypotheses is not None
    ]


def check_part(result: Result, experiment: Experiment, keep_paths: bool, part: "Part") -> None:
    """Raise ValueError unless a result has the rows of a part, in the columns of the experiment."""
    if result.settings != experiment.settings() or result.experiment_hash != experiment.hash:
        raise ValueError("it is of another experiment")
    decisions, columns = keeps_decisions(experiment, keep_paths), result.columns
    if sorted(columns) != sorted(_kept_columns(experiment, decisions, keep_paths)):
        raise ValueError(f"it has the columns {', '.join(columns)}")
    rows, per_mdp = len(columns["mdp"]), experiment.trajectories_per_mdp
    first = int(columns["mdp"][0]) * per_mdp + int(columns["trajectory"][0])
    if (first, first + rows) != part:
        raise ValueError(f"it has trajectories {first} to {first + rows - 1}")
    if decisions and columns["rewards"].shape[1] != experiment.horizon:
        raise ValueError(f"its trajectories have {columns['rewards'].shape[1]} decisions")
    has_times = decisions or "histogram" in result.measured or result.online_seconds
    if not has_times or "playing_seconds" not in result.measured:
        raise ValueError("it lacks times")
    if decisions and not np.allclose(
        discounted(columns["rewards"], experiment.discount), columns["return"], rtol=1e-9, atol=1e-9
    ):
        raise ValueError("its rewards don't add up to its returns")


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
            **({GLOBAL_NUMBERS: 1} if played.uses_global_numbers else {}),
        },
        defaults=None if algorithm in AGENTS else default_parameters(agent),
        is_told=is_told(agent),
        expected=known_start_values(experiment) if has_luck else None,
        columns=join_rows(played),
        find_expected=partial(find_start_values, experiment) if has_luck else None,
    )


def join_rows(played: "PlayedPart") -> dict[str, NDArray[Any]]:
    """The columns of a part that was played in one batch or several."""
    return {
        name: np.concatenate([each.columns[name] for each in played.rows])
        for name in played.rows[0].columns
    }


def discounted(rewards: Floats, discount: float) -> Floats:
    """The discounted return [...] of each row of rewards [..., T]."""
    weights = discount ** np.arange(rewards.shape[-1])
    # Not a matrix product, whose rounding could depend on the number of rows.
    return np.asarray((rewards * weights).sum(axis=-1))
