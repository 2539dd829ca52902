"""Every row of the paper's two tables beside ours, with the difference in standard errors.

    python benchmarks/published.py [--agents bamcp,bfs3] [--mdps 500] [--seconds 300] [--workers 2]

An interval in the tables is two standard errors. Their rows are the best of a grid of parameters
on the same 500 MDPs, and so biased upwards. `opps-ds` is played by its printed formula. Known
not to be what they claim: the rows of soft-max (an implementation without normalisation, which
always takes the first action) and of sboss (see `brlbench.agents.sboss`).
"""

import argparse
import csv
import math
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

import brlbench as bb
from brlbench.assignments import parse_parameters


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--agents", help="only these, separated by commas")
    parser.add_argument("--mdps", type=int, default=500)
    parser.add_argument("--seconds", type=float, default=300, help="fewer MDPs for slower rows")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    wanted = options.agents.split(",") if options.agents else None
    table = Table("row", "prior", "parameters", "MDPs", "ours", "paper", "z")
    with (Path(__file__).parent / "published.csv").open() as file:
        for row in csv.DictReader(file):
            if wanted is None or row["agent"] in wanted:
                cells = compared(row, options)
                table.add_row(*cells)
                print(*cells, sep="\t", flush=True)
    Console(width=120).print(table)


def compared(row: dict[str, str], options: argparse.Namespace) -> list[str]:
    """Play one row, with as many MDPs as there is time for."""
    assignments = parse_parameters(filter(None, row["parameters"].split(";")))
    agent = bb.make_agent(row["agent"], **assignments)
    few = bb.Experiment(row["prior"], row["test"], num_mdps=options.workers, seed=options.seed)
    bb.evaluate(agent, few, options.workers)
    started = time.perf_counter()
    bb.evaluate(agent, few, options.workers)
    each = (time.perf_counter() - started) / options.workers
    mdps = max(30, min(options.mdps, int(options.seconds / each)))
    experiment = bb.Experiment(row["prior"], row["test"], num_mdps=mdps, seed=options.seed)
    result = bb.evaluate(agent, experiment, options.workers)
    mean, ci95 = float(row["mean"]), float(row["ci95"])
    z = (result.mean - mean) / (math.hypot(ci95, result.ci95) / 2)
    return [
        row["row"], row["prior"], row["parameters"], str(mdps),
        f"{result.mean:.2f} ± {result.ci95:.2f}", f"{mean:g} ± {ci95:g}", f"{z:+.1f}",
    ]  # fmt: skip


if __name__ == "__main__":
    main()
