"""A study file (TOML): which agents play which experiments, within which limits.

Lists of parameter values expand to all combinations:

    [defaults]
    num_mdps = 500

    [[experiments]]
    test = "GC"
    prior = "uniform:GC"      # the test distribution if not given

    [[agents]]
    algorithm = "bamcp"       # or "my_module:MyAgent"
    parameters.simulations = [500, 2500]
    parameters.depth = [15, 25]
    limits.trajectory = "10m"
"""

import math
import tomllib
from collections.abc import Callable, Iterable
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import Field, model_validator

from ..analysis.halving import LADDER, RUNGS
from ..analysis.racing import ERROR, OFFLINE_BOUNDS, ONLINE_BOUNDS
from ..arguments import parse_bytes, parse_seconds
from ..errors import InvalidInput, StoreError
from ..executors.base import Limits
from ..executors.slurm_options import SlurmOptions
from ..files import read_bytes
from ..schemas import StrictSchema, parse_written
from ..values import (
    BETWEEN_0_AND_1,
    POSITIVE,
    Count,
    Discount,
    Flag,
    Index,
    Kind,
    Positive,
    Text,
    words,
)

EXECUTORS = ("local", "dask", "slurm")
# Limits count from the first message; until then a process may import and compile for this long.
PREPARATION_SECONDS = 600.0


class WrittenSeconds(float):
    """Seconds that remember how a person wrote them."""

    text: str = ""


