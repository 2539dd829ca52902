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

import re
import tomllib
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from ..analysis.racing import ERROR, OFFLINE_BOUNDS, ONLINE_BOUNDS
from ..arguments import parse_seconds
from ..errors import InvalidInput, StoreError, did_you_mean, short
from ..files import read_bytes

_MEMORY = {"kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12, "kib": 2**10, "mib": 2**20, "gib": 2**30}


def _seconds(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return value
    try:
        return parse_seconds(str(value))
    except InvalidInput as error:  # `explain` adds the value and its place
        raise ValueError(str(error).partition(": ")[2]) from None


def _positive(value: float) -> float:
    if value <= 0:
        raise ValueError("must be more than 0")
    return value


def _bytes(value: Any) -> Any:
    size = r"\s*(\d+(?:\.\d+)?)\s*([a-zA-Z]+)\s*"
    found = re.fullmatch(size, value) if isinstance(value, str) else None
    number = float(found[1]) * _MEMORY.get(found[2].lower(), 0.0) if found else 0.0
    if number < 1:
        raise ValueError("must be a size like 500MB or 4GB")
    return int(number)


def _half_width(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return float(value.strip().removeprefix("±"))
    except ValueError:
        raise ValueError("must be half the width of an interval, as in ±0.5") from None


Seconds = Annotated[float, AfterValidator(_positive), BeforeValidator(_seconds)]
Bytes = Annotated[int, BeforeValidator(_bytes)]
HalfWidth = Annotated[float, Field(gt=0, allow_inf_nan=False), BeforeValidator(_half_width)]
Bounds = Annotated[list[Seconds], Field(min_length=1)]


class _Table(BaseModel):
    """A table of the file: no unknown keys, no silent conversions."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)
    renamed: ClassVar[dict[str, str]] = {}  # current name by former name

    @model_validator(mode="before")
    @classmethod
    def _known_keys(cls, content: Any) -> Any:
        if isinstance(content, dict):
            for key in content:
                if key in cls.renamed:
                    raise ValueError(f"unknown key {key!r}: it is now called {cls.renamed[key]}")
                if key not in cls.model_fields:
                    raise ValueError(
                        f"unknown key {key!r}{did_you_mean(key, cls.model_fields)}: "
                        f"must be one of {', '.join(cls.model_fields)}"
                    )
        return content


class LimitsTable(_Table):
    """What an agent may use; it fails if it uses more."""

    training: Seconds | None = None
    training_memory: Bytes | None = None
    decision: Seconds | None = None
    trajectory: Seconds | None = None
    playing: Seconds | None = None  # of all trajectories of a job together
    playing_memory: Bytes | None = None
    memory: Bytes | None = None  # of training and playing, unless these have their own

    def over(self, defaults: "LimitsTable") -> "LimitsTable":
        """These limits, with the defaults for those that are not given."""
        own = self.model_dump(exclude_none=True)
        if self.memory is not None:
            own = {"training_memory": self.memory, "playing_memory": self.memory, **own}
        return defaults.model_copy(update=own)

    @property
    def memories(self) -> tuple[int | None, int | None]:
        """Bytes for training and for playing."""
        return self.training_memory or self.memory, self.playing_memory or self.memory

    def trajectory_seconds(self, horizon: int) -> float | None:
        """Seconds for one trajectory, by the tighter of both limits on playing."""
        bounds = [self.trajectory, self.decision and self.decision * horizon]
        return min((bound for bound in bounds if bound), default=None)


class DefaultsTable(_Table):
    """Settings of experiments, unless they have their own."""

    renamed: ClassVar[dict[str, str]] = {"trajectories": "trajectories_per_mdp"}
    num_mdps: int | None = None
    discount: float | None = None
    horizon: int | None = None
    accuracy: float | None = None
    seed: int | None = None
    trajectories_per_mdp: int | None = None
    deadline: Seconds | None = None
    until: HalfWidth | None = None  # of the score's 95% interval; then an agent stops


class ExperimentTable(DefaultsTable):
    """One experiment: a test distribution with settings, or a frozen set."""

    test: str | None = None
    prior: str | None = None
    name: str | None = None
    frozen: str | None = None

    @model_validator(mode="after")
    def _test_or_frozen(self) -> "ExperimentTable":
        given = self.model_fields_set - {"frozen", "name", "deadline", "num_mdps", "until"}
        if self.frozen is None and self.test is None:
            raise ValueError("must have test = …, or frozen = … with the name of a frozen set")
        if self.frozen is not None and given:
            raise ValueError(f"can't have {sorted(given)[0]}: its frozen set has this setting")
        return self


class AgentTable(_Table):
    """An algorithm with lists of parameter values, in all or some of the experiments."""

    algorithm: str
    parameters: dict[str, Any] = {}
    limits: LimitsTable = LimitsTable()
    experiments: list[str] | None = None
    until: HalfWidth | None = None  # instead of the experiments' own


class RacingTable(_Table):
    """Agents that are surely not the best of their class stop early; see `analysis.racing`."""

    error: Annotated[float, Field(gt=0, lt=1)] = ERROR  # of the whole study
    offline: Bounds = list(OFFLINE_BOUNDS)  # bounds on time that make classes
    online: Bounds = list(ONLINE_BOUNDS)


class OutputTable(_Table):
    """What is kept of trajectories; applies to those played from now on."""

    renamed: ClassVar[dict[str, str]] = {"trajectories": "keep_paths"}
    keep_paths: bool = False  # states and actions too


class ExecutionTable(_Table):
    """Where the study is run; the command line overrides it."""

    executor: Literal["local", "dask", "slurm"] = "local"
    workers: Annotated[int, Field(ge=1)] | None = None
    part: Seconds = 10.0  # of playing per file; lost if a process is killed
    scheduler: str | None = None
    slurm: dict[str, Any] = {}  # see `executors.SlurmOptions`


class StudyTable(_Table):
    """The whole file."""

    title: str = ""
    defaults: DefaultsTable = DefaultsTable()
    limits: LimitsTable = LimitsTable()
    output: OutputTable = OutputTable()
    racing: RacingTable | None = None
    execution: ExecutionTable = ExecutionTable()
    experiments: Annotated[list[ExperimentTable], Field(min_length=1)]
    agents: Annotated[list[AgentTable], Field(min_length=1)]


def read_tables(path: Path) -> StudyTable:
    """Read a study file and check each of its values."""
    try:
        content = read_toml(path)
    except StoreError as error:
        raise InvalidInput(f"study {error}") from None
    try:
        return StudyTable.model_validate(content)
    except ValidationError as error:
        raise explain(error, str(path)) from None


def read_toml(path: Path) -> dict[str, Any]:
    """The content of a TOML file."""
    try:
        return tomllib.loads(read_bytes(path).decode())
    except RecursionError:
        raise InvalidInput(f"{path} can't be used: its values are nested too deeply") from None
    except ValueError as error:  # also a number of thousands of digits
        raise InvalidInput(f"{path} is not a TOML file: {error}") from None


def with_defaults(table: StudyTable, changes: dict[str, Any]) -> StudyTable:
    """The tables of a file with some defaults replaced."""
    own = table.defaults.model_dump(exclude_unset=True)
    return table.model_copy(update={"defaults": DefaultsTable.model_validate(own | changes)})


def explain(error: ValidationError, source: str) -> InvalidInput:
    """What is wrong with a table, in one sentence: file, key, value, remedy."""
    first = error.errors()[0]
    place = place_of(first["loc"])
    message = first["msg"].removeprefix("Value error, ")
    if first["type"] == "missing":
        return InvalidInput(f"{source}: {place} is missing: add it")
    if message.startswith("unknown key"):
        return InvalidInput(f"{source}: {place or 'the file'} has an {message}")
    if first["type"] == "list_type" and place in ("experiments", "agents"):
        return InvalidInput(f"{source}: {place} must be written as [[{place}]], once for each")
    if first["type"] in ("model_type", "too_short"):
        return InvalidInput(f"{source}: {place} must be a table with values, as in [{place}]")
    if isinstance(first["input"], dict):
        return InvalidInput(f"{source}: {place} {message}")
    message = message[0].lower() + message[1:]
    return InvalidInput(f"{source}: {place} = {short(first['input'])}: {message}")


def place_of(location: tuple[int | str, ...]) -> str:
    """Where in the file, as in agents[2].limits.memory; entries are counted from 1."""
    parts = [f"[{part + 1}]" if isinstance(part, int) else f".{part}" for part in location]
    return "".join(parts).removeprefix(".")
