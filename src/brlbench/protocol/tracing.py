"""Trajectories made again from the actions that were taken: all but times follow from these.

So nothing else that an agent's process says has to be believed.
"""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..errors import AgentError
from ..mdps.sparse import Integers
from ..results.result import Result
from ..results.schema import COLUMNS
from .experiment import Experiment
from .luck import measure_luck, num_baselines
from .recording import keeps_decisions, rows_of

if TYPE_CHECKING:  # importing kernels takes long
    from ..kernels.loop.trajectory import Record

_TIMES = [name for name, each in COLUMNS.items() if each.unit == "ns"]  # known to nobody else


def empty_record(experiment: Experiment, number: int) -> "Record":
    """A record of some trajectories, to be filled in."""
    from ..kernels.loop.trajectory import Record

    record = Record.empty(number, experiment.horizon, num_baselines(experiment))
    for array in record:  # takes its memory now, not while an agent is measured
        array.fill(0)
    return record


def small_actions(experiment: Experiment, actions: NDArray[np.integer]) -> NDArray[np.integer]:
    """Actions in as few bytes as the experiment allows."""
    return actions.astype(_kind(experiment))


def _kind(experiment: Experiment) -> np.dtype[np.integer]:
    return np.min_scalar_type(experiment.test.num_actions - 1)


def trace(experiment: Experiment, trajectories: range, actions: NDArray[np.integer]) -> "Record":
    """The record of consecutive trajectories with these actions, without times and luck."""
    from ..builders import model
    from ..kernels.loop import environment

    record = empty_record(experiment, len(trajectories))
    record.actions[:] = actions
    mdps, places = experiment.mdps_of(trajectories)
    environment.retrace(
        model.build_environment(mdps, experiment.episode),
        model.build_tables(mdps),
        places,
        experiment.noise_words[trajectories.start : trajectories.stop],
        record.actions,
        record.states,
        record.rewards,
    )
    return record


_warm: set[int] = set()  # numbers of baselines for which all is compiled


def warm_up(experiment: Experiment) -> None:
    """Compile all that makes records again, once per process."""
    if num_baselines(experiment) not in _warm:
        _warm.add(num_baselines(experiment))
        record = trace(experiment, range(1), empty_record(experiment, 1).actions)
        measure_luck(record, experiment, range(1))


def check_record(name: str, experiment: Experiment, trajectories: range, record: "Record") -> None:
    """Raise unless the actions of an agent lead to its states and rewards."""
    wrong = first_wrong_action(experiment, record.actions)
    if wrong is not None:
        i, step = wrong
        raise AgentError(
            f"{name} failed on MDP {_mdp(experiment, trajectories, i)} at step {step}: act "
            f"returned {record.actions[i, step]}: must be from 0 to "
            f"{experiment.test.num_actions - 1}"
        )
    again = trace(experiment, trajectories, record.actions)
    same = (again.states == record.states).all(1) & (again.rewards == record.rewards).all(1)
    if not same.all():
        raise AgentError(
            f"{name} failed on MDP {_mdp(experiment, trajectories, int(same.argmin()))}: its "
            "actions don't lead to the states and rewards on record, so code of the agent has "
            "changed the record or the environment"
        )


def first_wrong_action(
    experiment: Experiment, actions: NDArray[np.integer]
) -> tuple[int, int] | None:
    """The row and step of an action that does not exist, if there is one."""
    wrong = np.argwhere((actions < 0) | (actions >= experiment.test.num_actions))
    return (int(wrong[0, 0]), int(wrong[0, 1])) if len(wrong) else None


def _mdp(experiment: Experiment, trajectories: range, i: int) -> int:
    return trajectories[i] // experiment.trajectories_per_mdp


def check_follows(
    result: Result, experiment: Experiment, trajectories: range, keep_paths: bool, actions: bytes
) -> None:
    """Raise ValueError unless the rows of a result are those that actions lead to."""
    rows: Integers = np.frombuffer(actions, _kind(experiment))
    if rows.size != len(trajectories) * experiment.horizon:
        raise ValueError("it was sent with other actions")
    rows = rows.reshape(-1, experiment.horizon)
    if first_wrong_action(experiment, rows) is not None:
        raise ValueError("it was sent with actions that do not exist")
    decisions = keeps_decisions(experiment, keep_paths)
    at_once = experiment.trajectories_at_once
    for at in range(0, len(trajectories), at_once):
        some = trajectories[at : at + at_once]
        record = trace(experiment, some, rows[at : at + at_once])
        measure_luck(record, experiment, some)
        again = rows_of(record, experiment, some.start, decisions=decisions, paths=keep_paths)
        for name, column in again.columns.items():
            if name not in _TIMES and not np.array_equal(
                column, result.columns[name][at : at + at_once]
            ):
                raise ValueError(f"its actions don't lead to its {name.replace('_', ' ')}")
