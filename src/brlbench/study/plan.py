"""The plan of a study: its file expanded into experiments, agents and jobs."""

import hashlib
import inspect
import itertools
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from ..agents import AGENTS, default_parameters, describe, identity, make_agent
from ..agents.base import Agent, CompiledAgent, is_told
from ..agents.labels import label_of
from ..analysis.bounds import num_choosing
from ..analysis.halving import rungs_within
from ..arguments import add_guest_folder, format_seconds
from ..beliefs.own import OwnDistribution
from ..errors import BrlbenchError, InvalidInput, Pointless, did_you_mean
from ..problems import PROBLEMS, names_guest
from ..problems.frozen import NUM_MDPS
from ..protocol import needs
from ..protocol.experiment import Experiment
from ..results.summary import BEATEN, HALVED, RACE
from ..schemas import place_of
from ..storage import frozen_set
from .schema import AgentTable, ExperimentTable, HalvingTable, LimitsTable, StudyTable, read_tables


@dataclass(frozen=True, eq=False)
class PlannedAgent:
    """An agent of a study: how to make it, and its limits."""

    algorithm: str  # as in the file
    parameters: dict[str, Any]
    agent: Agent  # untrained
    limits: LimitsTable
    code: str | None  # digest of the source file of a user's own agent

    @property
    def guest(self) -> str | None:
        """A user's own agent, which gets processes of its own; None for the built-in ones."""
        return None if self.code is None else self.algorithm

    @cached_property
    def identity(self) -> str:
        """Text that identifies agents with the same results."""
        if self.code is None:
            return identity(self.agent)
        return f"{identity(self.agent)} {self.algorithm} {json.dumps(self.parameters, default=str)}"


class TimeLevel(NamedTuple):
    """The level of time of an agent."""

    algorithm: str
    parameter: str  # that sets the time
    value: float
    setting: str  # its other parameters

    def __str__(self) -> str:
        return f"{self.algorithm} with {self.parameter}={self.value:g}"


@dataclass(frozen=True, eq=False)
class Job:
    """One agent in one experiment."""

    agent: PlannedAgent
    experiment: Experiment
    experiment_name: str
    keep_paths: bool = False  # states and actions too
    races: bool = False  # it can be dropped
    level: TimeLevel | None = None  # if halving compares it with others of its algorithm
    until: float | None = None  # the half-width of its interval at which it stops

    @cached_property
    def training_key(self) -> str:
        """A digest of everything that its training depends on."""
        played, agent = self.experiment, self.agent
        return _digest(agent.identity, agent.code, played.prior.digest, played.task, played.seed)

    @cached_property
    def key(self) -> str:
        """A digest of everything that its result depends on, except a user's code."""
        return _digest(self.agent.identity, self.experiment.hash, self.experiment.task)

    @cached_property
    def guest(self) -> str | None:
        """The user's code that it runs, which gets processes of its own; None without any."""
        sources = (self.experiment.prior, self.experiment.test)
        paths = [each.path for each in sources if isinstance(each, OwnDistribution)]
        return " ".join([*filter(None, [self.agent.guest]), *dict.fromkeys(paths)]) or None

    @property
    def rules(self) -> list[str]:
        """The names of the rules by which it may stop early."""
        if self.level is not None:
            return [HALVED, BEATEN]
        narrow = [] if self.until is None else [until_rule(self.until)]
        return [RACE, *narrow] if self.races else narrow

    @property
    def label(self) -> str:
        """The agent in a few words."""
        agent, deadline = self.agent.agent, self.experiment.deadline
        return label_of(*describe(agent), deadline, default_parameters(agent))

    def __str__(self) -> str:
        return f"{self.label} on {self.experiment_name}"


def until_rule(half_width: float) -> str:
    """The name of the rule that stops an agent with so narrow an interval."""
    return f"until-{half_width:g}"


class Skipped(NamedTuple):
    """A combination of parameters that makes no sense, and why."""

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
    changes: dict[str, Any]  # defaults that replace the file's own

    @property
    def agents(self) -> list[PlannedAgent]:
        """All agents that have a job."""
        return list(dict.fromkeys(job.agent for job in self.jobs))


