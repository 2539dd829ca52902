"""Times of stored results, measured anew: together, on one machine, with one version.

Agents are trained again and play a few of their MDPs, in turn over all, so that whatever slows the
machine down for a while slows all of them. If returns are not those that are stored, another
version or machine has played, and the stored times stay.
"""

import datetime
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..agents import AGENTS, describe, identity, make_agent
from ..agents.base import Agent
from ..errors import AgentError, BrlbenchError, InvalidInput, WrongKind
from ..files import files_below
from ..problems.frozen import HASHES
from ..protocol import machine
from ..protocol.experiment import Experiment, arguments_in
from ..protocol.playing import Part, PlayedPart, play_part
from ..protocol.recording import make_part
from ..protocol.training import Training, train
from ..results.compact import ENTRY_SUFFIX, ExperimentHeader, read_summaries, write_summaries
from ..results.files import read_result, write_result
from ..results.result import Result, join
from ..results.schema import SUMMARISED, TIMES
from ..results.summary import Summary, summarise
from ..storage import frozen_set

TURNS = 3
MDPS_PER_TURN = 4
_SECONDS_PER_TURN = 2.0  # of playing; slower agents play fewer MDPs
_TOLERANCE = 1e-9  # of returns
_TIMES = {*TIMES.values(), *(name for name in SUMMARISED if name.startswith("processor_"))}

OnStep = Callable[[str, int, int], None]
"""Progress callback(agent, done, total)."""


class Retimed(NamedTuple):
    """The outcome for one file."""

    path: Path
    num_results: int
    omissions: dict[str, str]  # by agent and experiment: the reason why its times stay


@dataclass(eq=False)
class _Stored:
    """A stored result, and its agent's new training and playing."""

    path: Path
    header: ExperimentHeader
    summary: Summary
    result: Result | None = None  # None: from a compact file
    trained: tuple[Agent, Experiment, Training] | None = None
    played: list[PlayedPart] = field(default_factory=list)
    omission: str = ""

    def __str__(self) -> str:
        return f"{self.summary.label} on {self.header.name}"


def retime(
    places: Iterable[Path], classes: Sequence[str] = (), on_step: OnStep = lambda *_: None
) -> list[Retimed]:
    """Measure the times of results in files and folders anew, and replace those in the files.

    Agents are those of the package, and those of the `classes`, given as "module:Class".
    """
    stored = [each for path in _files(places) for each in _read(path)]
    if not stored:
        raise InvalidInput("there are no results to time: give files or folders with results")
    total, trainer = (1 + TURNS) * len(stored), _Trainer(classes)
    waiting = machine.Waiting()
    for done, each in enumerate(stored):
        on_step(str(each), done, total)
        with _omitting(each):
            each.trained = trainer.train(each)
    for turn in range(TURNS):
        for number, each in enumerate(stored):
            on_step(str(each), (1 + turn) * len(stored) + number, total)
            with _omitting(each):
                _play(each, turn)
    made_on = machine.describe() | {
        "waiting_share": waiting.share(),
        "timed": datetime.date.today().isoformat(),
    }
    by_path: dict[Path, list[_Stored]] = {}
    for each in stored:
        by_path.setdefault(each.path, []).append(each)
    for path, group in by_path.items():
        _write(path, group, made_on)
    return [
        Retimed(path, len(group), {str(each): each.omission for each in group if each.omission})
        for path, group in by_path.items()
    ]


@contextmanager
def _omitting(stored: _Stored) -> Iterator[None]:
    """A result that can't be played again keeps its times; the reason is noted."""
    try:
        yield
    except BrlbenchError as error:
        stored.omission = str(error)


def _files(places: Iterable[Path]) -> list[Path]:
    files: list[Path] = []
    for place in places:
        files += sorted(files_below(place, "*.parquet")) if place.is_dir() else [place]
    return files


def _read(path: Path) -> list[_Stored]:
    """The results in a file; none if it holds something else."""
    if path.name.endswith(ENTRY_SUFFIX):
        raise InvalidInput(f"{path} is an entry, which nobody may change: pack its results anew")
    try:
        result = read_result(path)
    except WrongKind:
        with suppress(WrongKind):
            return [_Stored(path, *pair) for pair in read_summaries(path)]
        return []
    settings = result.settings
    header = ExperimentHeader(settings["name"], result.experiment_hash, settings)
    return [_Stored(path, header, summarise(result), result)]