def _seconds(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return 0.0
    try:
        seconds = WrittenSeconds(parse_seconds(str(value)))
        seconds.text = value.strip() if isinstance(value, str) else f"{value} s"
        return seconds
    except InvalidInput:
        return 0.0


def _half_width(value: Any) -> float:
    try:
        return POSITIVE(float(value.strip().removeprefix("±")) if isinstance(value, str) else value)
    except ValueError:
        return 0.0


def _written(allowed: str, parse: Callable[[Any], Any]) -> Kind[Any]:
    """Values above 0 that people write with a unit; `parse` returns 0 for others."""
    return Kind(allowed, lambda value: parse(value) > 0, parse)


_DURATION = "a duration above 0 like 300us, 5ms, 1.5s, 1m or 2h, or a number of seconds"
Seconds = Annotated[float, _written(_DURATION, _seconds)]
Bytes = Annotated[int, _written("a size like 500MB or 4GB", parse_bytes)]
HalfWidth = Annotated[
    float, _written("half the width of an interval, above 0, as in ±0.5", _half_width)
]
Bounds = Annotated[list[Seconds], Field(min_length=1)]


class LimitsTable(StrictSchema):
    """Limits on an agent, which fails beyond them."""

    training: Seconds | None = None
    training_memory: Bytes | None = None
    decision: Seconds | None = None
    trajectory: Seconds | None = None
    playing: Seconds | None = None  # of all trajectories of a job together
    playing_memory: Bytes | None = None
    memory: Bytes | None = None  # of training and playing, unless these have their own

    def over(self, defaults: "LimitsTable") -> "LimitsTable":
        """These limits, with the defaults for those that are not given."""
        values = self.model_dump(exclude_none=True)
        if self.memory is not None:
            values = {"training_memory": self.memory, "playing_memory": self.memory, **values}
        return defaults.model_copy(update=values)

    def text(self, name: str) -> str:
        """A limit on time as failures name it."""
        seconds = getattr(self, name)
        return "" if seconds is None else f"limits.{name} = {seconds.text}"

    @property
    def of_training(self) -> Limits:
        """The limits of a training."""
        return Limits(
            total=self.training,
            memory=self.training_memory or self.memory,
            preparation=PREPARATION_SECONDS,
            total_text=self.text("training"),
        )

    def of_playing(self, horizon: int) -> Limits:
        """The limits of a part; before its first message, an agent may have to be retrained."""
        decisions = f"{self.text('decision')} for each of {horizon} decisions"
        bounds = [
            (self.trajectory, self.text("trajectory")),
            (self.decision and self.decision * horizon, decisions),
        ]
        known = [(bound, text) for bound, text in bounds if bound]
        trajectory, text = min(known, default=(None, ""))
        retraining = math.inf if self.training is None else self.training
        return Limits(
            seconds=trajectory,
            total=self.playing,
            memory=self.playing_memory or self.memory,
            preparation=PREPARATION_SECONDS + retraining,
            seconds_text=text,
            total_text=self.text("playing"),
        )


class DefaultsTable(StrictSchema):
    """Settings of experiments, unless they have their own."""

    num_mdps: Count | None = None
    discount: Discount | None = None
    horizon: Count | None = None
    episode: Count | None = None  # decisions from one start state to the next
    accuracy: Positive | None = None
    seed: Index | None = None
    trajectories_per_mdp: Count | None = None
    deadline: Seconds | None = None
    until: HalfWidth | None = None  # of the score's 95% interval; then an agent stops


class ExperimentTable(DefaultsTable):
    """One experiment: a test distribution with settings, or a frozen set."""

    test: Text | None = None
    prior: Text | None = None
    name: Text | None = None
    frozen: Text | None = None

    @model_validator(mode="after")
    def _test_or_frozen(self) -> "ExperimentTable":
        settings = self.model_fields_set - {"frozen", "name", "deadline", "num_mdps", "until"}
        if self.frozen is None and self.test is None:
            raise ValueError("must have test = …, or frozen = … with the name of a frozen set")
        if self.frozen is not None and settings:
            raise ValueError(f"can't have {sorted(settings)[0]}: its frozen set has this setting")
        return self


class AgentTable(StrictSchema):
    """An algorithm with lists of parameter values, in all or some of the experiments."""

    _otherwise: ClassVar[str] = "; a parameter of the agent is written as parameters.{key} = …"

    algorithm: Text
    parameters: dict[str, Any] = {}
    limits: LimitsTable = LimitsTable()
    experiments: list[Text] | None = None
    until: HalfWidth | None = None  # instead of the experiments' own


class RacingTable(StrictSchema):
    """Agents that are surely not the best of their class stop early; see `analysis.racing`."""

    error: Annotated[float, BETWEEN_0_AND_1] = ERROR  # of the whole study
    offline: Bounds = list(OFFLINE_BOUNDS)  # bounds on time that make classes
    online: Bounds = list(ONLINE_BOUNDS)


class HalvingTable(StrictSchema):
    """Of expensive algorithms, the best agent per level of time goes on; `analysis.halving`."""

    levels: Annotated[list[Text], Field(min_length=1)] = ["simulations"]  # parameters that set time
    mdps: Annotated[list[Count], Field(min_length=1)] = list(RUNGS)  # after which the best go on
    ladder: Positive = LADDER  # above this level, only the best settings of the one below play

    @model_validator(mode="after")
    def _mdps_increase(self) -> "HalvingTable":
        if any(one >= other for one, other in pairwise(self.mdps)):
            raise ValueError(f"can't have mdps = {self.mdps}: they must increase")
        return self


class OutputTable(StrictSchema):
    """Columns of results, for trajectories played from now on."""

    keep_paths: Flag = False  # states and actions too


class ExecutionTable(StrictSchema):
    """The executor of the study; the command line overrides it."""

    executor: Annotated[str, words(*EXECUTORS)] = "local"
    workers: Count | None = None
    part: Seconds = 10.0  # of playing per file; lost if a process is killed
    scheduler: Text | None = None
    slurm: SlurmOptions = SlurmOptions()


class StudyTable(StrictSchema):
    """The whole file."""

    title: Text = ""
    defaults: DefaultsTable = DefaultsTable()
    limits: LimitsTable = LimitsTable()
    output: OutputTable = OutputTable()
    racing: RacingTable | None = None
    halving: HalvingTable | None = None
    execution: ExecutionTable = ExecutionTable()
    experiments: Annotated[list[ExperimentTable], Field(min_length=1)]
    agents: Annotated[list[AgentTable], Field(min_length=1)]

    @model_validator(mode="after")
    def _one_rule(self) -> "StudyTable":
        untils = [each.until for each in (self.defaults, *self.experiments)]
        untils += [each.until for each in self.agents]
        for name, other in {"racing": self.racing, "until": any(untils)}.items():
            if self.halving and other:
                raise ValueError(f"can't have both halving and {name}: leave out one of them")
        return self

    @property
    def rule(self) -> RacingTable | HalvingTable | None:
        """The rule by which agents that are compared stop early."""
        return self.racing or self.halving


def read_tables(path: Path, rules: Iterable[str] = (), **defaults: Any) -> StudyTable:
    """Read a study file, with some of its defaults replaced, and check each of its values.

    The rules are names of tables, such as `racing`, that the study gets if it has none.
    """
    try:
        content = read_toml(path)
    except StoreError as error:
        raise InvalidInput(f"study {error}") from None
    written = content.get("defaults", {})
    if isinstance(written, dict):
        content["defaults"] = {**written, **defaults}
    for rule in rules:
        content.setdefault(rule, {})
    return parse_written(StudyTable, content, str(path))


def read_toml(path: Path) -> dict[str, Any]:
    """The content of a TOML file."""
    try:
        return tomllib.loads(read_bytes(path).decode())
    except RecursionError:
        raise InvalidInput(f"{path} can't be used: its values are nested too deeply") from None
    except ValueError as error:  # also a number of thousands of digits
        raise InvalidInput(f"{path} is not a TOML file: {error}") from None
