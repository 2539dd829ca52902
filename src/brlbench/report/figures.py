"""Figures: answers in, matplotlib figures out."""

import io
import math
import textwrap
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import EngFormatter

from ..analysis.times import ONLINE
from .answers import Answer, Row
from .axes import LogAxis, keep_ticks_apart
from .data import REFERENCE, ExperimentData
from .labels import Label, place_labels
from .looks import looks_of
from .words import describe_feature, format_bound

_LOOK: Any = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "text.parse_math": False,  # names may contain dollar signs
    "text.usetex": False,  # even if a matplotlibrc in the current folder says otherwise
    "pdf.fonttype": 42,  # keeps text selectable
}
PLAIN = "0.35"  # the colour of what is no algorithm
_LINE = 28  # characters of a name per line
_DASHES: tuple[Any, ...] = ("-", "--", ":", "-.", (0, (6, 2, 1, 2, 1, 2)), (0, (8, 4)))
BOUND = "no agent can pass (bound)"  # the name of its line
WIDTH = 6.5  # inches, the width of a page's text
Looks = dict[str, dict[str, Any]]


def styles(algorithms: Iterable[str]) -> Looks:
    """The colour and the marker of each algorithm, whatever else is shown."""
    return {name: look.points for name, look in looks_of(algorithms).items()}


def styles_of_agents(agents: Mapping[str, str]) -> Looks:
    """Lines for agents, given as algorithms by label: agents of one algorithm differ in dashes."""
    looks, used = looks_of(agents.values()), Counter[str]()
    found = {}
    for label, algorithm in agents.items():
        dashes = _DASHES[used[algorithm] % len(_DASHES)]
        found[label] = {**looks[algorithm].points, "linestyle": dashes}
        used[algorithm] += 1
    return found


class Picture(Figure):
    """A figure that notebooks show without `pyplot`."""

    def _repr_png_(self) -> bytes:
        return render(self, ".png")


@contextmanager
def drawing() -> Iterator[None]:
    """The look that all figures share."""
    with matplotlib.rc_context(_LOOK), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")  # in unusual names
        yield


def write_title(axes: Axes, text: str) -> None:
    """Write a title, wrapped to the width of the axes."""
    axes.set_title(textwrap.fill(text, 40, break_on_hyphens=False), loc="left", fontsize=10)


def settle(figure: Figure) -> None:
    """Fix the layout of a figure, so that nothing moves afterwards, and no tick labels touch."""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
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
    found: Answer, feature: str, algorithms: Iterable[str] | None = None
) -> Figure:
    """The scores of all agents of an experiment against a time feature, with 95% intervals.

    The best agent of each algorithm is large and has its name beside it; winners are filled.
    `algorithms` are those of all figures that are shown together.
    """
    summaries = found.experiment.competitors
    looks = styles(algorithms or sorted({summary.algorithm for summary in summaries}))
    log = LogAxis.of(summary.seconds[feature] for summary in summaries)
    with drawing():
        figure = Picture(figsize=(WIDTH, 3.7), layout="constrained")
        axes = figure.subplots()
        log.set_up(axes, "x")
        _draw_agents(axes, found, feature, log, looks)
        axes.set_xlabel(f"{describe_feature(feature)} (log scale)")
        axes.set_ylabel("mean discounted return")
        write_title(axes, found.experiment.name)
        axes.grid(alpha=0.25)
        handles = [*_draw_reference(axes, found), *_legend(found, looks)]
        if handles:
            figure.legend(handles=handles, loc="outside right upper", alignment="left")
        if not summaries:
            say_empty(axes)
        settle(figure)
        place_labels(axes, [_label(row, feature, log, looks) for row in found.rows])
    return figure


def _draw_agents(axes: Axes, found: Answer, feature: str, log: LogAxis, looks: Looks) -> None:
    best = {row.summary.label for row in found.rows}
    for algorithm, look in looks.items():
        others = [
            summary
            for summary in found.experiment.competitors
            if summary.algorithm == algorithm and summary.label not in best
        ]
        axes.errorbar(
            [log.place(summary.seconds[feature]) for summary in others],
            [summary.score.mean for summary in others],
            [summary.score.ci95 for summary in others], **look,
            markersize=2.5, elinewidth=0.5, linestyle="", alpha=0.3, zorder=2,
        )  # fmt: skip
    for row in found.rows:
        look = looks[row.summary.algorithm]
        place = log.place(row.summary.seconds[feature])
        if row.summary.adjusted is not None:
            mean, ci95 = row.summary.unadjusted
            axes.vlines(
                place, mean - ci95, mean + ci95, color=look["color"], linewidth=5, alpha=0.25,
                zorder=3,
            )  # fmt: skip
        axes.errorbar(
            place, *row.summary.score, **look,
            markersize=7, linewidth=1.2, capsize=2.5, zorder=4,
            markerfacecolor=look["color"] if row.winner else "white",
        )  # fmt: skip


