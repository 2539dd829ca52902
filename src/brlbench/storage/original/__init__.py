"""Imports experiments and results of the original C++ library, BBRL.

An experiment becomes one that agents of this package can play; a result stands beside theirs in
reports. Returns are as they were. What the library does not store stays unknown: the time of single
decisions, processor time, the machine.
"""

import hashlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ...errors import InvalidInput, StoreError, encodable
from ...files import PARSED_BYTES, check_free, expanded, read_bytes
from ...mdps.dirichlet import FlatDirichlet
from ...protocol.experiment import Experiment
from ...protocol.result import Result
from ...protocol.summary import ORIGINAL
from ...protocol.totals import Totals, discounted
from ..experiments import write_experiment
from ..results import write_result
from .agents import OriginalAgent, parse_agent
from .lines import Lines
from .runs import Played, Run, experiment_of, parse_run

_SUFFIXES = (".zz", ".z", ".dat")


class Source(NamedTuple):
    """A file of the original library."""

    path: Path
    kind: str  # the class that its third line names
    lines: Lines
    digest: str  # SHA-256 of the file

    @property
    def stem(self) -> str:
        """The file's name without its suffixes."""
        name = self.path.name
        for suffix in _SUFFIXES:
            name = name.removesuffix(suffix)
        return name

    def provenance(self, key: str) -> dict[str, str]:
        """Where something came from, for metadata."""
        return {f"{key}file": encodable(self.path.name), f"{key}sha256": self.digest}


def import_files(
    paths: Sequence[Path],
    prior: FlatDirichlet,
    test: FlatDirichlet,
    output: Path,
    mdps_only: bool = False,
    overwrite: bool = False,
) -> list[tuple[Path, Experiment | Result]]:
    """Import experiments and results; return what was written, and where.

    Args:
        paths: experiments, results, and the files of the agents whose results they are.
        prior: what agents were trained on.
        test: what the MDPs were drawn from.
        output: a file if there is one experiment or result, else a folder.
        mdps_only: whether results are imported as experiments, to be played again.
        overwrite: whether files may be replaced.
    """
    kinds = {path: open_source(path).kind for path in paths}
    runs = [path for path in paths if kinds[path] == "IExperiment"]
    agents = {path: read_agent_file(path) for path in paths if kinds[path] == "IAgent"}
    targets = _targets(runs, output)
    for target in targets:
        check_free(target, overwrite)
    written: list[tuple[Path, Experiment | Result]] = []
    for path, target in zip(runs, targets, strict=True):
        source = open_source(path)
        run = _parsed(source)
        experiment = experiment_of(run, prior, test, str(path), _origin(run, source))
        if run.played is None or mdps_only:
            write_experiment(target, experiment, overwrite)
            written.append((target, experiment))
        else:
            result = result_of(run.played, experiment, source, *_player(source, agents))
            write_result(target, result, keep_paths=True, overwrite=overwrite)
            written.append((target, result))
    return written


def open_source(path: Path) -> Source:
    """Open a file, and find out what it holds."""
    data = read_bytes(path, PARSED_BYTES)
    lines = expanded(data, path).split(b"\n")
    first, kind = (b"".join(lines[i : i + 1]).strip().decode(errors="replace") for i in (0, 2))
    if first == "Serializable" and kind == "IMDPDistribution":
        raise InvalidInput(
            f"{path} is a distribution, which needs no import: give it with --prior or --test"
        )
    if first != "Serializable" or kind not in ("IExperiment", "IAgent"):
        raise StoreError(
            f"{path} is damaged, or not a file of the original library: must be an experiment, a "
            "result or an agent"
        )
    return Source(path, kind, Lines(lines, str(path)), hashlib.sha256(data).hexdigest())


def read_agent_file(path: Path) -> OriginalAgent:
    """Read an agent's file."""
    source = open_source(path)
    try:
        agent = parse_agent(source.lines)
    except RecursionError:
        raise StoreError(f"{path} is damaged: its agents are nested too deeply") from None
    if agent.algorithm != f"{ORIGINAL}opps-ds":
        return agent
    # Which set of formulas was searched shows in the file's name at most.
    return agent._replace(parameters={**agent.parameters, "file": encodable(source.stem)})


def result_of(
    played: Played,
    experiment: Experiment,
    source: Source,
    agent_path: Path,
    agent: OriginalAgent,
) -> Result:
    """The result of an agent; of its times, only what one time for the whole run tells."""
    returns = discounted(played.rewards, experiment.discount)
    per_trajectory = played.seconds / returns.size
    online = {"mean": per_trajectory / experiment.horizon, "total": per_trajectory}
    return Result(
        algorithm=agent.algorithm,
        parameters=agent.parameters,
        settings=experiment.settings(),
        experiment_hash=experiment.hash,
        offline_seconds=agent.seconds,
        offline_cpu_seconds=None,
        cpu_nanoseconds=None,
        rewards=played.rewards,
        nanoseconds=None,
        states=played.states,
        actions=played.actions,
        machine={
            "processor": "unknown, as BBRL does not store it",
            **source.provenance(""),
            **open_source(agent_path).provenance("agent_"),
            "agent_name": agent.name,
        },
        totals=Totals(returns, online, None),
        experiment=experiment,
    )


def _parsed(source: Source) -> Run:
    return parse_run(source.lines, str(source.path))


def _origin(run: Run, source: Source) -> str:
    return f"{ORIGINAL} {run.name} ({encodable(source.path.name)}, sha256 {source.digest})"


def _targets(runs: Sequence[Path], output: Path) -> list[Path]:
    """The file to write for each run; in a folder, named like the run's, if there are several."""
    if not runs:
        raise InvalidInput("there is no experiment or result among the files: give at least one")
    if len(runs) == 1:
        return [output]
    try:
        output.mkdir(exist_ok=True)
    except OSError as error:
        raise StoreError(f"{output} can't be made a folder: {error.strerror}") from None
    names = [f"{open_source(path).stem}.parquet" for path in runs]
    [(name, times)] = Counter(names).most_common(1)
    if times > 1:
        raise InvalidInput(f"{times} of the files would become {name}: import them one by one")
    return [output / name for name in names]


def _player(source: Source, agents: dict[Path, OriginalAgent]) -> tuple[Path, OriginalAgent]:
    """The agent of a result: the only one, or the one whose file's name ends the result's."""
    fitting = [path for path in agents if source.stem.endswith(open_source(path).stem)]
    if len(agents) == 1:
        fitting = list(agents)
    if not agents:
        raise InvalidInput(
            f"{source.path} does not say who played it: give the agent's file too, or take its "
            "MDPs alone with --mdps-only"
        )
    if not fitting:
        raise InvalidInput(
            f"no agent's file has a name that {source.stem} ends in: rename it, or import one "
            "result with its agent"
        )
    path = max(fitting, key=lambda each: len(each.name))
    return path, agents[path]
