"""How often halving would be wrong, and what it saves, on results that were played in full.

    python -m benchmarks.halving reproduction/results.parquet

Algorithms with many agents that don't learn offline count as expensive, whatever their time: few
results of slow agents with many parameter values are stored. MDPs are drawn again with replacement,
and the study is repeated on them: once with all agents moved to the same mean, where every
exclusion is false, and once as they are, where the best algorithm should win.
Each expensive algorithm is also raised until its best agent is as good as any. The answer is that
of `brlbench compare`.
"""

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from brlbench.agents.base import learns_offline
from brlbench.agents.registry import AGENTS
from brlbench.analysis.bounds import LEVEL, Comparison
from brlbench.analysis.halving import Level, run_halving
from brlbench.analysis.significance import holm, student_p_values
from brlbench.mdps.sparse import Floats
from brlbench.report.loading import load
from brlbench.results.result import Stopped
from brlbench.results.summary import Summary

LEAST_AGENTS = 10  # of an algorithm that counts as expensive
# The parameters that set the time, and whether it grows with them.
LEVELS = {"sboss": ("epsilon", False), "opps-ds": ("draws", True), "bfs3": ("simulations", True)}
LADDER = 4  # levels of an algorithm that play in full; the ladder begins above


def expensive_in(summaries: Sequence[Summary]) -> list[str]:
    """The algorithms with many agents that don't learn offline."""
    numbers = Counter(each.algorithm for each in summaries if not is_offline(each))
    return [name for name, number in numbers.items() if number >= LEAST_AGENTS]


def is_offline(summary: Summary) -> bool:
    """Whether an agent learns offline."""
    return learns_offline(AGENTS[summary.algorithm]())


def levels_of(summaries: Sequence[Summary], expensive: Sequence[str]) -> list[Level]:
    """The levels of expensive algorithms."""
    levels: list[Level] = []
    algorithms = [each.algorithm for each in summaries]
    for name in expensive:
        own = [i for i, each in enumerate(algorithms) if each == name]
        parameter, grows = LEVELS.get(name, ("", True))
        value_of = {i: summaries[i].parameters.get(parameter, 0) for i in own}
        below = None
        for rank, value in enumerate(sorted(set(value_of.values()), reverse=not grows)):
            agents = [i for i in own if value_of[i] == value]
            rest = [{**summaries[i].parameters, parameter: None} for i in agents]
            settings = [json.dumps(each, sort_keys=True) for each in rest]
            levels.append(Level(agents, settings, below, on_ladder=rank >= LADDER))
            below = len(levels) - 1
    return levels


def halved(summaries: Sequence[Summary], returns: Floats, levels: list[Level]) -> list[Summary]:
    """What is left of agents with these returns after halving; those never played are absent."""
    expensive = {agent for level in levels for agent in level.agents}
    cheap = [i for i, each in enumerate(summaries) if i not in expensive and not is_offline(each)]
    played, halving = run_halving(returns, levels, cheap)
    stopped = {i: Stopped(drop.rule, "") for i, drop in halving.dropped.items()}
    return [
        replace(summaries[i], returns=returns[i, :number], adjusted=None, stopped=stopped.get(i))
        for i, number in enumerate(played.tolist())
        if number > 0
    ]


def in_full(summaries: Sequence[Summary], returns: Floats) -> list[Summary]:
    """Agents with these returns that all played all MDPs."""
    return [
        replace(summary, returns=row, adjusted=None)
        for summary, row in zip(summaries, returns, strict=True)
    ]


class Once(NamedTuple):
    """The answer of one study."""

    winners: set[str]
    is_alarm: bool  # whether any algorithm is excluded after Holm's correction


def answer(summaries: Sequence[Summary]) -> Once:
    """The winning algorithms without bounds on time."""
    comparison = Comparison(summaries)
    best = comparison.within()
    assert best is not None
    lead, *others = best.best_of_algorithm
    p_values = holm(student_p_values(*comparison.z_against(lead, others)))
    names = {summaries[i].algorithm for i in best.winners}
    return Once(names, bool((p_values < 1 - LEVEL).any()))


class Shares(NamedTuple):
    """The errors of studies and what they play, as shares."""

    excluded: dict[str, float]  # by algorithm, if all are equal
    alarms: float  # any algorithm excluded after Holm's correction, if all are equal
    best_excluded: float  # the algorithm of the best agent is excluded, as they are
    raised_excluded: dict[str, float]  # by expensive algorithm, if its best agent is as good as any
    played: float  # MDPs that expensive agents play, as they are


def simulate(
    summaries: Sequence[Summary], resamples: int, halves: bool, names: Sequence[str] | None = None
) -> Shares:
    """Repeat a study on MDPs drawn again, with halving or in full.

    The names are those of expensive algorithms.
    """
    rng = np.random.default_rng(0)
    names = names or expensive_in(summaries)
    levels = levels_of(summaries, names)
    returns = np.array([each.scored_returns for each in summaries])
    truth = returns.mean(axis=1)
    algorithms = [each.algorithm for each in summaries]
    best = algorithms[int(truth.argmax())]
    expensive = {agent for level in levels for agent in level.agents}
    excluded, raised = dict.fromkeys(algorithms, 0.0), dict.fromkeys(names, 0.0)
    alarms, best_excluded, played = 0, 0, 0.0

    def study(rows: Floats) -> list[Summary]:
        return halved(summaries, rows, levels) if halves else in_full(summaries, rows)

    for _ in range(resamples):
        drawn = rng.integers(0, returns.shape[1], returns.shape[1])
        equal = answer(study((returns - truth[:, None])[:, drawn]))
        for name in excluded:
            excluded[name] += (name not in equal.winners) / resamples
        alarms += equal.is_alarm
        for name in raised:
            own = np.array([each == name for each in algorithms])
            higher = returns + np.where(own, truth.max() - truth[own].max(), 0.0)[:, None]
            raised[name] += (name not in answer(study(higher[:, drawn])).winners) / resamples
        left = study(returns[:, drawn])
        best_excluded += best not in answer(left).winners
        played += sum(len(each.returns) for each in left if each.algorithm in names)
    total = len(expensive) * returns.shape[1] * resamples
    return Shares(excluded, alarms / resamples, best_excluded / resamples, raised, played / total)


def extent(shares: dict[str, float]) -> str:
    """The least and the greatest of some shares."""
    return f"{100 * min(shares.values()):.1f} to {100 * max(shares.values()):.1f}%"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a table: each experiment with halving, and in full."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=Path)
    parser.add_argument("--resamples", type=int, default=1000)
    parser.add_argument("--expensive", nargs="*", help="the algorithms that count as expensive")
    options = parser.parse_args(arguments)
    columns = "expensive played | equal excluded | any, Holm | best excluded | raised excluded"
    print(f"| experiment | study | {columns} |\n|---|---|---:|---:|---:|---:|---:|")
    for experiment in load(options.results).experiments:
        summaries = experiment.competitors
        for name, halves in (("halving", True), ("in full", False)):
            shares = simulate(summaries, options.resamples, halves, options.expensive)
            cells = [
                experiment.name,
                name,
                f"{100 * shares.played:.1f}%",
                extent(shares.excluded),
                f"{100 * shares.alarms:.1f}%",
                f"{100 * shares.best_excluded:.1f}%",
                extent(shares.raised_excluded),
            ]
            print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