def _label(row: Row, feature: str, log: LogAxis, looks: Looks) -> Label:
    summary = row.summary
    colour, name = looks[summary.algorithm]["color"], summary.algorithm
    short = name if len(name) <= _LINE else name[: _LINE - 1] + "…"
    place = log.place(summary.seconds[feature])
    return Label(short, place, *summary.score, colour)


def _draw_reference(axes: Axes, found: Answer) -> list[Line2D]:
    """Draw the upper bound and the score of `optimal` as lines; return their legend.

    A line far above the agents is only named: it would leave no room for their differences.
    """
    low, high = axes.get_ylim()
    lines: list[Line2D] = []
    named: list[tuple[float | None, str, Any]] = [
        (found.experiment.upper_bound, BOUND, ":"),
        (found.experiment.score_of(REFERENCE), f"{REFERENCE} (reference)", "--"),
    ]
    for value, name, dashes in named:
        if value is None:
            continue
        within = value < high + (high - low) or not found.experiment.competitors
        if within:
            axes.axhline(value, color=PLAIN, linestyle=dashes, linewidth=1)
        text = f"{name}:\n{format_bound(value)}" + ("" if within else ", above the axis")
        lines.append(Line2D([], [], color=PLAIN, linestyle=dashes, linewidth=1, label=text))
    return lines


def _legend(found: Answer, looks: Looks) -> list[Line2D]:
    """The algorithms, best first, then what the markers mean."""
    rows = [Line2D([], [], linestyle="", **looks[row.summary.algorithm],
                   markerfacecolor=looks[row.summary.algorithm]["color"] if row.winner else "white",
                   label=textwrap.fill(row.summary.algorithm, _LINE, break_on_hyphens=False))
            for row in found.rows]  # fmt: skip
    if not rows:
        return rows
    sizes = (("filled: winner", 6.0, "0.35"), ("hollow: worse", 6.0, "white"),
             ("small: other agents", 2.5, "0.35"))  # fmt: skip
    rows += [
        Line2D([], [], linestyle="", marker="o", color="0.35", markersize=size,
               markerfacecolor=face, label=name)
        for name, size, face in sizes
    ]  # fmt: skip
    if any(row.unadjusted for row in found.rows):
        name = "pale: mean return,\nwith its luck"
        rows.append(Line2D([], [], color="0.35", linewidth=5, alpha=0.25, label=name))
    return rows


def legend_above(figure: Figure, handles: Sequence[Any], names: Sequence[str]) -> None:
    """Name what is drawn above the panels, in as many columns as fit."""
    columns = max(1, min(len(names), int(WIDTH / (0.5 + 0.065 * max(map(len, names), default=1)))))
    figure.legend(handles, names, loc="outside upper center", ncols=columns)


def say_empty(axes: Axes) -> None:
    """Say that there is nothing to show."""
    axes.text(0.5, 0.5, "no agents to compare", transform=axes.transAxes, ha="center")


def score_against_online_time(experiments: Sequence[ExperimentData]) -> Figure:
    """Scores with 95% intervals against the mean time per decision, one panel per experiment."""
    names = dict.fromkeys(each.algorithm for one in experiments for each in one.summaries)
    looks = styles(list(names))
    columns = min(3, len(experiments))
    rows = math.ceil(len(experiments) / columns)
    figure = Figure(figsize=(4.2 * columns, 3.1 * rows + 0.9), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False)
    for panel, experiment in zip(panels.flat, experiments, strict=False):
        _draw_panel(panel, experiment, looks)
    for panel in panels.flat[len(experiments) :]:
        panel.set_axis_off()
    for panel in panels[:, 0]:
        panel.set_ylabel("mean discounted return")
    for column in range(columns):
        lowest = max(row for row in range(rows) if row * columns + column < len(experiments))
        panels[lowest, column].set_xlabel("online time per decision (log scale)")
    handles = [Line2D([], [], linestyle="", **look, label=name) for name, look in looks.items()]
    if any(experiment.upper_bound is not None for experiment in experiments):
        handles.append(Line2D([], [], color=PLAIN, linestyle=":", linewidth=1, label=BOUND))
    figure.legend(handles=handles, loc="outside lower center", ncols=min(6, len(handles)))
    settle(figure)
    return figure


def _draw_panel(panel: Axes, experiment: ExperimentData, looks: Looks) -> None:
    for summary in experiment.summaries:
        panel.errorbar(
            summary.seconds[ONLINE], *summary.score,
            **looks[summary.algorithm], markersize=6, capsize=2, linewidth=1,
        )  # fmt: skip
    if experiment.upper_bound is not None:
        panel.axhline(experiment.upper_bound, color=PLAIN, linestyle=":", linewidth=1)
    panel.set_xscale("log")
    panel.xaxis.set_major_formatter(EngFormatter(unit="s", sep=" "))
    panel.xaxis.set_minor_formatter("")
    panel.set_title(experiment.name)
    panel.grid(alpha=0.3)
