"""How much time features depend on what else the machine does.

    python -m benchmarks.busy [--mdps 40] [--loops 8]

All built-in agents, with quick parameters, play GC alone and beside processes that do nothing but
keep the cores busy. The table has each feature's ratio, busy to alone: the median over agents and
the ends of the middle 80%, then Kendall's correlation of both orders of agents.
"""

import argparse
from collections.abc import Sequence

import numpy as np
from scipy.stats import kendalltau

import brlbench as bb
from brlbench.protocol.experiment import Experiment
from brlbench.results.times import ONLINE_FEATURES

from .deadlines import busy_loops


def times_of(agents: Sequence[bb.Agent], experiment: Experiment) -> list[dict[str, float]]:
    """The online times of each agent."""
    return [bb.evaluate(agent, experiment).online_seconds for agent in agents]


def row(feature: str, alone: Sequence[float], busy: Sequence[float]) -> str:
    """A row of the table."""
    ratios = np.array(busy) / np.array(alone)
    low, middle, high = np.quantile(ratios, [0.1, 0.5, 0.9])
    order = kendalltau(alone, busy).statistic
    return f"| {feature} | {middle:.2f} | {low:.2f} to {high:.2f} | {order:.2f} |"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print a table in Markdown."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.busy", description=__doc__)
    parser.add_argument("--mdps", type=int, default=40)
    parser.add_argument("--loops", type=int, default=8)
    options = parser.parse_args(arguments)
    agents = [kind(**kind.quick) for kind in bb.AGENTS.values() if kind.example == "GC"]
    experiment = bb.Experiment("GC", num_mdps=options.mdps)
    times_of(agents, bb.Experiment("GC", num_mdps=1, horizon=2))  # compiles
    alone = times_of(agents, experiment)
    with busy_loops(options.loops):
        busy = times_of(agents, experiment)
    print("| feature | busy / alone | of 80% of agents | same order |\n|---|---:|---:|---:|")
    for feature in ONLINE_FEATURES:
        print(row(feature, *([each[feature] for each in times] for times in (alone, busy))))


if __name__ == "__main__":
    main()