class _Trainer:
    """Makes each experiment once, and trains each agent once per prior and task."""

    def __init__(self, classes: Sequence[str]) -> None:
        self._classes = classes
        self._experiments: dict[str, Experiment] = {}
        self._trained: dict[tuple[Any, ...], tuple[Agent, Training]] = {}

    def train(self, stored: _Stored) -> tuple[Agent, Experiment, Training]:
        """The trained agent of a result, its experiment, and the time of training."""
        summary, header = stored.summary, stored.header
        if summary.deadline is not None:
            raise InvalidInput("the clock decided when it stopped, so it can't be played again")
        agent = self._make(summary)
        if header.hash not in self._experiments:
            self._experiments[header.hash] = _experiment(header)
        experiment = self._experiments[header.hash]
        task = (experiment.prior, experiment.task, experiment.seed)
        key = (experiment.prior.digest, *task[1:], identity(agent))
        if key not in self._trained:
            self._trained[key] = (agent, train(agent, *task).training)
        agent, training = self._trained[key]
        return agent, experiment, training

    def _make(self, summary: Summary) -> Agent:
        """The agent, untrained; nothing is imported that only the file names."""
        kinds = [summary.algorithm] if summary.algorithm in AGENTS else self._classes
        for kind in kinds:
            with suppress(InvalidInput):  # it takes other parameters
                agent = make_agent(kind, **summary.parameters)
                if describe(agent)[0] == summary.algorithm:
                    return agent
        raise InvalidInput("it is not built in: name its class with --agent to run its code")


def _experiment(header: ExperimentHeader) -> Experiment:
    """The experiment of a header, made again.

    Its hash may be another one: machines draw MDPs with different last bits, with the same returns.
    """
    settings = header.settings
    if settings.get("origin") in HASHES:
        experiment = frozen_set(str(settings["origin"]), settings["num_mdps"])
    else:
        arguments = arguments_in(settings)
        experiment = Experiment(settings["prior"], settings["test"], **arguments)
    now = experiment.settings()
    for key in ("prior_digest", "test_digest"):
        if now[key] != settings[key]:
            raise InvalidInput(f"{settings['name']} is another problem now")
    return experiment


def _play(stored: _Stored, turn: int) -> None:
    """Play some MDPs, and check that their returns are those that are stored."""
    if stored.trained is None:
        return
    agent, experiment, _ = stored.trained
    returns, per_mdp = stored.summary.returns, experiment.trajectories_per_mdp
    first = turn * MDPS_PER_TURN % len(returns)
    part = Part(first * per_mdp, min(first + MDPS_PER_TURN, len(returns)) * per_mdp)
    played = play_part(
        agent, experiment, part, keep_decisions=True, keep_paths=False,
        seconds=_SECONDS_PER_TURN, measures_memory=False,
    )  # fmt: skip
    again = np.concatenate([rows.columns["return"] for rows in played.rows])
    mdps = len(again) // per_mdp
    expected, found = returns[first : first + mdps], again[: mdps * per_mdp].reshape(mdps, per_mdp)
    if not np.allclose(found.mean(axis=1), expected, rtol=_TOLERANCE, atol=_TOLERANCE):
        stored.trained = None
        raise AgentError("its returns are others now, so its times stay")
    stored.played.append(played)


def _write(path: Path, group: Sequence[_Stored], made_on: dict[str, Any]) -> None:
    """Write the new times, atomically; a file with nothing new stays as it is."""
    if all(each.omission for each in group):
        return
    for each in group:
        if not each.omission:
            _replace_times(each, made_on)
    if group[0].result is not None:
        write_result(path, group[0].result, keep_paths=True, overwrite=True)
        return
    experiments: dict[str, tuple[ExperimentHeader, list[Summary]]] = {}
    for each in group:
        experiments.setdefault(each.header.hash, (each.header, []))[1].append(each.summary)
    write_summaries(path, list(experiments.values()), overwrite=True)


def _replace_times(stored: _Stored, made_on: dict[str, Any]) -> None:
    assert stored.trained is not None
    agent, experiment, training = stored.trained
    parts = [make_part(agent, experiment, training, each, made_on) for each in stored.played]
    timed = join(parts)
    times = {name: number for name, number in timed.measured.items() if name in _TIMES}
    if stored.result is not None:  # its single decisions were timed before
        columns = {
            name: column
            for name, column in stored.result.columns.items()
            if name not in ("nanoseconds", "cpu_nanoseconds")
        }
        measured = stored.result.measured | times
        stored.result = replace(stored.result, columns=columns, measured=measured, machine=made_on)
    now = summarise(timed)
    new = {name: now.quantities[name] for name in _TIMES & SUMMARISED.keys()}
    quantities = {**stored.summary.quantities, **new}
    stored.summary = replace(
        stored.summary, seconds=now.seconds, quantities=quantities, machine=made_on
    )