def read_study(path: str | Path, rules: Sequence[str] = (), **defaults: Any) -> Study:
    """Read a study file, check all of it and expand it; `defaults` replace the file's own.

    The rules, `racing` or `halving`, stop agents early even if the file does not say so.
    """
    path = Path(path)
    table = read_tables(path, rules, **defaults)
    defaults = {**defaults, **dict.fromkeys(rules, True)}
    sources = [source for each in table.experiments for source in (each.test, each.prior)]
    if any(map(names_guest, filter(None, sources))) or any(
        ":" in entry.algorithm for entry in table.agents
    ):
        add_guest_folder(path.resolve().parent)
    experiments = _experiments(path, table)
    jobs, skipped = _jobs(path, table, experiments)
    if not jobs:
        raise InvalidInput(f"{path}: every agent is skipped: {skipped[0].reason}")
    _check_labels(path, jobs)
    if table.halving is not None:
        _check_halving(path, table.halving, jobs)
    return Study(path, table, experiments, jobs, skipped, defaults)


def _experiments(path: Path, table: StudyTable) -> dict[str, Experiment]:
    experiments: dict[str, Experiment] = {}
    for index, entry in enumerate(table.experiments):
        place = place_of(("experiments", index))
        try:
            experiment = _experiment(path, table, entry)
            needs.check(experiment, table.output.keep_paths)
            needs.check_drawing(experiment)
        except BrlbenchError as error:
            raise InvalidInput(f"{path}: {place}: {error}") from None
        within = f" within {format_seconds(experiment.deadline)}" if experiment.deadline else ""
        name = entry.name or experiment.name + within
        if name in experiments:
            raise InvalidInput(
                f"{path}: {place} has the name {name!r} of an earlier one: give it a name = … of "
                "its own"
            )
        for other, earlier in experiments.items():
            if (earlier.hash, earlier.deadline) == (experiment.hash, experiment.deadline):
                raise InvalidInput(
                    f"{path}: {place} has the settings of {other!r}: change or remove one of them"
                )
        experiments[name] = experiment
    return experiments


def _experiment(path: Path, table: StudyTable, entry: ExperimentTable) -> Experiment:
    if entry.frozen is not None:
        num_mdps = entry.num_mdps or table.defaults.num_mdps or NUM_MDPS
        deadline = entry.deadline or table.defaults.deadline
        return frozen_set(entry.frozen, num_mdps).replace(deadline=deadline)
    settings = table.defaults.model_dump(exclude={"until"}, exclude_none=True)
    values = entry.model_dump(
        exclude={"test", "prior", "name", "frozen", "until"}, exclude_none=True
    )
    if "horizon" in values:
        settings.pop("accuracy", None)
    elif "accuracy" in values:
        settings.pop("horizon", None)
    test = _source(path, entry.test or "")
    prior = _source(path, entry.prior) if entry.prior else test
    return Experiment(prior, test, **{**settings, **values})


def _source(path: Path, source: str) -> str:
    """The source of a distribution; a file in the study's folder gets its full path."""
    prefix, colon, rest = source.rpartition(":")
    if names_guest(source) or rest in PROBLEMS or Path(rest).is_absolute():
        return source
    beside = path.resolve().parent / rest
    return f"{prefix}{colon}{beside}" if os.path.exists(beside) else source


def _jobs(
    path: Path, table: StudyTable, experiments: dict[str, Experiment]
) -> tuple[list[Job], list[Skipped]]:
    jobs: dict[str, Job] = {}
    skipped = []
    untils = {
        name: entry.until or table.defaults.until
        for name, entry in zip(experiments, table.experiments, strict=True)
    }
    for index, entry in enumerate(table.agents):
        place = f"{path}: {place_of(('agents', index))}"
        names = _experiments_of(entry, experiments, place)
        limits = entry.limits.over(table.limits)
        for values in _combinations(entry.parameters):
            try:
                parameters = _with_paths(path, entry.algorithm, values)
                agent = make_agent(entry.algorithm, **parameters)
            except Pointless as error:
                skipped.append(Skipped(label_of(entry.algorithm, values), str(error)))
                continue
            except InvalidInput as error:
                raise InvalidInput(f"{place}: {error}") from None
            code = None if entry.algorithm in AGENTS else code_of(agent)
            races = table.racing is not None and not is_told(agent)
            level = _level(entry.algorithm, agent, table.halving, place)
            planned = PlannedAgent(entry.algorithm, parameters, agent, limits, code)
            for name in names:
                try:
                    if isinstance(agent, CompiledAgent):
                        agent.check_prior(experiments[name].prior)
                        agent.check_task(experiments[name].task)
                except Pointless as error:
                    label = label_of(entry.algorithm, values)
                    skipped.append(Skipped(label, f"{name}: {error}"))
                    continue
                until = entry.until or untils[name]
                keep_paths = table.output.keep_paths
                job = Job(planned, experiments[name], name, keep_paths, races, level, until)
                jobs.setdefault(job.key, job)
    return list(jobs.values()), skipped


