"""Imports experiments, agents and results of the original C++ library, BBRL.

An experiment becomes one that agents of this package can play; a result stands beside theirs in
reports. Returns are as they were. The library stores neither the time of single decisions nor
processor time nor the machine.
"""

import hashlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ...beliefs.flat import FlatDirichlet
from ...errors import InvalidInput, StoreError, encodable
from ...files import PARSED_BYTES, check_free, expanded, make_folder, read_bytes
from ...protocol.experiment import Experiment
from ...protocol.recording import discounted
from ...results.files import write_result
from ...results.result import Result
from ...results.summary import ORIGINAL
from ..experiments import write_experiment
from .agents import OriginalAgent, parse_agent
from .lines import Lines
from .runs import Record, experiment_of, parse_run


class Source(NamedTuple):
    """A file of the original library."""

    path: Path
    kind: str  # the class that its third line names
    lines: Lines
    digest: str  # SHA-256 of the file

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
    """Import experiments and results; returns the path and the content of each file written.

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
        run = parse_run(source.lines)
        origin = f"{ORIGINAL} {run.name} ({encodable(path.name)}, sha256 {source.digest})"
        experiment = experiment_of(run, prior, test, str(path), origin)
        if run.record is None or mdps_only:
            write_experiment(target, experiment, overwrite)
            written.append((target, experiment))
        else:
            result = result_of(run.record, experiment, source, _player(path, agents))
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
    if agent.algorithm == f"{ORIGINAL}opps-ds":
        # Which set of formulas was searched shows in the file's name at most.
        agent.parameters["file"] = encodable(_stem(path))
    return agent._replace(provenance=source.provenance("agent_"))


def result_of(
    record: Record, experiment: Experiment, source: Source, agent: OriginalAgent
) -> Result:
    """The result of an agent; of its times, only what one time for the whole run tells."""
    rows = {
        name: array.reshape(-1, array.shape[-1])
        for name, array in record._asdict().items()
        if isinstance(array, np.ndarray)
    }
    mdps, trajectories = np.divmod(
        np.arange(experiment.num_trajectories), experiment.trajectories_per_mdp
    )
    per_trajectory = record.seconds / experiment.num_trajectories
    return Result(
        algorithm=agent.algorithm,
        parameters=agent.parameters,
        settings=experiment.settings(),
        experiment_hash=experiment.hash,
        machine={
            "processor": "unknown, as BBRL does not store it",
            **source.provenance(""),
            **(agent.provenance or {}),
            "agent_name": agent.name,
        },
        measured={
            "offline_seconds": agent.seconds,
            "mean_seconds": per_trajectory / experiment.horizon,
            "total_seconds": per_trajectory,
        },
        columns={
            "mdp": mdps,
            "trajectory": trajectories,
            "return": discounted(rows["rewards"], experiment.discount),
            **rows,
        },
    )


def _stem(path: Path) -> str:
    """A file's name without its suffixes."""
    return path.name.removesuffix(".zz").removesuffix(".z").removesuffix(".dat")


def _targets(runs: Sequence[Path], output: Path) -> list[Path]:
    """The file to write for each run; in a folder, named like the run's, if there are several."""
    if not runs:
        raise InvalidInput("there is no experiment or result among the files: give at least one")
    if len(runs) == 1:
        return [output]
    make_folder(output)
    names = [f"{_stem(path)}.parquet" for path in runs]
    [(name, times)] = Counter(names).most_common(1)
    if times > 1:
        raise InvalidInput(f"{times} of the files would become {name}: import them one by one")
    return [output / name for name in names]


def _player(result: Path, agents: dict[Path, OriginalAgent]) -> OriginalAgent:
    """The agent of a result: the only one, or the one whose file's name ends the result's."""
    if len(agents) == 1:
        return next(iter(agents.values()))
    fitting = [path for path in agents if _stem(result).endswith(_stem(path))]
    if not agents:
        raise InvalidInput(
            f"{result} does not say who played it: give the agent's file too, or take its "
            "MDPs alone with --mdps-only"
        )
    if not fitting:
        raise InvalidInput(
            f"no agent's file has a name that {_stem(result)} ends in: rename it, or import one "
            "result with its agent"
        )
    return agents[max(fitting, key=lambda path: len(path.name))]
