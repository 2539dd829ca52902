"""Figures: answers in, matplotlib figures out."""

import io
import math
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from ..mdps.sparse import Floats
from ..results.times import ONLINE
from .answers import Answer, Row
from .axes import Label, LogAxis, keep_ticks_apart, place_labels
from .data import REFERENCE, ExperimentData
from .line_breaks import break_name
from .styles import PointStyles, on_top, point_styles
from .words import feature_texts, format_bound, score_axis

_RC: Any = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "text.parse_math": False,  # names may contain dollar signs
    # Even if a matplotlibrc in the current folder says otherwise:
    "text.usetex": False,
    "figure.autolayout": False,
    "figure.constrained_layout.use": False,
    "pdf.fonttype": 42,  # keeps text selectable
}
PLAIN = "0.35"  # the colour of lines that are no algorithm
_LINE = 28  # characters of a name per line
_SMALL: Any = {"markersize": 2.5, "elinewidth": 0.5, "linestyle": "", "alpha": 0.3, "zorder": 2}
_MIDDLE: Any = {"markersize": 6, "linewidth": 1, "capsize": 2}
_LARGE: Any = {"markersize": 7, "linewidth": 1.2, "capsize": 2.5, "zorder": 4}
_PALE: Any = {"linewidth": 5, "alpha": 0.25}
BOUND = "no agent that has to learn\ncan pass (one-sided 95% limit)"  # the name of its line
WIDTH = 6.5  # inches, the width of a page's text


class Picture(Figure):
    """A figure that notebooks show without `pyplot`."""

    def _repr_png_(self) -> bytes:
        return render(self, ".png")


@contextmanager
def drawing() -> Iterator[None]:
    """The style that all figures share."""
    with matplotlib.rc_context(_RC), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")  # in unusual names
        yield


def write_title(axes: Axes, text: str) -> None:
    """Write a title, wrapped to the width of the axes."""
    axes.set_title(wrapped(text, 40), loc="left", fontsize=10)


def wrapped(name: str, width: int, indent: str = "") -> str:
    """A name in lines of at most some characters; those after the first are indented."""
    return f"\n{indent}".join(break_name(name, width))


def fix_layout(figure: Figure) -> None:
    """Fix the layout of a figure, so that nothing moves afterwards, and no tick labels touch."""
    figure.draw_without_rendering()
    figure.set_layout_engine(None)  # with "none", each file would be drawn twice
    for axes in figure.axes:
        keep_ticks_apart(axes)


def render(figure: Figure, suffix: str) -> bytes:
    """The bytes of a figure as .pdf, .svg or .png, the same every time."""
    buffer = io.BytesIO()
    metadata = {".pdf": {"CreationDate": None}, ".svg": {"Date": None}}.get(suffix, {})
    with drawing(), matplotlib.rc_context({"svg.hashsalt": "brlbench"}):
        figure.savefig(buffer, format=suffix[1:], dpi=200, metadata=metadata)
    return buffer.getvalue()


def score_against_time(
    answer: Answer, feature: str, algorithms: Iterable[str] | None = None
) -> Figure:
    """The scores of all agents of an experiment against a time feature, with 95% intervals.

    The best agent of each algorithm is large and has its name beside it; winners are filled.
    `algorithms` are those of all figures that are shown together.
    """
    summaries = answer.experiment.competitors
    styles = point_styles(algorithms or sorted({summary.algorithm for summary in summaries}))
    log = LogAxis.of(summary.seconds[feature] for summary in summaries)
    with drawing():
        figure = Picture(figsize=(WIDTH, 3.7), layout="constrained")
        axes = figure.subplots()
        log.set_up(axes, "x")
        _draw_agents(axes, answer, feature, log, styles)
        axes.set_xlabel(f"{feature_texts(feature).sentence} (log scale)")
        axes.set_ylabel(score_axis([answer.experiment]))
        write_title(axes, answer.experiment.name)
        axes.grid(alpha=0.25)
        handles = [*_draw_reference(axes, answer), *_legend(answer, styles)]
        if handles:
            figure.legend(handles=handles, loc="outside right upper", alignment="left")
        if not summaries:
            say_empty(axes)
        fix_layout(figure)
        place_labels(axes, [_label(row, feature, log, styles) for row in answer.rows])
    return figure


def _draw_agents(
    axes: Axes, answer: Answer, feature: str, log: LogAxis, styles: PointStyles
) -> None:
    best = {row.summary.label for row in answer.rows}
    for algorithm, style in styles.items():
        others = [
            summary
            for summary in answer.experiment.competitors
            if summary.algorithm == algorithm and summary.label not in best
        ]
        if others:
            places = [log.place(summary.seconds[feature]) for summary in others]
            means, widths = zip(*(summary.score for summary in others), strict=True)
            axes.errorbar(places, means, widths, **on_top(style, _SMALL))
    for row in answer.rows:
        style = styles[row.summary.algorithm]
        place = log.place(row.summary.seconds[feature])
        if row.summary.adjusted is not None:
            mean, ci95 = row.summary.unadjusted
            axes.vlines(place, mean - ci95, mean + ci95, color=style["color"], **_PALE, zorder=3)
        mean, ci95 = row.summary.score
        axes.errorbar(place, mean, ci95, **on_top(_marker(row, styles), _LARGE))


