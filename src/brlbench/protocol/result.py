"""The result of a job: of one agent in one experiment."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..agents import describe
from ..agents.base import Agent
from ..arguments import format_seconds
from ..mdps.sparse import Floats, Integers
from .experiment import Experiment
from .score import Score

if TYPE_CHECKING:
    from ..kernels.loop.trajectory import Record
    from .training import Training


@dataclass(frozen=True, eq=False)
class Result:
    """Rewards and times of all decisions: N MDPs, K trajectories per MDP, T decisions each."""

    algorithm: str
    parameters: dict[str, Any]
    settings: dict[str, Any]  # of the experiment
    experiment_hash: str
    offline_seconds: float
    offline_cpu_seconds: float
    rewards: Floats  # [N, K, T]
    nanoseconds: Integers  # [N, K, T]
    cpu_nanoseconds: Integers  # [N, K]; of whole trajectories, environment included
    states: NDArray[np.int64] | None = None  # [N, K, T + 1]
    actions: NDArray[np.int64] | None = None  # [N, K, T]
    machine: dict[str, Any] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """The agent in a few words, with its deadline."""
        return label_of(self.algorithm, self.parameters, self.deadline)

    @property
    def deadline(self) -> float | None:
        """Seconds that a decision was allowed to take; None without a limit."""
        return self.settings.get("deadline")

    @property
    def overruns(self) -> float | None:
        """The share of decisions that took longer than the deadline, if there was one."""
        if self.deadline is None:
            return None
        return float((self.nanoseconds > self.deadline * 1e9).mean())

    @property
    def reproducible(self) -> bool:
        """False if the clock decided when agents stopped: a second run could differ."""
        return self.deadline is None

    @property
    def trajectory_returns(self) -> Floats:
        """The discounted return [N, K] of every trajectory."""
        weights = self.settings["discount"] ** np.arange(self.rewards.shape[2])
        # Not a matrix product, whose rounding could depend on the number of rows.
        return np.asarray((self.rewards * weights).sum(axis=2))

    @property
    def returns(self) -> Floats:
        """The return [N] in every MDP, the mean of its trajectories."""
        return np.asarray(self.trajectory_returns.mean(axis=1))

    @property
    def decision_seconds(self) -> Floats:
        """The time [N, T] of every decision, the mean of an MDP's trajectories."""
        return np.asarray(self.nanoseconds.mean(axis=1) * 1e-9)

    @property
    def score(self) -> Score:
        """The mean return and its 95% interval."""
        return Score.of(self.returns)

    @property
    def mean(self) -> float:
        """The score: the mean return."""
        return self.score.mean

    @property
    def ci95(self) -> float:
        """The half-width of the score's 95% interval."""
        return self.score.ci95


def join_records(
    agent: Agent,
    experiment: Experiment,
    training: "Training",
    records: "Sequence[Record]",
    made_on: dict[str, Any],
) -> Result:
    """Join the records of all parts, given in order, to a result."""
    algorithm, parameters = describe(agent)
    shape = (experiment.num_mdps, experiment.trajectories_per_mdp)

    def joined(name: str) -> Any:
        arrays = [getattr(record, name) for record in records]
        if arrays[0] is None:  # not kept
            return None
        rows = np.concatenate(arrays)
        return rows.reshape(*shape, *rows.shape[1:])

    names = ("rewards", "nanoseconds", "cpu_nanoseconds", "states", "actions")
    return Result(
        algorithm=algorithm,
        parameters=parameters,
        settings=experiment.settings(),
        experiment_hash=experiment.hash,
        offline_seconds=training.seconds,
        offline_cpu_seconds=training.cpu_seconds,
        machine=made_on,
        **{name: joined(name) for name in names},
    )


def label_of(algorithm: str, parameters: dict[str, Any], deadline: float | None = None) -> str:
    """An agent in a few words."""
    given = {key: value for key, value in parameters.items() if value is not None}
    listed = ", ".join(f"{key}={value}" for key, value in given.items())
    within = "" if deadline is None else f" within {format_seconds(deadline)}"
    return (f"{algorithm}({listed})" if listed else algorithm) + within
