"""The result of a job, of one agent in one experiment: a header and one table.

The table has one row per trajectory and the columns of `schema`. A part of a result has some of the
rows, and the same header. `join` makes a result of parts.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import AfterValidator, create_model

from ..agents.labels import label_of
from ..arguments import require_module
from ..errors import InvalidInput
from ..mdps.sparse import Floats, Integers
from ..schemas import Schema, fits, parse_table
from ..values import Count, Discount, Flag, Index, NotNegative, Positive, Text
from .adjusted import LEAST_MDPS, LEAST_PLAYED, Adjusted, StartValues, adjust
from .display import result_html, result_line
from .schema import COLUMNS, MEASURED, SUMMARISED, TIMES
from .score import Score, ci95
from .times import ONLINE, TimeHistogram, decision_features, processor_times

if TYPE_CHECKING:
    import polars

MOST_DECISIONS = 10_000_000
"""Results with more decisions have no columns of single decisions, unless paths are asked for."""


class Stopped(NamedTuple):
    """Why an agent played fewer MDPs than its experiment has."""

    rule: str  # RACE, or `until` with its number
    reason: str
    half_width: NotNegative = 0.0  # that the rule promises; shown intervals are no narrower


def least_ci95(stopped: Stopped | None) -> float:
    """The half-width that shown intervals have at least."""
    return 0.0 if stopped is None else stopped.half_width


class Settings(Schema):
    """The settings of an experiment."""

    name: Text
    prior: Text
    prior_digest: Text
    test: Text
    test_digest: Text
    num_mdps: Count
    horizon: Count
    trajectories_per_mdp: Count
    discount: Discount
    seed: Index
    deadline: Positive | None = None
    origin: Text | None = None
    particles: Count | None = None  # draws that stand for a user's prior
    own_belief: Flag | None = None  # whether it also has a belief of its own
    episode: Count | None = None  # decisions from one start state to the next


class Machine(Schema):
    """A machine, or several."""

    processor: Text | None = None
    calibration_microseconds: NotNegative = 0.0
    waiting_share: NotNegative = 0.0
    machines: tuple["Machine", ...] = ()


_FIELDS: dict[str, Any] = {name: (each.annotation | None, None) for name, each in MEASURED.items()}
_Measured = create_model("Measured", __base__=Schema, **_FIELDS)


def _numbers(content: Any) -> dict[str, Any]:
    """The numbers of an agent that are known."""
    numbers = dict(parse_table(_Measured, content))
    return {name: number for name, number in numbers.items() if number is not None}


SettingsTable = Annotated[dict[str, Any], fits(Settings)]
MachineTable = Annotated[dict[str, Any], fits(Machine)]
MeasuredTable = Annotated[dict[str, Any], AfterValidator(_numbers)]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Header:
    """All of a result but its table."""

    algorithm: str
    parameters: dict[str, Any]
    settings: SettingsTable  # of the experiment
    experiment_hash: str
    machine: MachineTable
    measured: MeasuredTable  # numbers of the agent, by the name of their quantity
    defaults: dict[str, Any] | None = None  # of the parameters; None for built-in agents
    stopped: Stopped | None = None  # None if all MDPs were played
    is_told: bool = False  # whether the agent is told the MDP
    expected: StartValues | None = None  # None: unknown


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Result(Header):
    """Rewards and times of all decisions: N MDPs, K trajectories per MDP, T decisions each.

    Of more than `MOST_DECISIONS` decisions, the table has no rewards and times of single decisions
    unless paths are asked for.
    """

    columns: dict[str, NDArray[Any]]  # [N * K, ...] each, by the name of their quantity
    find_expected: Callable[[], StartValues] | None = field(default=None)  # None if from a file

    @property
    def label(self) -> str:
        """The agent in a few words, with its deadline."""
        return label_of(self.algorithm, self.parameters, self.deadline, self.defaults)

    @property
    def deadline(self) -> float | None:
        """Seconds that a decision was allowed to take; None without a limit."""
        return self.settings.get("deadline")

    @property
    def reproducible(self) -> bool:
        """False if the clock decided when agents stopped: a second run could differ."""
        return self.deadline is None

    # The table.

    @property
    def num_mdps(self) -> int:
        """The number of MDPs whose trajectories are all there."""
        return len(self.columns["mdp"]) // int(self.settings["trajectories_per_mdp"])

    def by_mdp(self, name: str) -> NDArray[Any]:
        """A column as an array [N, K, ...]; an InvalidInput if the table lacks it."""
        if name not in self.columns:
            if "timed" in self.machine:
                raise InvalidInput(
                    f"this result has no {name}: its times were measured anew, by brlbench retime"
                )
            if "cpu_nanoseconds" not in self.columns:
                raise InvalidInput(
                    f"this result has no {name}: it was imported from the original library, "
                    "which does not store them"
                )
            raise InvalidInput(
                f"this result has no {name} of single decisions, which are kept of at most "
                f"{MOST_DECISIONS:,} decisions: play again with keep_paths to keep them all"
            )
        rows = self.columns[name]
        return rows.reshape(-1, self.settings["trajectories_per_mdp"], *rows.shape[1:])

    @property
    def trajectory_returns(self) -> Floats:
        """The discounted return [N, K] of every trajectory."""
        return self.by_mdp("return")

    @property
    def rewards(self) -> Floats:
        """The reward [N, K, T] of every decision."""
        return self.by_mdp("rewards")

    @property
    def nanoseconds(self) -> Integers:
        """The time [N, K, T] of every decision."""
        return self.by_mdp("nanoseconds")

    @property
    def cpu_nanoseconds(self) -> Integers:
        """The processor time [N, K] of every trajectory, without its environment."""
        return self.by_mdp("cpu_nanoseconds")

    @property
    def states(self) -> Integers | None:
        """The states [N, K, T + 1]; None if paths are not kept."""
        return self.by_mdp("states") if "states" in self.columns else None

    @property
    def actions(self) -> Integers | None:
        """The actions [N, K, T]; None if paths are not kept."""
        return self.by_mdp("actions") if "actions" in self.columns else None

    def to_polars(self) -> "polars.DataFrame":
        """A table with one row per trajectory, and the columns of a result's file."""
        import polars

        return polars.DataFrame(
            {name: self.columns[name] for name in COLUMNS if name in self.columns}
        )

    def to_pandas(self) -> Any:
        """The table of `to_polars` for pandas, which must be installed; one array per cell."""
        pandas = require_module("pandas")
        return pandas.DataFrame(
            {name: list(self.columns[name]) for name in COLUMNS if name in self.columns}
        )

    # Numbers of the agent.

    @property
    def offline_seconds(self) -> float:
        """The time of training."""
        return float(self.measured["offline_seconds"])

    @property
    def offline_cpu_seconds(self) -> float:
        """The processor time of training."""
        if "offline_cpu_seconds" not in self.measured:
            self.by_mdp("offline_cpu_seconds")  # raises
        return float(self.measured["offline_cpu_seconds"])

    @property
    def online_seconds(self) -> dict[str, float]:
        """The time of decisions, by time feature."""
        known = {name: self.measured.get(column) for name, column in TIMES.items()}
        return {name: x for name, x in known.items() if x is not None and name != "offline"}

    @property
    def overruns(self) -> float | None:
        """The share of decisions that took longer than the deadline, if there was one."""
        return self.measured.get("overruns")

    @property
    def peak_bytes(self) -> int | None:
        """Peak memory of the agent; None if it is unknown."""
        return self.measured.get("peak_bytes")

    def summarised(self) -> dict[str, Any]:
        """The numbers of the agent by the schema; None where something was not measured."""
        table = {**self.columns, **self.measured}
        return {
            name: quantity.summary(table[name]) if quantity.summary and name in table else None
            for name, quantity in SUMMARISED.items()
        }

    # Scores.

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
        """The adjusted mean if there can be one, else the mean return, with its 95% interval.

        Its expected start values are estimated now if necessary.
        """
        if self.can_be_adjusted:
            return self.adjusted.score
        return Score(self.mean, self.ci95).no_narrower(least_ci95(self.stopped))

    @property
    def mean(self) -> float:
        """The mean return, with its luck."""
        return float(self.returns.mean())

    @property
    def ci95(self) -> float:
        """The half-width of the mean return's 95% interval."""
        return ci95(self.returns)

    @cached_property
    def adjusted(self) -> Adjusted:
        """The mean with the luck taken out, and the adjusted return of each MDP.

        An InvalidInput if there is none; `can_be_adjusted` tells.
        """
        expected = self.expected_start_values
        if expected is None:
            raise InvalidInput(
                f"{self.label} on {self.settings['name']} has no adjusted score: it takes at least "
                f"{LEAST_MDPS} MDPs, and a problem that is not too large"
            )
        noise, start_values = (self.by_mdp(name) for name in ("noise", "start_values"))
        luck = noise.mean(axis=1), start_values.mean(axis=1)
        adjusted = adjust(self.returns, *luck, expected)
        return replace(adjusted, ci95=max(adjusted.ci95, least_ci95(self.stopped)))

    @property
    def can_be_adjusted(self) -> bool:
        """Whether there is an adjusted score."""
        enough = self.settings["num_mdps"] >= LEAST_MDPS and self.num_mdps >= LEAST_PLAYED
        is_known = self.expected is not None or self.find_expected is not None
        return "noise" in self.columns and enough and is_known

    @property
    def scored_returns(self) -> Floats:
        """The returns [N] that comparisons use: adjusted ones where there are any."""
        return self.adjusted.returns if self.can_be_adjusted else self.returns

    @property
    def expected_start_values(self) -> StartValues | None:
        """The expected start values, estimated now if necessary; None without adjusted score."""
        if self.can_be_adjusted and self.expected is None and self.find_expected is not None:
            return self.find_expected()
        return self.expected if self.can_be_adjusted else None

    def first(self, num_mdps: int) -> "Result":
        """The result on the first MDPs only; numbers of the agent stay those of all."""
        end = num_mdps * self.settings["trajectories_per_mdp"]
        return replace(self, columns={name: rows[:end] for name, rows in self.columns.items()})

    def __repr__(self) -> str:
        return result_line(self)

    def _repr_html_(self) -> str:
        return result_html(self)


