"""A small real study: the paper's six experiments with the agents that need no training."""

import os
from pathlib import Path
from typing import Any

import polars as pl
from rich.console import Console

from ..agents import make_agent
from ..errors import StoreError
from ..protocol.evaluate import evaluate
from ..protocol.experiment import Experiment
from ..protocol.result import Result
from ..report.figures import score_against_online_time
from ..report.loading import load
from ..report.page import write_page
from ..report.summary import summarise
from ..storage import read_result, write_result
from .tables import progress, score_table

PROBLEMS = ("GC", "GDL", "Grid")
AGENTS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("random", {}),
    ("epsilon-greedy", {"epsilon": 0.0}),
    ("epsilon-greedy", {"epsilon": 0.1}),
    ("epsilon-greedy", {"epsilon": 0.3}),
    ("soft-max", {"tau": 0.1}),
    ("soft-max", {"tau": 0.5}),
    ("vdbe", {"sigma": 0.1, "initial_epsilon": 0.5}),
    ("beb", {"beta": 0.5}),
    ("beb", {"beta": 2.5}),
    ("optimal", {}),
)


def run(folder: Path, num_mdps: int, seed: int, workers: int | None, console: Console) -> None:
    """Play what is not in the folder yet, then print the tables and write figure and page."""
    experiments = [
        Experiment(prior=prefix + problem, test=problem, num_mdps=num_mdps, seed=seed)
        for prefix in ("", "uniform:")
        for problem in PROBLEMS
    ]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"{folder} can't be made a folder: {error.strerror}") from None
    results = []
    with progress(console, len(experiments) * len(AGENTS) * num_mdps) as advance:
        for algorithm, parameters in AGENTS:
            for experiment in experiments:
                advance(description=f"{algorithm} on {experiment.name}")
                results.append(_played(folder, algorithm, parameters, experiment, workers))
                advance(num_mdps)
    summary = summarise(results)
    for part in summary.partition_by("experiment"):
        console.print(score_table(part))
    _report(folder, summary, console)


def _played(
    folder: Path,
    algorithm: str,
    parameters: dict[str, Any],
    experiment: Experiment,
    workers: int | None,
) -> Result:
    agent = make_agent(algorithm, **parameters)
    name = "-".join([algorithm, *(f"{key}={value}" for key, value in parameters.items())])
    path = folder / f"{name} {experiment.name} {experiment.hash[:8]}.parquet".replace(" ", "_")
    if path.exists():
        try:
            return read_result(path)
        except StoreError:
            path.unlink()
    result = evaluate(agent, experiment, workers)
    write_result(path, result)
    return result


def _report(folder: Path, summary: pl.DataFrame, console: Console) -> None:
    figure, page = folder / "score-against-online-time.png", folder / "report.html"
    score_against_online_time(summary).savefig(figure, dpi=150)
    write_page(load(folder), page, overwrite=True)
    console.print(f"Results: {folder}{os.sep}\nFigure:  {figure}\nReport:  {page}", markup=False)