def _level(
    algorithm: str, agent: Agent, halving: HalvingTable | None, place: str
) -> TimeLevel | None:
    """The level of an agent: the value of the first of halving's parameters that it has."""
    if halving is None or is_told(agent):
        return None
    rest = describe(agent)[1]
    for name in halving.levels:
        if name in rest:
            value = rest.pop(name)
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise InvalidInput(f"{place}: {name} = {value!r} sets a level: must be a number")
            setting = json.dumps(rest, sort_keys=True, default=str)
            return TimeLevel(algorithm, name, value, setting)
    return None


def _check_halving(path: Path, halving: HalvingTable, jobs: Sequence[Job]) -> None:
    """Raise if there is nothing to halve, or no MDPs for it."""
    if all(job.level is None for job in jobs):
        raise InvalidInput(
            f"{path}: halving.levels = {halving.levels}: no agent has such a parameter, so none "
            "would stop early"
        )
    for name, experiment in {job.experiment_name: job.experiment for job in jobs}.items():
        if not rungs_within(experiment.num_mdps, halving.mdps):
            raise InvalidInput(
                f"{path}: halving.mdps begins with {halving.mdps[0]}: only the first "
                f"{num_choosing(experiment.num_mdps)} of the {experiment.num_mdps} MDPs of {name} "
                "may choose agents, a quarter; use fewer, or more MDPs"
            )


def _experiments_of(entry: AgentTable, experiments: Iterable[str], place: str) -> list[str]:
    """The experiments of an agent: all, or those that names and patterns such as `GC *` match."""
    known = list(experiments)
    names = known if entry.experiments is None else entry.experiments
    empty = [f".parameters.{key}" for key, value in entry.parameters.items() if value == []]
    if not names or empty:
        key = empty[0] if empty else ".experiments"
        raise InvalidInput(f"{place}{key} = []: give it at least one value")
    matches = []
    for name in names:
        found = [name] if name in known else [each for each in known if fnmatchcase(each, name)]
        if not found:
            raise InvalidInput(
                f"{place}.experiments has {name!r}{did_you_mean(name, known)}: must be one of "
                f"{', '.join(known)}"
            )
        matches += found
    return matches


def _with_paths(path: Path, algorithm: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """Parameters in which files of the study's folder have their full paths."""
    located = dict(parameters)
    known = AGENTS[algorithm].declarations_with(parameters) if algorithm in AGENTS else {}
    for name, rule in known.items():
        value = parameters.get(name)
        if rule.locate is not None and isinstance(value, str):
            located[name] = rule.locate(value, path.resolve().parent)
    return located


def _check_labels(path: Path, jobs: Iterable[Job]) -> None:
    """Raise if two agents have the same label: no report could tell them apart."""
    seen: dict[tuple[str, str], Job] = {}
    for job in jobs:
        other = seen.setdefault((job.label, job.experiment_name), job)
        if other is not job:
            raise InvalidInput(
                f"{path}: {other.agent.algorithm} with {other.agent.parameters} and "
                f"{job.agent.algorithm} with {job.agent.parameters} are both called {job.label}: "
                "give their classes different names, or show what differs in their parameters"
            )


def _combinations(parameters: dict[str, Any]) -> Iterator[dict[str, Any]]:
    values = [value if isinstance(value, list) else [value] for value in parameters.values()]
    for chosen in itertools.product(*values):
        yield dict(zip(parameters, chosen, strict=True))


def code_of(agent: Agent) -> str:
    """A digest of the source file of a user's own agent."""
    source = None
    with suppress(TypeError):  # the class is not written in Python
        source = inspect.getsourcefile(type(agent))
    return hashlib.sha256(Path(source).read_bytes()).hexdigest()[:8] if source else ""


def _digest(*parts: Any) -> str:
    return hashlib.sha256("\n".join(map(repr, parts)).encode()).hexdigest()[:16]
