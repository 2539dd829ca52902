"""A study file (TOML): which agents play which experiments, within which limits.

Lists of parameter values expand to all combinations:

    [defaults]
    num_mdps = 500

    [[experiments]]
    test = "GC"
    prior = "uniform:GC"      # the test distribution, if not given

    [[agents]]
    algorithm = "bamcp"       # or "my_module:MyAgent"
    parameters.simulations = [500, 2500]
    parameters.depth = [15, 25]
    limits.trajectory = "10m"
"""

import hashlib
import inspect
import itertools
import json
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from ..agents import AGENTS, describe, make_agent
from ..agents.base import Agent
from ..arguments import format_seconds, parse_seconds
from ..errors import BrlbenchError, InvalidInput, Pointless, StoreError, did_you_mean
from ..files import read_bytes
from ..problems import PROBLEMS
from ..protocol.experiment import Experiment
from ..protocol.playing import identity
from ..protocol.result import label_of
from ..storage import frozen_set

_MEMORY = {"kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12, "kib": 2**10, "mib": 2**20, "gib": 2**30}


def _seconds(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return value
    try:
        return parse_seconds(str(value))
    except InvalidInput as error:  # the value and its place are told anyway
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


Seconds = Annotated[float, AfterValidator(_positive), BeforeValidator(_seconds)]
Bytes = Annotated[int, BeforeValidator(_bytes)]


class _Table(BaseModel):
    """A table of the file: no unknown keys, no silent conversions."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    @model_validator(mode="before")
    @classmethod
    def _known_keys(cls, content: Any) -> Any:
        if isinstance(content, dict):
            for key in content:
                if key not in cls.model_fields:
                    raise ValueError(
                        f"unknown key {key!r}{did_you_mean(key, cls.model_fields)}: "
                        f"must be one of {', '.join(cls.model_fields)}"
                    )
        return content


class LimitsTable(_Table):
    """What an agent may use; it fails when it uses more."""

    training: Seconds | None = None
    decision: Seconds | None = None
    trajectory: Seconds | None = None
    memory: Bytes | None = None

    def over(self, defaults: "LimitsTable") -> "LimitsTable":
        """These limits, and others where they say nothing."""
        return defaults.model_copy(update=self.model_dump(exclude_none=True))

    def trajectory_seconds(self, horizon: int) -> float | None:
        """The time for one trajectory that follows from both limits on playing."""
        bounds = [self.trajectory, self.decision and self.decision * horizon]
        return min((bound for bound in bounds if bound), default=None)


class DefaultsTable(_Table):
    """Settings of experiments, unless they have their own."""

    num_mdps: int | None = None
    discount: float | None = None
    horizon: int | None = None
    accuracy: float | None = None
    seed: int | None = None
    trajectories: int | None = None
    deadline: Seconds | None = None


class ExperimentTable(DefaultsTable):
    """One experiment: a test distribution with settings, or a frozen set."""

    test: str | None = None
    prior: str | None = None
    name: str | None = None
    frozen: str | None = None

    @model_validator(mode="after")
    def _test_or_frozen(self) -> "ExperimentTable":
        given = self.model_fields_set - {"frozen", "name", "deadline"}
        if self.frozen is None and self.test is None:
            raise ValueError("must have test = …, or frozen = … with the name of a frozen set")
        if self.frozen is not None and given:
            raise ValueError(f"can't have {sorted(given)[0]}: its frozen set has all settings")
        return self


class AgentTable(_Table):
    """An algorithm with lists of parameter values, in all or some of the experiments."""

    algorithm: str
    parameters: dict[str, Any] = {}
    limits: LimitsTable = LimitsTable()
    experiments: list[str] | None = None


class OutputTable(_Table):
    """What is kept of what is played from now on."""

    trajectories: bool = False  # states and actions too


class ExecutionTable(_Table):
    """Where the study is run; the command line overrides it."""

    executor: Literal["local", "dask", "slurm"] = "local"
    workers: Annotated[int, Field(ge=1)] | None = None
    part: Seconds = 10.0  # what is played between two files, and lost if a process is killed
    scheduler: str | None = None
    slurm: dict[str, Any] = {}  # see `executors.SlurmOptions`


class StudyTable(_Table):
    """The whole file."""

    title: str = ""
    defaults: DefaultsTable = DefaultsTable()
    limits: LimitsTable = LimitsTable()
    output: OutputTable = OutputTable()
    execution: ExecutionTable = ExecutionTable()
    experiments: Annotated[list[ExperimentTable], Field(min_length=1)]
    agents: Annotated[list[AgentTable], Field(min_length=1)]


@dataclass(frozen=True, eq=False)
class PlannedAgent:
    """An agent of a study: what it takes to make it, and its limits."""

    algorithm: str  # as in the file
    parameters: dict[str, Any]
    agent: Agent  # untrained
    limits: LimitsTable
    code: str | None  # a digest of the source of a user's own agent

    @cached_property
    def identity(self) -> str:
        """What tells it apart from all others."""
        if self.code is None:
            return identity(self.agent)
        return f"{identity(self.agent)} {self.algorithm} {json.dumps(self.parameters, default=str)}"


@dataclass(frozen=True, eq=False)
class Job:
    """One agent in one experiment."""

    agent: PlannedAgent
    experiment: Experiment
    experiment_name: str
    keep_paths: bool = False  # states and actions too

    @cached_property
    def training_key(self) -> str:
        """What its training depends on."""
        played, agent = self.experiment, self.agent
        return _digest(agent.identity, agent.code, played.prior.digest, played.task, played.seed)

    @cached_property
    def key(self) -> str:
        """What its result depends on, besides the code of a user's own agent."""
        return _digest(self.agent.identity, self.experiment.hash, self.experiment.task)

    @property
    def label(self) -> str:
        """The agent in a few words."""
        return label_of(*describe(self.agent.agent), self.experiment.deadline)

    def __str__(self) -> str:
        return f"{self.label} on {self.experiment_name}"


@dataclass(frozen=True)
class Skipped:
    """A combination of parameters that makes no sense."""

    label: str
    reason: str


@dataclass(frozen=True, eq=False)
class Study:
    """A study, ready to run."""

    path: Path
    table: StudyTable
    experiments: dict[str, Experiment]
    jobs: list[Job]
    skipped: list[Skipped]

    @property
    def agents(self) -> list[PlannedAgent]:
        """All agents that play somewhere."""
        return list(dict.fromkeys(job.agent for job in self.jobs))


def read_study(path: str | Path) -> Study:
    """Read a study file, check all of it and expand it."""
    path = Path(path)
    table = _parse(path)
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)  # a user's own agents may lie beside the study
    experiments = _experiments(path, table)
    agents, skipped = _agents(path, table, experiments)
    jobs: dict[str, Job] = {}
    for agent, names in agents:
        for name in names:
            job = Job(agent, experiments[name], name, table.output.trajectories)
            jobs.setdefault(job.key, job)
    if not jobs:
        raise InvalidInput(f"{path}: no agent is left to play: {skipped[0].reason}")
    _check_labels(path, jobs.values())
    return Study(path, table, experiments, list(jobs.values()), skipped)


def _parse(path: Path) -> StudyTable:
    try:
        content = tomllib.loads(read_bytes(path).decode())
    except StoreError as error:
        raise InvalidInput(f"study {error}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path} is not a TOML file: {error}") from None
    try:
        return StudyTable.model_validate(content)
    except ValidationError as error:
        raise explain(error, str(path)) from None


def explain(error: ValidationError, source: str) -> InvalidInput:
    """What is wrong with a table, in one sentence: file, key, value, remedy."""
    first = error.errors()[0]
    place = _place(first["loc"])
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
    return InvalidInput(f"{source}: {place} = {first['input']!r}: {message}")


def _place(location: tuple[int | str, ...]) -> str:
    """Where in the file, as in agents[2].limits.memory; entries are counted from 1."""
    parts = [f"[{part + 1}]" if isinstance(part, int) else f".{part}" for part in location]
    return "".join(parts).removeprefix(".")


def _experiments(path: Path, table: StudyTable) -> dict[str, Experiment]:
    found: dict[str, Experiment] = {}
    for index, entry in enumerate(table.experiments):
        place = _place(("experiments", index))
        try:
            made = _experiment(path, table, entry)
        except BrlbenchError as error:
            raise InvalidInput(f"{path}: {place}: {error}") from None
        within = f" within {format_seconds(made.deadline)}" if made.deadline else ""
        name = entry.name or made.name + within
        if name in found:
            raise InvalidInput(
                f"{path}: {place} has the name {name!r} of an earlier one: give it a name = … of "
                "its own"
            )
        for other, earlier in found.items():
            if (earlier.hash, earlier.deadline) == (made.hash, made.deadline):
                raise InvalidInput(
                    f"{path}: {place} has the settings of {other!r}: change or remove one of them"
                )
        found[name] = made
    return found


def _experiment(path: Path, table: StudyTable, entry: ExperimentTable) -> Experiment:
    if entry.frozen is not None:
        made = frozen_set(entry.frozen)
        made.deadline = entry.deadline or table.defaults.deadline
        return made
    settings = table.defaults.model_dump(exclude_none=True)
    own = entry.model_dump(exclude={"test", "prior", "name", "frozen"}, exclude_none=True)
    if "horizon" in own:
        settings.pop("accuracy", None)
    elif "accuracy" in own:
        settings.pop("horizon", None)
    test = _source(path, entry.test or "")
    prior = _source(path, entry.prior) if entry.prior else test
    return Experiment(prior, test, **{**settings, **own})


def _source(path: Path, source: str) -> str:
    """A distribution's name, or its file as seen from the study's folder."""
    prefix, colon, rest = source.rpartition(":")
    if rest in PROBLEMS or Path(rest).is_absolute():
        return source
    beside = path.resolve().parent / rest
    return f"{prefix}{colon}{beside}" if beside.exists() else source


def _agents(
    path: Path, table: StudyTable, experiments: dict[str, Experiment]
) -> tuple[list[tuple[PlannedAgent, list[str]]], list[Skipped]]:
    found: list[tuple[PlannedAgent, list[str]]] = []
    skipped = []
    for index, entry in enumerate(table.agents):
        place = _place(("agents", index))
        names = list(experiments) if entry.experiments is None else entry.experiments
        empty = [f".parameters.{key}" for key, value in entry.parameters.items() if value == []]
        if not names or empty:
            key = empty[0] if empty else ".experiments"
            raise InvalidInput(f"{path}: {place}{key} = []: give it at least one value")
        for name in names:
            if name not in experiments:
                raise InvalidInput(
                    f"{path}: {place}.experiments has {name!r}{did_you_mean(name, experiments)}: "
                    f"must be one of {', '.join(experiments)}"
                )
        limits = entry.limits.over(table.limits)
        for parameters in _combinations(entry.parameters):
            try:
                agent = make_agent(entry.algorithm, **parameters)
            except Pointless as error:
                skipped.append(Skipped(label_of(entry.algorithm, parameters), str(error)))
                continue
            except InvalidInput as error:
                raise InvalidInput(f"{path}: {place}: {error}") from None
            code = _code(agent) if entry.algorithm not in AGENTS else None
            found.append((PlannedAgent(entry.algorithm, parameters, agent, limits, code), names))
    return found, skipped


def _check_labels(path: Path, jobs: Iterable[Job]) -> None:
    """Refuse agents that differ and look alike, which no report could tell apart."""
    seen: dict[tuple[str, str], Job] = {}
    for job in jobs:
        other = seen.setdefault((job.label, job.experiment_name), job)
        if other is not job:
            raise InvalidInput(
                f"{path}: {other.agent.algorithm} with {other.agent.parameters} and "
                f"{job.agent.algorithm} with {job.agent.parameters} are both called {job.label}: "
                "give their classes different names, and let their parameters be their own"
            )


def _combinations(parameters: dict[str, Any]) -> Iterator[dict[str, Any]]:
    values = [value if isinstance(value, list) else [value] for value in parameters.values()]
    for chosen in itertools.product(*values):
        yield dict(zip(parameters, chosen, strict=True))


def _code(agent: Agent) -> str:
    source = inspect.getsourcefile(type(agent))
    return hashlib.sha256(Path(source).read_bytes()).hexdigest()[:8] if source else ""


def _digest(*parts: Any) -> str:
    return hashlib.sha256("\n".join(map(repr, parts)).encode()).hexdigest()[:16]
