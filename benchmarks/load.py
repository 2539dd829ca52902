"""Large studies: processor time, wall time and peak memory of each command, on one core.

    python -m benchmarks.load FOLDER

runs a study of 10,000 tiny jobs in a folder, makes 5,000 results of usual size there (1 GB),
reports on these and on the shipped results, and plays 100,000 MDPs. What is in the folder already
is used again.
"""

import argparse
import dataclasses
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

import brlbench as bb
from brlbench.report.build import FORMATS
from brlbench.results.result import join
from brlbench.storage import write_result

_AGENTS = ("epsilon-greedy", "soft-max", "vdbe", "beb", "psrl")
_PRIORS = ("GC", "uniform:GC", "GDL", "uniform:GDL", "Grid")
_ROOT = Path(__file__).parents[1]
_REPRODUCTION = _ROOT / "reproduction/results.parquet"
_SHIPPED = (
    _REPRODUCTION,
    _ROOT / "reproduction/more-mdps.parquet",
    _ROOT / "leaderboard/results.parquet",
    _ROOT / "leaderboard/paper-sets.parquet",
)
_MANY_MDPS = """
import sys
import brlbench as bb
bb.evaluate(bb.make_agent("epsilon-greedy"), bb.Experiment("Grid", num_mdps=int(sys.argv[1])))
"""


class Usage(NamedTuple):
    """What a command took."""

    cpu_seconds: float
    wall_seconds: float
    peak_bytes: int  # of its largest process


def main(arguments: list[str] | None = None) -> None:
    """Measure all commands and print a table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.load", description=__doc__)
    parser.add_argument("folder", type=Path, help="where the study and the results are made")
    parser.add_argument("--quick", action="store_true", help="tiny sizes, to see that it works")
    parser.add_argument("--only", default="", help="commands whose names contain this")
    options = parser.parse_args(arguments)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
    table = Table("command", "CPU s", "wall s", "peak MB")
    for name, command in _commands(options.folder, 250 if options.quick else 1):
        if options.only not in name:
            continue
        used = usage(command)
        peak = f"{used.peak_bytes / 1e6:.0f}"
        table.add_row(name, f"{used.cpu_seconds:.1f}", f"{used.wall_seconds:.1f}", peak)
    Console(width=100).print(table)


def _commands(folder: Path, fraction: int) -> Iterator[tuple[str, list[str]]]:
    """The commands to measure, each with its name; sizes are divided by `fraction`."""
    brlbench = [sys.executable, "-m", "brlbench"]
    jobs, results, mdps = 10_000 // fraction, 5_000 // fraction, 100_000 // fraction
    study, out = folder / "study.toml", str(folder / "out")
    folder.mkdir(parents=True, exist_ok=True)
    study.write_text(study_text(jobs))
    run = [*brlbench, "run", str(study), "--results", out, "--workers", "1"]
    yield f"run {jobs} jobs, or what is left of them", run
    yield f"run {jobs} jobs, all done", run
    yield f"status of {jobs} jobs", [*brlbench, "status", out]
    made = folder / "made"
    if not made.exists():
        make_results(made, results, num_mdps=max(500 // fraction, 5))
    yield f"compare {results} results", [*brlbench, "compare", str(made)]
    report = [*brlbench, "report", str(made), "--output", str(folder / "report"), "--overwrite"]
    yield f"report {results} results as html", [*report, "--format", "html"]
    if fraction == 1:
        yield from _of_shipped_results(folder)
    yield f"evaluate on {mdps} MDPs", [sys.executable, "-c", _MANY_MDPS, str(mdps)]


def _of_shipped_results(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Reports on results that come with the source: compact files."""
    brlbench = [sys.executable, "-m", "brlbench"]
    output = ["--output", str(folder / "shipped"), "--overwrite"]
    yield "shipped: compare", [*brlbench, "compare", str(_REPRODUCTION)]
    for form in FORMATS:
        report = [*brlbench, "report", str(_REPRODUCTION), *output, "--format", form]
        yield f"shipped: report as {form}", report
    yield "shipped: leaderboard", [*brlbench, "leaderboard", *map(str, _SHIPPED), *output]


def usage(command: list[str]) -> Usage:
    """Run a command; return what it and its processes took."""
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, after = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} failed")
    cpu = after.ru_utime + after.ru_stime
    return Usage(cpu, time.perf_counter() - began, 1024 * after.ru_maxrss)


def study_text(jobs: int) -> str:
    """A study of many tiny jobs in four experiments."""
    lines = ["[defaults]", "num_mdps = 4", "horizon = 10"]
    for prior in _PRIORS[:4]:
        test = prior.removeprefix("uniform:")
        lines += ["[[experiments]]", f'test = "{test}"', f'prior = "{prior}"']
    epsilons = [round(i / jobs, 6) for i in range(jobs // 4)]
    lines += ["[[agents]]", 'algorithm = "epsilon-greedy"', f"parameters.epsilon = {epsilons}"]
    return "\n".join(lines) + "\n"


def make_results(folder: Path, number: int, num_mdps: int) -> None:
    """Results of a few played agents, written under other parameters with other times and rewards.

    There are ten experiments with 250 decisions per trajectory.
    """
    folder.mkdir()
    rng = np.random.default_rng(0)
    for seed in (0, 1):
        for prior in _PRIORS:
            experiment = bb.Experiment(prior, prior.removeprefix("uniform:"), num_mdps, seed=seed)
            each = number // 10
            played = [bb.evaluate(bb.make_agent(name), experiment) for name in _AGENTS[:each]]
            for i in range(each):
                result = played[i % len(played)]
                columns, training = result.columns, result.offline_seconds
                scale, slowness = rng.normal(1, 0.2), rng.lognormal()
                changed = {
                    "return": columns["return"] * scale,
                    "rewards": columns["rewards"] * scale,
                    "nanoseconds": (columns["nanoseconds"] * slowness).astype(np.int64),
                }
                offline = {"offline_seconds": training * float(rng.lognormal(sigma=2))}
                part = dataclasses.replace(
                    result,
                    parameters={**result.parameters, "variant": i},
                    measured={**result.measured, **offline},
                    columns={**columns, **changed},
                )
                made = join([part])
                name = f"{prior.replace(':', '-')}-{seed}-{i}.parquet"
                write_result(folder / name, made)


if __name__ == "__main__":
    main()
