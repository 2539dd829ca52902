"""Memory needed to play an experiment, checked before it is played."""

from typing import Any

import numpy as np

from ..arguments import format_seconds
from ..errors import InvalidInput, short
from ..memory import check_available, format_bytes
from .experiment import BYTES_PER_TRAJECTORY, Experiment
from .recording import keeps_decisions

_DECISION = 32  # bytes of its state, action, reward and time
# On one core, about. They are no measurements, so that all machines accept the same experiments.
_SECONDS_PER_MDP, _SECONDS_PER_NUMBER = 2e-5, 6e-8
_MOST_SECONDS = 100.0


def check(experiment: Experiment, keep_paths: bool = False, workers: int = 1) -> None:
    """Raise if playing an experiment needs more memory than is available."""
    needs = needed(experiment, keep_paths, workers)
    total, most = sum(needs.values()), max(needs, key=needs.__getitem__)
    check_available(
        total,
        f"{experiment} needs about {format_bytes(total)} of memory "
        f"({format_bytes(needs[most])} for {most})",
        "use fewer MDPs or a shorter horizon" + (", and no keep_paths" if keep_paths else ""),
    )


def check_drawing(experiment: Experiment) -> None:
    """Raise if the MDPs are so many that drawing them, for their hash, takes minutes."""
    number = experiment.num_mdps
    each = _SECONDS_PER_MDP + _SECONDS_PER_NUMBER * experiment.numbers_per_mdp
    if experiment.given_mdps is None and number * each > _MOST_SECONDS:
        raise InvalidInput(
            f"num_mdps = {short(number)}: drawing its MDPs would take about "
            f"{format_seconds(number * each)} before anything is played: use at most "
            f"{int(_MOST_SECONDS / each):,}, and more trajectories_per_mdp"
        )


def needed(experiment: Experiment, keep_paths: bool = False, workers: int = 1) -> dict[str, int]:
    """Approximate bytes to play an experiment, by purpose."""
    played = experiment.num_trajectories
    together = min(experiment.trajectories_at_once, played)
    numbers = experiment.numbers_per_mdp
    drawn = experiment.num_mdps if experiment.holds_mdps else workers * together
    needs = {
        "its MDPs": 2 * 8 * numbers * drawn,
        "its trajectories": BYTES_PER_TRAJECTORY * played,
        "the decisions played at once": 2 * _DECISION * experiment.horizon * together * workers,
    }
    if keeps_decisions(experiment, keep_paths):
        needs["every decision"] = 2 * _DECISION * experiment.horizon * played
    return needs


def check_copies(arrays: Any, copies: int) -> None:
    """Raise if there is no memory for these copies of a trained agent's arrays."""
    total = copies * _bytes(arrays)
    check_available(
        total,
        f"{copies} workers need {format_bytes(total)} of memory for copies of the agent",
        "use fewer workers, or a shorter horizon",
    )


def _bytes(arrays: Any) -> int:
    """The bytes of all arrays in nested tuples."""
    if isinstance(arrays, np.ndarray):
        return arrays.nbytes
    return sum(map(_bytes, arrays)) if isinstance(arrays, tuple) else 0
