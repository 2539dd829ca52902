"""Plots of results: results, files or folders in, matplotlib figures out.

Notebooks show the figures; `figure.savefig("name.pdf")` writes one.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..analysis.autopsy import Autopsy, autopsy
from ..analysis.bayes_bound.known import SUFFIX, known_bound, read_bound
from ..analysis.scores import check_same_experiment, paired_differences
from ..errors import InvalidInput, did_you_mean, short
from ..mdps.sparse import Floats
from ..results.learning import so_far, with_intervals
from ..results.result import Result
from ..results.score import Score, ci95
from ..results.summary import Summary
from ..storage import read_result
from .answers import Answer
from .compare import compare
from .data import REFERENCE
from .figures import (
    PLAIN,
    WIDTH,
    Picture,
    draw_line,
    drawing,
    legend_above,
    say_empty,
    score_against_time,
    wrapped,
    write_title,
)
from .loading import Sources, load, places_of
from .map import best_algorithms_map
from .misspecification import misspecification
from .styles import line_styles, point_styles
from .words import bound_sentence

_LINE = 34  # characters of a name per line
_JITTER = 0.6180339887498949  # multiples of the golden ratio fill an interval evenly
_ZERO: Any = {"color": "0.4", "linestyle": "--", "linewidth": 1}  # the line of no difference
_BOUND: Any = {"color": PLAIN, "linestyle": ":", "linewidth": 1}


def plot_scores(results: Sources | Answer, feature: str | None = None) -> Figure:
    """Scores with 95% intervals against a time; winners are filled, and named like the rest.

    Args:
        results: results, files and folders with them, or what `compare` returned.
        feature: the time: mean, median, p95, max or total of decisions, or offline.
    """
    answer = _answer(results)
    return score_against_time(answer, feature or answer.question.feature)


def plot_map(results: Sources | Answer) -> Figure:
    """The algorithms that win, for every pair of bounds on online and offline time.

    Args:
        results: results, files and folders with them, or what `compare` returned.
    """
    return best_algorithms_map(_answer(results))


def plot_misspecification(results: Sources, algorithms: Iterable[str] | None = None) -> Figure:
    """Scores with 95% bands against how wrong the prior is, one line per algorithm.

    The results are of experiments on the same MDPs with changed priors, such as `GC`,
    `mixed:0.1:GC` and `uniform:GC`, or `scaled:0.1:GC`, `GC` and `scaled:10:GC`. An algorithm's
    line is its agent with the best score at the accurate prior, the same one at all priors.

    Args:
        results: results, files and folders with them.
        algorithms: those to show; all by default.
    """
    return misspecification(load(results).experiments, algorithms)


def plot_learning(results: Sources) -> Figure:
    """Learning curves: the discounted reward so far, and the regret, with 95% bands.

    Where there are episodes, a point is the end of one.

    The regret is how much less an agent has than `optimal` on the same MDPs. It is shown if a
    result of `optimal` is given. Where a bound is known, it is a line.

    Args:
        results: results or their files, all of one experiment, with every decision; and files with
            bounds.
    """
    played, bounds = [], []
    for place in places_of([results]):
        if isinstance(place, Result):
            played.append(place)
        elif place.name.endswith(SUFFIX):
            bounds.append(read_bound(place))
        else:
            played.append(read_result(place))
    if not played:
        raise InvalidInput("results = []: give at least one")
    check_same_experiment(played)
    bound = known_bound(played[0].settings, bounds)
    return _learning_curves(played, None if bound is None else bound.upper)


def _learning_curves(results: Sequence[Result], bound: float | None) -> Figure:
    """The regret of the bound, the least in the end, is a line as well."""
    styles = line_styles({result.label: result.algorithm for result in results})
    optimal = next((each for each in results if each.algorithm == REFERENCE), None)
    with drawing():
        figure = Picture(figsize=(WIDTH, 3.4), layout="constrained")
        panels = figure.subplots(1, 1 if optimal is None else 2, squeeze=False)[0]
        panels[0].set_ylabel("discounted reward so far")
        write_title(panels[0], results[0].settings["name"])
        for result in results:
            _draw_curve(panels[0], so_far(result), **styles[result.label], label=result.label)
        if bound is not None:
            panels[0].axhline(bound, **_BOUND, label=bound_sentence(bound))
        if optimal is not None:
            panels[1].set_ylabel(f"regret: {REFERENCE} minus agent")
            for result in results:
                if result is not optimal:
                    regret = so_far(optimal) - so_far(result)
                    _draw_curve(panels[1], regret, **styles[result.label], label=result.label)
            if bound is not None:
                panels[1].axhline(optimal.mean - bound, **_BOUND)
        for panel in panels:
            panel.set_xlabel("episode" if results[0].settings.get("episode") else "decision")
            panel.grid(alpha=0.25)
            panel.margins(x=0)
        handles, names = panels[0].get_legend_handles_labels()
        legend_above(figure, handles, [wrapped(name, _LINE + 10) for name in names])
    return figure


def _draw_curve(panel: Axes, curves: Floats, **style: Any) -> None:
    """The mean of curves [N, T], with a band of two standard errors."""
    decisions = np.arange(1, curves.shape[1] + 1)
    every = max(1, len(decisions) // 8)
    draw_line(panel, decisions, *with_intervals(curves), markevery=every, **style)


def plot_autopsy(results: Iterable[Result | Autopsy], samples: int = 50) -> Figure:
    """Where the decisions of agents lose: expected regrets by exploring, and by ignorance.

    Args:
        results: results on the same MDPs, with states and actions, or what `autopsy` returned.
        samples: for results, the MDPs drawn from the posterior before each decision.
    """
    examined = [
        each if isinstance(each, Autopsy) else autopsy(each, samples=samples) for each in results
    ]
    if not examined:
        raise InvalidInput("results = []: give at least one")
    check_same_experiment([each.result for each in examined])
    styles = line_styles({each.result.label: each.result.algorithm for each in examined})
    with drawing():
        figure = Picture(figsize=(WIDTH, 3.4), layout="constrained")
        panels = figure.subplots(1, 2)
        for panel, part in zip(panels, ("exploring", "ignorance"), strict=True):
            for each in examined:
                label = each.result.label
                _draw_curve(panel, getattr(each, part), **styles[label], label=label)
            panel.set(xlabel="decision", ylabel=f"expected regret by {part}")
            panel.grid(alpha=0.25)
            panel.margins(x=0)
        handles, names = panels[0].get_legend_handles_labels()
        legend_above(figure, handles, [wrapped(name, _LINE + 10) for name in names])
    return figure


def plot_differences(results: Sources | Answer, against: str | None = None) -> Figure:
    """The returns of agents minus those of one agent, on the same MDPs.

    Args:
        results: results, files and folders with them, or what `compare` returned.
        against: the label of the agent to compare with; by default the one with the best score.
    """
    experiment = _answer(results).experiment
    summaries = _best_first(experiment.competitors)
    labels = [summary.label for summary in summaries]
    if against is not None and against not in labels:
        raise InvalidInput(
            f"against = {short(against)}{did_you_mean(against, labels)}: must be one of "
            f"{', '.join(labels)}"
        )
    base = next((each for each in summaries if against in (None, each.label)), None)
    others = [summary for summary in summaries if summary is not base]
    with drawing():
        figure, axes = _rows(others, experiment.name)
        axes.axvline(0, **_ZERO)
        figure.supxlabel(
            "markers: means with 95% intervals; boxes: the middle half of the MDPs", fontsize=7
        )
        if base is not None:
            kind = "adjusted return" if base.can_be_adjusted else "return"
            axes.set_xlabel(f"{kind} minus that of\n{wrapped(base.label, _LINE)}")
            numbers = [min(len(each.returns), len(base.returns)) for each in others]
            differences = [
                paired_differences(each.first(common), base.first(common))
                for each, common in zip(others, numbers, strict=True)
            ]
            _draw_rows(axes, others, differences, [Score.of(each) for each in differences])
    return figure


def plot_returns(results: Sources | Answer) -> Figure:
    """The distribution of every agent's returns, the best agent first.

    Args:
        results: results, files and folders with them, or what `compare` returned.
    """
    experiment = _answer(results).experiment
    summaries, bound = _best_first(experiment.summaries), experiment.upper_bound
    with drawing():
        figure, axes = _rows(summaries, experiment.name)
        returns = [summary.returns for summary in summaries]
        _draw_rows(axes, summaries, returns, [summary.score for summary in summaries], points=True)
        axes.set_xlabel("return")
        signs = "points: MDPs; boxes: their middle half; markers: scores with intervals"
        if bound is not None:
            axes.axvline(bound, **_BOUND)
            signs += f"; dotted: {bound_sentence(bound)}"
        figure.supxlabel(signs, fontsize=7)
    return figure


def _rows(summaries: Sequence[Summary], experiment: str) -> tuple[Figure, Axes]:
    """A figure of an experiment with a row for each agent, the first one at the top."""
    names = [wrapped(summary.label, _LINE) for summary in summaries]
    lines = 1 + max((name.count("\n") for name in names), default=0)
    height = 1.1 + (0.22 + 0.13 * lines) * len(names)
    figure = Picture(figsize=(WIDTH, max(1.8, height)), layout="constrained")
    axes = figure.subplots()
    write_title(axes, experiment)
    axes.use_sticky_edges = False  # boxes would touch the frame
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.grid(alpha=0.25, axis="x")
    if not names:
        say_empty(axes)
    return figure, axes


def _draw_rows(
    axes: Axes,
    summaries: Sequence[Summary],
    numbers: Sequence[Floats],
    scores: Sequence[Score],
    points: bool = False,
) -> None:
    """The middle half of each agent's numbers as a box, its score with its interval as a marker."""
    styles = point_styles(summary.algorithm for summary in summaries)
    for place, (summary, row, score) in enumerate(zip(summaries, numbers, scores, strict=True)):
        style = styles[summary.algorithm]
        if points:
            heights = place + 0.5 * (np.arange(len(row)) * _JITTER % 1 - 0.5)
            axes.scatter(row, heights, s=4, alpha=0.25, color=style["color"], linewidths=0)
        low, high = np.quantile(row, [0.25, 0.75])
        box: Any = {"edgecolor": style["color"], "facecolor": "none", "linewidth": 0.8}
        axes.barh(place, high - low, 0.5, low, **box)
        axes.errorbar(
            score.mean,
            place,
            xerr=None if math.isnan(score.ci95) else score.ci95,
            **style,
            linestyle="",
            markersize=6,
            markeredgecolor="white",
            capsize=3,
            linewidth=1.4,
            zorder=4,
        )


