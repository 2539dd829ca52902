"""The result of a job: of one agent in one experiment."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..agents import AGENTS, default_parameters, describe
from ..agents.base import Agent
from ..arguments import require_module
from ..errors import InvalidInput
from ..mdps.sparse import Floats, Integers
from .adjusted import LEAST_MDPS, Adjusted, adjust, can_adjust
from .display import columns_of, result_html, result_line
from .experiment import Experiment
from .footprint import largest
from .labels import label_of
from .luck import StartValues
from .score import Score
from .start_values import find_start_values, known_start_values
from .summary import Stopped
from .times import TimeCounts, online_features
from .totals import MOST_DECISIONS, PartTotals, Totals, discounted, totals_of

if TYPE_CHECKING:
    import polars

    from ..kernels.loop.trajectory import Record
    from .training import Training


Array = TypeVar("Array")


class _Kept(Generic[Array]):
    """A field of a result that is None if it is not kept or known; then reading it raises."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, result: "Result | None", owner: type) -> Array:
        if result is None:
            raise AttributeError(self._name)  # the field has no default
        kept: Array | None = vars(result)[self._name]
        if kept is None:
            if not result.is_measured:
                raise InvalidInput(
                    f"this result has no {self._name}: it was imported from the original library, "
                    "which does not store them"
                )
            raise InvalidInput(
                f"this result has no {self._name} of single decisions, which are kept of at most "
                f"{MOST_DECISIONS:,} decisions: play again with keep_paths to keep them all"
            )
        return kept

    def __set__(self, result: "Result", kept: Array | None) -> None:
        vars(result)[self._name] = kept


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """Rewards and times of all decisions: N MDPs, K trajectories per MDP, T decisions each.

    Of more than `MOST_DECISIONS` decisions, only totals are kept unless paths are asked for:
    returns, time features, and the share of late decisions.
    """

    algorithm: str
    parameters: dict[str, Any]
    settings: dict[str, Any]  # of the experiment
    experiment_hash: str
    offline_seconds: float
    offline_cpu_seconds: _Kept[float] = _Kept()
    cpu_nanoseconds: _Kept[Integers] = _Kept()  # [N, K]; of whole trajectories, with environments
    rewards: _Kept[Floats] = _Kept()  # [N, K, T]
    nanoseconds: _Kept[Integers] = _Kept()  # [N, K, T]
    states: NDArray[np.int64] | None = None  # [N, K, T + 1]
    actions: NDArray[np.int64] | None = None  # [N, K, T]
    machine: dict[str, Any] = field(default_factory=dict)
    totals: Totals | None = None  # in place of nanoseconds, and of rewards that are not kept
    noise: Floats | None = None  # [N, K, F]; how lucky the trajectories were: see `luck`
    start_values: Floats | None = None  # [N, K, F]
    expected: StartValues | None = None  # what start values are on average
    defaults: dict[str, Any] | None = None  # of the parameters; None for built-in agents
    stopped: Stopped | None = None  # why there are fewer MDPs than the experiment has
    peak_bytes: int | None = None  # memory of the agent at its peak; None: not known
    experiment: Experiment | None = field(default=None, repr=False)  # None if read from a file

    @property
    def label(self) -> str:
        """The agent in a few words, with its deadline."""
        return label_of(self.algorithm, self.parameters, self.deadline, self.defaults)

    @property
    def deadline(self) -> float | None:
        """Seconds that a decision was allowed to take; None without a limit."""
        return self.settings.get("deadline")

    @property
    def overruns(self) -> float | None:
        """The share of decisions that took longer than the deadline, if there was one."""
        if self.totals is not None:
            return self.totals.overruns
        if self.deadline is None:
            return None
        return float((self.nanoseconds > self.deadline * 1e9).mean())

    @property
    def is_measured(self) -> bool:
        """Whether processor time is known; the original library does not store it."""
        return vars(self)["cpu_nanoseconds"] is not None

    @property
    def keeps_rewards(self) -> bool:
        """Whether the reward of each decision is kept."""
        return vars(self)["rewards"] is not None

    @property
    def reproducible(self) -> bool:
        """False if the clock decided when agents stopped: a second run could differ."""
        return self.deadline is None

    @property
    def trajectory_returns(self) -> Floats:
        """The discounted return [N, K] of every trajectory."""
        if self.totals is not None:
            return self.totals.returns
        return discounted(self.rewards, self.settings["discount"])

    @property
    def returns(self) -> Floats:
        """The return [N] in every MDP, the mean of its trajectories."""
        return np.asarray(self.trajectory_returns.mean(axis=1))

    @property
    def decision_seconds(self) -> Floats:
        """The time [N, T] of every decision, the mean of an MDP's trajectories."""
        return np.asarray(self.nanoseconds.mean(axis=1) * 1e-9)

    @cached_property
    def online_seconds(self) -> dict[str, float]:
        """The time of decisions, by time feature."""
        if self.totals is not None:
            return self.totals.online_seconds
        return online_features(self.nanoseconds.reshape(-1, self.nanoseconds.shape[2]))

    @property
    def score(self) -> Score:
        """The mean return and its 95% interval."""
        return Score.of(self.returns)

    @cached_property
    def adjusted(self) -> Adjusted:
        """The score with the luck taken out, and the adjusted return of each MDP.

        An InvalidInput if there is none; `can_be_adjusted` tells.
        """
        expected = self.expected_start_values
        if expected is None or self.noise is None or self.start_values is None:
            raise InvalidInput(
                f"{self.label} on {self.settings['name']} has no adjusted score: it takes at least "
                f"{LEAST_MDPS} MDPs, a problem that is not too large, and a result of this version "
                "of brlbench"
            )
        return adjust(
            self.returns, self.noise.mean(axis=1), self.start_values.mean(axis=1), expected
        )

    @property
    def can_be_adjusted(self) -> bool:
        """Whether there is an adjusted score."""
        is_measured = self.noise is not None and len(self.returns) >= LEAST_MDPS
        return is_measured and (self.expected is not None or self.experiment is not None)

    @property
    def scored_returns(self) -> Floats:
        """The returns [N] that comparisons use: adjusted ones where there are any."""
        return self.adjusted.returns if self.can_be_adjusted else self.returns

    @property
    def expected_start_values(self) -> StartValues | None:
        """What start values are on average; found out now if they are needed and not known."""
        if self.can_be_adjusted and self.expected is None and self.experiment is not None:
            return find_start_values(self.experiment)
        return self.expected if self.can_be_adjusted else None

    @property
    def mean(self) -> float:
        """The score: the mean return."""
        return self.score.mean

    @property
    def ci95(self) -> float:
        """The half-width of the score's 95% interval."""
        return self.score.ci95

    def to_polars(self) -> "polars.DataFrame":
        """A table with one row per trajectory, and the columns of a result's file."""
        import polars

        return polars.DataFrame(columns_of(self, paths=True))

    def to_pandas(self) -> Any:
        """The table of `to_polars` for pandas, which must be installed; one array per cell."""
        pandas = require_module("pandas")
        columns = columns_of(self, paths=True)
        return pandas.DataFrame({name: list(column) for name, column in columns.items()})

    def __repr__(self) -> str:
        return result_line(self)

    def _repr_html_(self) -> str:
        return result_html(self)