def join(parts: Sequence[Result], stopped: Stopped | None = None) -> Result:
    """Join parts, given in order, to a result: rows are concatenated, numbers join by the schema.

    If playing was stopped, MDPs whose trajectories are not all there are left out.
    """
    start = parts[0]
    columns = {
        name: np.concatenate([part.columns[name] for part in parts]) for name in start.columns
    }
    if stopped is not None:
        per_mdp = start.settings["trajectories_per_mdp"]
        end = len(columns["mdp"]) // per_mdp * per_mdp
        columns = {name: rows[:end] for name, rows in columns.items()}
    measured = {
        name: quantity.join([part.measured.get(name) for part in parts])
        for name, quantity in MEASURED.items()
        if quantity.join is not None
    }
    measured |= _online_times(columns, measured["histogram"], start)
    return replace(
        start,
        columns=columns,
        measured={name: number for name, number in measured.items() if number is not None},
        machine=_join_machines(parts),
        stopped=stopped,
    )


def _online_times(
    columns: Mapping[str, NDArray[Any]], histogram: TimeHistogram | None, part: Result
) -> dict[str, Any]:
    """The online times, and the share of late decisions; the histogram is used up."""
    deadline = part.deadline
    if "nanoseconds" in columns:
        nanoseconds = columns["nanoseconds"]
        features = decision_features(nanoseconds)
        late = None if deadline is None else float((nanoseconds > deadline * 1e9).mean())
    elif histogram is not None:
        features = histogram.features()
        late = None if deadline is None else histogram.late / histogram.decisions
    else:
        return {}
    middle, low, high = processor_times(columns["cpu_nanoseconds"], part.settings["horizon"])
    return {
        **{TIMES[name]: x for name, x in {ONLINE: middle, **features}.items()},
        "processor_low_seconds": low,
        "processor_high_seconds": high,
        "overruns": late,
        "histogram": None,
    }


def _join_machines(parts: Sequence[Result]) -> dict[str, Any]:
    """The machine that parts were played on, with their mean waiting share; lists several."""
    descriptions = [part.machine for part in parts]
    kinds = {machine.get("processor"): machine for machine in descriptions}
    one = descriptions[0]
    if all("waiting_share" in machine for machine in descriptions):
        shares = [machine["waiting_share"] for machine in descriptions]
        seconds = [max(1e-9, part.measured.get("playing_seconds", 0.0)) for part in parts]
        one = one | {"waiting_share": round(float(np.average(shares, weights=seconds)), 4)}
    return {**one, "machines": list(kinds.values())} if len(kinds) > 1 else one