def plot_pair(first: Result, second: Result) -> Figure:
    """The returns of two agents on the same MDPs, and the intervals of their difference."""
    check_same_experiment([first, second])
    one, other = first.returns, second.returns
    with drawing():
        figure = Picture(figsize=(WIDTH, 3.0), layout="constrained")
        left, right = figure.subplots(1, 2)
        left.scatter(other, one, s=8, alpha=0.6, color=PLAIN, linewidths=0)
        ends = [min(one.min(), other.min()), max(one.max(), other.max())]
        left.plot(ends, ends, **_ZERO)
        left.set(
            xlabel=f"return of {wrapped(second.label, _LINE)}",
            ylabel=f"return of {wrapped(first.label, _LINE)}",
        )
        left.set_title(f"one point per MDP of {first.settings['name']}", loc="left", fontsize=9)
        difference = paired_differences(one, other)
        unpaired = math.hypot(ci95(one), ci95(other))
        for place, width in enumerate((ci95(difference), unpaired)):
            right.errorbar(difference.mean(), place, xerr=width, fmt="o", color=PLAIN, capsize=4)
        right.axvline(0, **_ZERO)
        right.set(yticks=(0, 1), yticklabels=("paired", "as if on\nother MDPs"), ylim=(-0.6, 1.6))
        right.set_xlabel("difference of mean returns, with 95% interval")
        right.grid(alpha=0.25, axis="x")
    return figure


def _answer(results: Sources | Answer) -> Answer:
    return results if isinstance(results, Answer) else compare(results)


def _best_first(summaries: Iterable[Summary]) -> list[Summary]:
    return sorted(summaries, key=lambda summary: summary.order)