def join_records(
    agent: Agent,
    experiment: Experiment,
    training: "Training",
    records: "Sequence[Record | PartTotals]",
    made_on: dict[str, Any],
    peak_bytes: int | None = None,
    stopped: Stopped | None = None,
) -> Result:
    """Join the records of all parts, or their totals, to a result; they are given in order.

    The peak is that of playing. If playing was stopped, MDPs whose trajectories are not all there
    are left out.
    """
    algorithm, parameters = describe(agent)
    parts = _alike(records, experiment)
    per_mdp = experiment.trajectories_per_mdp
    num_mdps = experiment.num_mdps
    if stopped is not None:
        num_mdps = sum(len(part.cpu_nanoseconds) for part in parts) // per_mdp

    def joined(name: str) -> Any:
        arrays: list[Any] = [getattr(part, name, None) for part in parts]
        if any(array is None for array in arrays):  # not kept
            return None
        rows: NDArray[Any] = np.concatenate(arrays)
        return rows[: num_mdps * per_mdp].reshape(num_mdps, per_mdp, *rows.shape[1:])

    names = ("rewards", "nanoseconds", "cpu_nanoseconds", "states", "actions")
    noise, start_values = joined("noise"), joined("start_values")
    has_luck = noise is not None and noise.size > 0
    return Result(
        algorithm=algorithm,
        parameters=parameters,
        settings=experiment.settings(),
        experiment_hash=experiment.hash,
        offline_seconds=training.seconds,
        offline_cpu_seconds=training.cpu_seconds,
        machine=made_on,
        totals=_totals(parts, joined("returns"), experiment.deadline),
        noise=noise if has_luck else None,
        start_values=start_values if has_luck else None,
        expected=known_start_values(experiment) if can_adjust(experiment) else None,
        defaults=None if algorithm in AGENTS else default_parameters(agent),
        stopped=stopped,
        peak_bytes=largest([training.peak_bytes, peak_bytes]),
        experiment=experiment,
        **{name: joined(name) for name in names},
    )


def _alike(records: "Sequence[Record | PartTotals]", experiment: Experiment) -> Sequence[Any]:
    """The records of all parts; the totals of all if there is one with only totals."""
    if not any(isinstance(record, PartTotals) for record in records):
        return records
    return [
        record if isinstance(record, PartTotals) else totals_of(record, experiment)
        for record in records
    ]


def _totals(parts: Sequence[Any], returns: Floats | None, deadline: float | None) -> Totals | None:
    if returns is None:
        return None
    times = TimeCounts.joined(part.times for part in parts)
    overruns = None if deadline is None else times.late / times.decisions
    return Totals(returns, times.features(), overruns)
