"""What a race would have saved in results that were played in full, and whether answers stay.

    python -m benchmarks.racing reproduction/results.parquet

For each experiment, the agents race on the stored returns, in classes of powers of ten. The table
says which share of the MDPs they play, by algorithm, and within how many of the classes' bounds the
winning algorithms are those of the full results. With `--resamples 20`, MDPs are drawn again with
replacement so often; shares are then means.
"""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np

from brlbench.analysis.bounds import Comparison
from brlbench.analysis.racing import ERROR, OFFLINE_BOUNDS, ONLINE_BOUNDS, classes_within, run_race
from brlbench.mdps.sparse import Integers
from brlbench.report.loading import load
from brlbench.results.adjusted import Adjusted
from brlbench.results.result import Stopped
from brlbench.results.summary import RACE, Summary


def classes_of(summaries: Sequence[Summary]) -> Integers:
    """The class [n, 2] of each agent."""
    return classes_within(
        [each.seconds["offline"] for each in summaries],
        [each.seconds["processor"] for each in summaries],
    )


def drawn(summary: Summary, mdps: Integers) -> Summary:
    """An agent on some of its MDPs."""
    returns = summary.scored_returns[mdps]
    return replace(summary, returns=returns, adjusted=Adjusted(returns, 0.0))


def raced(summaries: Sequence[Summary], error: float) -> list[Summary]:
    """What is left of agents that played all MDPs if they race."""
    returns = np.array([summary.scored_returns for summary in summaries])
    played = run_race(returns, classes_of(summaries), error)
    why = Stopped(RACE, "dropped")
    return [
        replace(each.first(number), stopped=why if number < len(each.returns) else None)
        for each, number in zip(summaries, played.tolist(), strict=True)
    ]


def winners(summaries: Sequence[Summary]) -> dict[tuple[float, float], list[str]]:
    """The winning algorithms within the bounds of every class."""
    comparison, found = Comparison(summaries), {}
    for bounds in product(OFFLINE_BOUNDS, ONLINE_BOUNDS):
        best = comparison.within(*bounds)
        names = best.winners if best else []
        found[bounds] = sorted(comparison.summaries[i].algorithm for i in names)
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=Path)
    parser.add_argument("--algorithms", nargs="*", help="only these")
    parser.add_argument("--resamples", type=int, default=0)
    given = parser.parse_args(arguments)
    rng = np.random.default_rng(0)
    experiments = load(given.results).experiments
    print("| experiment | same winners | share of MDPs played, by algorithm |\n|---|---:|---|")
    for experiment in experiments:
        full = [
            each
            for each in experiment.competitors
            if not given.algorithms or each.algorithm in given.algorithms
        ]
        number = experiment.num_mdps
        draws = [rng.integers(0, number, number) for _ in range(given.resamples)]
        same, total, shares = 0, 0, []
        for mdps in draws or [np.arange(number)]:
            chosen = [drawn(each, mdps) for each in full]
            left = raced(chosen, ERROR / 3)  # the paper's studies have three experiments each
            before, after = winners(chosen), winners(left)
            same += sum(before[bounds] == after[bounds] for bounds in before)
            total += len(before)
            shares.append([len(each.returns) / number for each in left])
        by_algorithm: dict[str, list[float]] = {}
        for each, share in zip(full, np.mean(shares, axis=0).tolist(), strict=True):
            by_algorithm.setdefault(each.algorithm, []).append(share)
        told = [f"{name} {100 * np.mean(of):.0f}%" for name, of in by_algorithm.items()]
        print(f"| {experiment.name} | {same} of {total} | {', '.join(told)} |", flush=True)


if __name__ == "__main__":
    main()
