"""Microseconds a decision for each agent in each experiment, and the ratio to the original library.

    python benchmarks/agents.py [--agents bamcp,bfs3] [--seconds 2] [--json FILE]

`original.csv` has what the original C++ library takes, single-threaded, on a machine where the
calibration (one plain value iteration, `brlbench.kernels.calibration`) took 80 microseconds. In
units of the calibration, timings of two machines can be compared:

    ratio = (original / 80) * calibration here / microseconds here

Both numbers of this machine are the best of several rounds in one run, one after the other. The
original's own spread is about 30%; so are ratios on a machine that does other things.
"""

import argparse
import csv
import json
import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

import brlbench as bb
from brlbench.agents.parameters import parse_parameters
from brlbench.execution import train
from brlbench.machine import describe, measure_calibration
from brlbench.playing import play

ORIGINAL_CALIBRATION = 80.0
ROUNDS = 5
HORIZON = 250


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--agents", help="only these, separated by commas")
    parser.add_argument("--seconds", type=float, default=2.0, help="about how long each may take")
    parser.add_argument("--json", type=Path, help="write the figures to this file too")
    options = parser.parse_args()
    wanted = options.agents.split(",") if options.agents else None
    table = Table("agent", "parameters", "prior", "µs a decision", "calibration µs", "ratio")
    figures = []
    for row in rows():
        if wanted is None or row["agent"] in wanted:
            figure = measured(row, options.seconds)
            figures.append(figure)
            table.add_row(
                figure["agent"], figure["parameters"], figure["prior"],
                f"{figure['microseconds']:.3g}", f"{figure['calibration']:.0f}",
                f"{figure['ratio']:.0f}" if figure["ratio"] else "",
            )  # fmt: skip
            Console(stderr=True).print(figure)
    Console(width=120).print(table)
    if options.json:
        content = {"machine": describe(), "figures": figures}
        options.json.write_text(json.dumps(content, indent=1))


def rows() -> list[dict[str, str]]:
    """The original's timings, and the agents that it does not have."""
    with (Path(__file__).parent / "original.csv").open() as file:
        original = list(csv.DictReader(file))
    priors = list(dict.fromkeys((row["prior"], row["test"]) for row in original))
    timed = {row["agent"] for row in original}
    others = [
        {"prior": prior, "test": test, "agent": name, "parameters": "", "microseconds": ""}
        for name in bb.AGENTS
        if name not in timed and not name.startswith("opps")  # these play as `formula`
        for prior, test in priors
    ]
    return original + others


def measured(row: dict[str, str], seconds: float) -> dict[str, Any]:
    """Time one agent in one experiment, single-threaded."""
    assignments = filter(None, row["parameters"].split(";"))
    agent = bb.make_agent(row["agent"], **parse_parameters(assignments))
    experiment = bb.Experiment(row["prior"], row["test"], num_mdps=1000, horizon=HORIZON)
    train(agent, experiment.prior, experiment.task, seed=0)
    started = time.perf_counter()
    play(agent, experiment, 0, 1)
    each = time.perf_counter() - started
    count = int(max(1, min(experiment.num_mdps // ROUNDS, seconds / ROUNDS / each)))
    calibration = measure_calibration(repeats=100, rounds=5)
    microseconds = min(
        float(play(agent, experiment, i * count, (i + 1) * count).nanoseconds.mean()) / 1e3
        for i in range(ROUNDS)
    )
    calibration = min(calibration, measure_calibration(repeats=100, rounds=5))
    original = float(row["microseconds"]) if row["microseconds"] else None
    return {
        "agent": row["agent"],
        "parameters": row["parameters"],
        "prior": row["prior"],
        "microseconds": microseconds,
        "calibration": calibration,
        "ratio": original and original / ORIGINAL_CALIBRATION * calibration / microseconds,
    }


if __name__ == "__main__":
    main()