def _marker(row: Row, styles: PointStyles) -> dict[str, Any]:
    """The marker of an algorithm's best agent: filled if it is a winner."""
    style = styles[row.summary.algorithm]
    return {**style, "markerfacecolor": style["color"] if row.winner else "white"}


def _label(row: Row, feature: str, log: LogAxis, styles: PointStyles) -> Label:
    summary = row.summary
    colour, name = styles[summary.algorithm]["color"], summary.algorithm
    short = name if len(name) <= _LINE else name[: _LINE - 1] + "…"
    return Label(short, log.place(summary.seconds[feature]), *summary.score, colour)


def _draw_reference(axes: Axes, answer: Answer) -> list[Line2D]:
    """Draw the upper bound and the score of `optimal` as lines; return their legend.

    A line far above the agents is only named: it would leave no room for their differences.
    """
    low, high = axes.get_ylim()
    lines: list[Line2D] = []
    named: list[tuple[float | None, str, Any]] = [
        (answer.experiment.upper_bound, BOUND, ":"),
        (answer.experiment.score_of(REFERENCE), f"{REFERENCE} (reference)", "--"),
    ]
    for value, name, dashes in named:
        if value is None:
            continue
        within = value < high + (high - low) or not answer.experiment.competitors
        if within:
            axes.axhline(value, color=PLAIN, linestyle=dashes, linewidth=1)
        text = f"{name}:\n{format_bound(value)}" + ("" if within else ", above the axis")
        lines.append(_sign(text, linestyle=dashes, linewidth=1))
    return lines


def _legend(answer: Answer, styles: PointStyles) -> list[Line2D]:
    """The algorithms, best first, then the meaning of the markers."""
    signs = [
        _sign(wrapped(row.summary.algorithm, _LINE), linestyle="", **_marker(row, styles))
        for row in answer.rows
    ]
    if not signs:
        return []
    dot = {"linestyle": "", "marker": "o"}
    signs.append(_sign("filled: winner", **dot))
    signs.append(_sign("hollow: worse", **dot, markerfacecolor="white"))
    signs.append(_sign("small: other agents", **dot, markersize=2.5))
    if any(row.unadjusted for row in answer.rows):
        signs.append(_sign("pale: mean return,\nwith its luck", **_PALE))
    return signs


def _sign(label: str, **style: Any) -> Line2D:
    """A sign of a legend."""
    return Line2D([], [], label=label, **{"color": PLAIN, **style})


def draw_line(axes: Axes, places: Any, means: Floats, widths: Floats, **style: Any) -> None:
    """A line through means, with a band of the half-widths that are known."""
    axes.plot(places, means, **on_top(style, {"markersize": 4, "linewidth": 1.2}))
    if not np.isnan(widths).all():
        band: Any = {"color": style["color"], "alpha": 0.15, "linewidth": 0}
        axes.fill_between(places, means - widths, means + widths, **band)


def legend_above(figure: Figure, handles: Sequence[Any], names: Sequence[str]) -> None:
    """Name what is drawn above the panels, in as many columns as fit."""
    columns = max(1, min(len(names), int(WIDTH / (0.5 + 0.065 * max(map(len, names), default=1)))))
    figure.legend(handles, names, loc="outside upper center", ncols=columns)


def say_empty(axes: Axes) -> None:
    """Say that there is nothing to show."""
    axes.text(0.5, 0.5, "no agents to compare", transform=axes.transAxes, ha="center")


def score_against_online_time(experiments: Sequence[ExperimentData]) -> Figure:
    """Scores with 95% intervals against the mean time per decision, one panel per experiment."""
    styles = point_styles(each.algorithm for one in experiments for each in one.summaries)
    columns = min(3, len(experiments))
    rows = math.ceil(len(experiments) / columns)
    figure = Figure(figsize=(4.2 * columns, 3.1 * rows + 0.9), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False)
    for panel, experiment in zip(panels.flat, experiments, strict=False):
        _draw_panel(panel, experiment, styles)
    for panel in panels.flat[len(experiments) :]:
        panel.set_axis_off()
    for panel in panels[:, 0]:
        panel.set_ylabel(score_axis(experiments))
    for panel in panels.flat[max(0, len(experiments) - columns) : len(experiments)]:
        panel.set_xlabel("online time per decision (log scale)")
    handles = [_sign(name, linestyle="", **style) for name, style in styles.items()]
    if any(experiment.upper_bound is not None for experiment in experiments):
        handles.append(_sign(BOUND, linestyle=":", linewidth=1))
    figure.legend(handles=handles, loc="outside lower center", ncols=min(6, len(handles)))
    fix_layout(figure)
    return figure


def _draw_panel(panel: Axes, experiment: ExperimentData, styles: PointStyles) -> None:
    for summary in experiment.summaries:
        mean, ci95 = summary.score
        style = styles[summary.algorithm]
        panel.errorbar(summary.seconds[ONLINE], mean, ci95, **on_top(style, _MIDDLE))
    if experiment.upper_bound is not None:
        panel.axhline(experiment.upper_bound, color=PLAIN, linestyle=":", linewidth=1)
    times = (summary.seconds[ONLINE] for summary in experiment.summaries)
    LogAxis.of(times).set_up(panel, "x", ticks=6)
    panel.set_title(experiment.name)
    panel.grid(alpha=0.3)
