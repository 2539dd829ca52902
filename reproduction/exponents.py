"""How times grow with parameters, as exponents: time ~ parameter ^ exponent."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from brlbench.report.data import ExperimentData
from brlbench.results.summary import Summary


class Influence(NamedTuple):
    """What the paper says about a parameter's influence on a time, in its notation and in ours."""

    algorithm: str
    symbol: str
    parameter: str
    feature: str  # "offline", or "processor" for the time per decision
    claim: str


INFLUENCES = (
    Influence("epsilon-greedy", "ε", "epsilon", "processor", "inversely proportional"),
    Influence("opps-ds", "β", "draws", "offline", "proportional"),
    Influence("formula", "number of features", "formula", "processor", "proportional"),
    Influence("bamcp", "K", "simulations", "processor", "proportional"),
    Influence("bamcp", "depth", "depth", "processor", "proportional"),
    Influence("bfs3", "K", "simulations", "processor", "proportional"),
    Influence("bfs3", "C", "branching", "processor", "proportional"),
    Influence("bfs3", "depth", "depth", "processor", "proportional"),
    Influence("sboss", "ε", "epsilon", "processor", "inversely proportional"),
    Influence("sboss", "δ", "delta", "processor", "inversely proportional"),
    Influence("beb", "β", "beta", "processor", "constant"),
)


def exponent(summaries: Iterable[Summary], parameter: str, feature: str) -> float | None:
    """The slope of log time over log parameter, among agents with equal other parameters.

    None if no two agents differ in this parameter alone.
    """
    groups: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for summary in summaries:
        value = _number(summary.parameters[parameter])
        if value > 0:
            others = {name: v for name, v in summary.parameters.items() if name != parameter}
            point = (np.log(value), np.log(summary.seconds[feature]))
            groups[str(sorted(others.items()))].append(point)
    products = squares = 0.0
    for points in map(np.array, groups.values()):
        x, y = (points - points.mean(axis=0)).T
        products += float(x @ y)
        squares += float(x @ x)
    return products / squares if squares > 0 else None


def _number(value: Any) -> float:
    """A parameter's value; for a formula, how many Q-functions it uses."""
    return len(set(re.findall(r"Q\w+", value))) if isinstance(value, str) else float(value)


def exponents(experiments: Sequence[ExperimentData], influence: Influence) -> dict[str, float]:
    """The exponent by experiment, from the first results that determine it."""
    found: dict[str, float] = {}
    for experiment in experiments:
        summaries = [e for e in experiment.summaries if e.algorithm == influence.algorithm]
        slope = exponent(summaries, influence.parameter, influence.feature)
        if slope is not None:
            found.setdefault(experiment.name, slope)
    return found
