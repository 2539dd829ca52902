"""Plots of results: results, files or folders in, matplotlib figures out.

Notebooks show the figures; `figure.savefig("name.pdf")` writes one.
"""

import os
from collections.abc import Iterable
from pathlib import Path

from matplotlib.figure import Figure

from ..analysis.bayes_bound.known import SUFFIX, known_bound, read_bound
from ..analysis.scores import check_same_experiment
from ..errors import InvalidInput, did_you_mean, short
from ..results.result import Result
from ..results.summary import Summary
from ..storage import read_result
from .answers import Answer
from .compare import Given, compare, gather
from .figures import score_against_time
from .learning import learning_curves
from .map import best_algorithms_map
from .misspecification import misspecification
from .spread import differences, distributions, pair


def plot_scores(results: Given | Iterable[Given] | Answer, feature: str | None = None) -> Figure:
    """Scores with 95% intervals against a time; winners are filled, and named like the rest.

    Args:
        results: results, files and folders with them, or what `compare` returned.
        feature: the time: mean, median, p95, max or total of decisions, or offline.
    """
    answer = _answer(results)
    return score_against_time(answer, feature or answer.question.feature)


def plot_map(results: Given | Iterable[Given] | Answer) -> Figure:
    """The algorithms that win, for every pair of bounds on online and offline time.

    Args:
        results: results, files and folders with them, or what `compare` returned.
    """
    return best_algorithms_map(_answer(results))


def plot_learning(results: Given | Iterable[Given]) -> Figure:
    """Learning curves: the discounted reward so far, and the regret, with 95% bands.

    The regret is how much less an agent has than `optimal` on the same MDPs. It is shown if a
    result of `optimal` is given. Where a bound is known, it is the line that no agent can pass.

    Args:
        results: results or their files, all of one experiment, with every decision; and files with
            bounds.
    """
    listed = [results] if isinstance(results, Result | str | os.PathLike) else results
    sources = [each if isinstance(each, Result) else Path(each) for each in listed]
    read = [
        each if isinstance(each, Result) else read_result(each)
        for each in sources
        if isinstance(each, Result) or not each.name.endswith(SUFFIX)
    ]
    if not read:
        raise InvalidInput("results = []: give at least one")
    check_same_experiment(read)
    bounds = [
        read_bound(each)
        for each in sources
        if isinstance(each, Path) and each.name.endswith(SUFFIX)
    ]
    bound = known_bound(read[0].settings, bounds)
    return learning_curves(read, None if bound is None else bound.upper)


def plot_differences(
    results: Given | Iterable[Given] | Answer, against: str | None = None
) -> Figure:
    """The returns of agents minus those of one agent, on the same MDPs.

    Args:
        results: results, files and folders with them, or what `compare` returned.
        against: the label of the agent to compare with; by default the one with the best score.
    """
    summaries = _answer(results).experiment.competitors
    labels = [summary.label for summary in summaries]
    if against is not None and against not in labels:
        raise InvalidInput(
            f"against = {short(against)}{did_you_mean(against, labels)}: must be one of "
            f"{', '.join(labels)}"
        )
    return differences(_best_first(summaries), against)


def plot_pair(first: Result, second: Result) -> Figure:
    """The returns of two agents on the same MDPs, and the intervals of their difference."""
    check_same_experiment([first, second])
    return pair(first, second)


def plot_returns(results: Given | Iterable[Given] | Answer) -> Figure:
    """The distribution of every agent's returns, the best agent first.

    Args:
        results: results, files and folders with them, or what `compare` returned.
    """
    experiment = _answer(results).experiment
    return distributions(_best_first(experiment.summaries), experiment.upper_bound)


def plot_misspecification(
    results: Given | Iterable[Given], algorithms: Iterable[str] | None = None
) -> Figure:
    """Scores with 95% bands against how wrong the prior is, one line per algorithm.

    The results are of experiments on the same MDPs with changed priors, such as `GC`,
    `mixed:0.1:GC` and `uniform:GC`, or `scaled:0.1:GC`, `GC` and `scaled:10:GC`. An algorithm's
    line is its agent with the best score at the accurate prior, the same one at all priors.

    Args:
        results: results, files and folders with them.
        algorithms: those to show; all by default.
    """
    return misspecification(gather(results).experiments, algorithms)


def _answer(results: Given | Iterable[Given] | Answer) -> Answer:
    return results if isinstance(results, Answer) else compare(results)


def _best_first(summaries: Iterable[Summary]) -> list[Summary]:
    return sorted(summaries, key=lambda summary: -summary.score.mean)
