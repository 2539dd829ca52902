"""The spread of returns over MDPs: distributions, and paired differences."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..analysis.scores import paired_differences
from ..mdps.sparse import Floats
from ..results.result import Result
from ..results.score import Score, ci95
from ..results.summary import Summary
from .figures import PLAIN, WIDTH, Picture, drawing, say_empty, styles, wrapped
from .words import bound_sentence

_LINE = 34  # characters of a name per line
_JITTER = 0.6180339887498949  # multiples of the golden ratio fill an interval evenly


def distributions(summaries: Sequence[Summary], bound: float | None = None) -> Figure:
    """One row per agent: a point per MDP, the middle half as a box, the score as a marker.

    The bound, if there is one, is the line that no score can pass.
    """
    looks = styles(summary.algorithm for summary in summaries)
    with drawing():
        figure, axes = _rows(summaries)
        for place, summary in enumerate(summaries):
            returns, look = summary.returns, looks[summary.algorithm]
            heights = place + 0.5 * (np.arange(len(returns)) * _JITTER % 1 - 0.5)
            axes.scatter(returns, heights, s=4, alpha=0.25, color=look["color"], linewidths=0)
            _draw_row(axes, place, returns, summary.score, look)
        axes.set_xlabel("return")
        signs = "points: MDPs; boxes: their middle half; markers: scores with intervals"
        if bound is not None:
            axes.axvline(bound, color=PLAIN, linestyle=":", linewidth=1)
            signs += f"; dotted: {bound_sentence(bound)}"
        _explain(figure, signs)
    return figure


def differences(summaries: Sequence[Summary], against: str | None) -> Figure:
    """One row per agent: its returns minus those of one agent, by default the first, per MDP."""
    best = next((each for each in summaries if against in (None, each.label)), None)
    others = [summary for summary in summaries if summary is not best]
    looks = styles(summary.algorithm for summary in summaries)
    with drawing():
        figure, axes = _rows(others)
        for place, summary in enumerate(others):
            assert best is not None
            difference = paired_differences(summary, best)
            _draw_row(axes, place, difference, Score.of(difference), looks[summary.algorithm])
        axes.axvline(0, color="0.4", linestyle="--", linewidth=1)
        if best is not None:
            axes.set_xlabel(f"return minus that of\n{wrapped(best.label, _LINE)}")
        _explain(figure, "markers: means with 95% intervals; boxes: the middle half of the MDPs")
    return figure


def pair(first: Result, second: Result) -> Figure:
    """Returns of two agents on the same MDPs, and the intervals of their difference."""
    with drawing():
        figure = Picture(figsize=(WIDTH, 3.0), layout="constrained")
        left, right = figure.subplots(1, 2)
        _draw_points(left, first.returns, second.returns)
        left.set(
            xlabel=f"return of {wrapped(second.label, _LINE)}",
            ylabel=f"return of {wrapped(first.label, _LINE)}",
        )
        left.set_title(f"one point per MDP of {first.settings['name']}", loc="left", fontsize=9)
        _draw_intervals(right, first.returns, second.returns)
    return figure


def _draw_points(axes: Axes, first: Floats, second: Floats) -> None:
    axes.scatter(second, first, s=8, alpha=0.6, color=PLAIN, linewidths=0)
    ends = [min(first.min(), second.min()), max(first.max(), second.max())]
    axes.plot(ends, ends, color="0.4", linestyle="--", linewidth=1)


def _draw_intervals(axes: Axes, first: Floats, second: Floats) -> None:
    """The mean difference with its interval, and the one that unpaired returns would have."""
    difference = paired_differences(first, second)
    apart = math.hypot(ci95(first), ci95(second))
    for place, width in enumerate((ci95(difference), apart)):
        axes.errorbar(difference.mean(), place, xerr=width, fmt="o", color=PLAIN, capsize=4)
    axes.axvline(0, color="0.4", linestyle="--", linewidth=1)
    axes.set(yticks=(0, 1), yticklabels=("paired", "as if on\nother MDPs"), ylim=(-0.6, 1.6))
    axes.set_xlabel("difference of scores, with 95% interval")
    axes.grid(alpha=0.25, axis="x")


def _rows(summaries: Sequence[Summary]) -> tuple[Figure, Axes]:
    """A figure with a row for each agent, the first one at the top."""
    names = [wrapped(summary.label, _LINE) for summary in summaries]
    lines = 1 + max((name.count("\n") for name in names), default=0)
    height = 1.1 + (0.22 + 0.13 * lines) * len(names)
    figure = Picture(figsize=(WIDTH, max(1.8, height)), layout="constrained")
    axes = figure.subplots()
    axes.use_sticky_edges = False  # boxes would touch the frame
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.grid(alpha=0.25, axis="x")
    if not names:
        say_empty(axes)
    return figure, axes


def _draw_row(axes: Axes, place: int, numbers: Floats, score: Score, look: dict[str, Any]) -> None:
    """The middle half of numbers as a box, and a score with its interval as a marker."""
    low, high = np.quantile(numbers, [0.25, 0.75])
    axes.barh(place, high - low, 0.5, low, edgecolor=look["color"], facecolor="none", linewidth=0.8)
    mean, half_width = score
    axes.errorbar(
        mean,
        place,
        xerr=None if math.isnan(half_width) else half_width,
        **look,
        linestyle="",
        markersize=6,
        markeredgecolor="white",
        capsize=3,
        linewidth=1.4,
        zorder=4,
    )


def _explain(figure: Figure, text: str) -> None:
    figure.supxlabel(text, fontsize=7)
