"""The map of the best algorithms: which of them win, for every pair of bounds.

The regions are exact: rectangles whose edges are the agents' own times.
"""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection, PolyCollection
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.legend_handler import HandlerTuple
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.path import Path
from matplotlib.patheffects import withStroke

from ..mdps.sparse import Integers
from ..results.times import ONLINE
from .answers import Answer
from .axes import LogAxis
from .figures import WIDTH, Picture, drawing, fix_layout, say_empty, wrapped, write_title
from .styles import HATCHES, Style, styles_of
from .words import feature_texts

NAMED = 8
"""Sets of winners that the map names at most."""

TOGETHER = 4
"""Algorithms of a named set at most: more stripes can't be told apart."""

_SEVERAL: tuple[str, ...] = ()  # stands for all sets that are not named
_GREY = "#DDDDDD"
_LINE = 36  # characters in a line of the legend
_STRIPE = 0.09  # inches, the width of a stripe where several algorithms win
_PALE = 0.15  # share of white in the colours of regions


class Rectangle(NamedTuple):
    """Bounds within which the same algorithms win, in seconds; infinite where there is no limit.

    Where sets were grouped, the winners of the group are left out.
    """

    online: tuple[float, float]
    offline: tuple[float, float]
    winners: tuple[str, ...]

    def corners(self, x: LogAxis, y: LogAxis) -> list[tuple[float, float]]:
        """The corners of the rectangle, cut off at the map's edges."""
        left, right = (min(max(edge, x.left), x.right) for edge in self.online)
        bottom, top = (min(max(edge, y.left), y.right) for edge in self.offline)
        return [(left, bottom), (right, bottom), (right, top), (left, top)]

    def size(self, x: LogAxis, y: LogAxis) -> tuple[float, float]:
        """Width and height as shares of the map."""
        (left, bottom), _, (right, top), _ = self.corners(x, y)
        width = math.log(right / left) / math.log(x.right / x.left)
        return width, math.log(top / bottom) / math.log(y.right / y.left)

    def area(self, x: LogAxis, y: LogAxis) -> float:
        """The share of the map that it covers."""
        return math.prod(self.size(x, y))


def rectangles(answer: Answer, named: Collection[tuple[str, ...]] | None = None) -> list[Rectangle]:
    """The plane of all bounds as few rectangles, without the bounds that allow no agent.

    If sets of winners are named, all others are one group.
    """
    regions, summaries = answer.comparison.regions(), answer.comparison.summaries
    sets: dict[tuple[str, ...], int] = {}
    # The last number stays -1, for cells that allow no agent.
    numbers = np.full(len(regions.answers) + 1, -1, dtype=np.int64)
    for i, best in enumerate(regions.answers):
        names = tuple(sorted(summaries[winner].algorithm for winner in best.winners))
        names = names if named is None or names in named else _SEVERAL
        numbers[i] = sets.setdefault(names, len(sets))
    names_of = list(sets)
    rows = np.append(regions.offline_edges, math.inf)
    columns = np.append(regions.online_edges, math.inf)
    return [
        Rectangle(
            (float(columns[left]), float(columns[right])),
            (float(rows[bottom]), float(rows[top])),
            names_of[number],
        )
        for number, bottom, top, left, right in _merged(numbers[regions.cells])
    ]


def _merged(cells: Integers) -> Iterator[tuple[int, int, int, int, int]]:
    """Rectangles of equal cells [I, J]: number, rows from and to, columns from and to.

    Equal runs of neighbouring rows are joined; negative cells are left out.
    """
    open_runs: dict[tuple[int, int, int], int] = {}  # (number, left, right): first row
    for row in range(len(cells) + 1):
        runs = set(_runs(cells[row])) if row < len(cells) else set()
        for run in [run for run in open_runs if run not in runs]:
            number, left, right = run
            yield number, open_runs.pop(run), row, left, right
        for run in runs:
            open_runs.setdefault(run, row)


def _runs(row: Integers) -> Iterator[tuple[int, int, int]]:
    starts = np.flatnonzero(np.diff(row, prepend=-2))
    for left, right in zip(starts, [*starts[1:], len(row)], strict=True):
        if row[left] >= 0:
            yield int(row[left]), int(left), int(right)


def best_algorithms_map(answer: Answer, algorithms: Iterable[str] | None = None) -> Figure:
    """The winners for all bounds: online time to the right, offline time upwards.

    A region has the colour and the hatching of its winner, or stripes of up to four. Regions of
    more winners, and those that have no room for a number, are grey. `algorithms` are those of all
    figures that are shown together.
    """
    regions = answer.comparison.regions()
    x, y = LogAxis.of(regions.online_edges), LogAxis.of(regions.offline_edges)
    named = _named(_by_set(rectangles(answer)), x, y)
    by_set = _by_set(rectangles(answer, named))
    shown = [names for names in (*named, _SEVERAL) if names in by_set]
    competing = {summary.algorithm for summary in answer.experiment.competitors}
    styles = styles_of(algorithms or sorted(competing))
    with drawing():
        figure = Picture(layout="constrained")
        axes = figure.subplots()
        x.set_up(axes, "x", ticks=6)
        y.set_up(axes, "y")
        axes.set_xlabel(f"bound on {feature_texts(answer.question.feature).sentence} (log scale)")
        axes.set_ylabel("bound on offline time (log scale)")
        write_title(axes, answer.experiment.name)
        handles = _draw_sets(axes, by_set, shown, styles, x, y)
        handles += _draw_intervals(axes, answer, by_set.values(), x, y)
        if (below := answer.reading.below) is not None:
            line: Any = {"color": "black", "linestyle": "--", "linewidth": 1}
            axes.axhline(below.seconds["offline"], **line)
            handles.append((Line2D([], [], **line), "cheapest useful OPPS training"))
        if shown:
            blank = Patch(facecolor="white", edgecolor="0.7", linewidth=0.5)
            handles.append((blank, "no agent is that fast"))
            figure.legend(
                *zip(*handles, strict=True),
                loc="outside right upper",
                alignment="left",
                title="winners, by area",
                handlelength=2.4,
                handler_map={tuple: HandlerTuple(ndivide=None, pad=0)},
            )
        else:
            say_empty(axes)
        lines = sum(1 + label.count("\n") for _, label in handles)
        height = 0.4 + 0.135 * lines + 0.06 * len(handles)  # of the legend, in inches
        figure.set_size_inches(WIDTH, max(3.7, height))
        fix_layout(figure)
    return figure


def _by_set(parts: Iterable[Rectangle]) -> dict[tuple[str, ...], list[Rectangle]]:
    by_set: dict[tuple[str, ...], list[Rectangle]] = {}
    for part in parts:
        by_set.setdefault(part.winners, []).append(part)
    return by_set


def _named(
    by_set: Mapping[tuple[str, ...], list[Rectangle]], x: LogAxis, y: LogAxis
) -> list[tuple[str, ...]]:
    """The sets of few winners with room for a number, the largest first."""
    areas = {names: sum(part.area(x, y) for part in parts) for names, parts in by_set.items()}
    few = [
        names
        for names, parts in by_set.items()
        if len(names) <= TOGETHER and _has_room(_largest(parts, x, y), x, y)
    ]
    return sorted(few, key=lambda names: (-areas[names], names))[:NAMED]


_Handle = tuple[Patch | tuple[Patch, ...] | Line2D, str]
"""A sign of the legend, and its label."""


def _draw_intervals(
    axes: Axes, answer: Answer, groups: Iterable[list[Rectangle]], x: LogAxis, y: LogAxis
) -> list[_Handle]:
    """Paint pale bands around left edges of regions: the 95% intervals of the agents' times."""
    ends: dict[float, tuple[float, float]] = {}
    for summary in answer.comparison.summaries if answer.question.feature == ONLINE else ():
        if (interval := summary.processor_interval) is not None:
            low, high = ends.get(summary.seconds[ONLINE], interval)
            ends[summary.seconds[ONLINE]] = min(low, interval[0]), max(high, interval[1])
    if not ends:
        return []
    edges = [part for parts in groups for part in parts if part.online[0] in ends]
    bands = [part._replace(online=ends[part.online[0]]).corners(x, y) for part in edges]
    axes.add_collection(
        PolyCollection(bands, facecolor="white", alpha=0.6, linewidth=0, gid="intervals")
    )
    signs = Patch(**_fill("0.5")), Patch(**_fill("0.8"))
    return [(signs, "pale: 95% interval of\nthe time at a border")]


def _draw_sets(
    axes: Axes,
    by_set: Mapping[tuple[str, ...], list[Rectangle]],
    shown: Sequence[tuple[str, ...]],
    styles: Mapping[str, Style],
    x: LogAxis,
    y: LogAxis,
) -> list[_Handle]:
    """Paint the regions of all sets of winners; those that are named get a number."""
    handles: list[_Handle] = []
    for number, names in enumerate(shown, 1):
        fills = [_fill_of(styles[name]) for name in names] or [_fill(_GREY)]
        _paint(axes, [part.corners(x, y) for part in by_set[names]], fills)
        text = "several, or too small for a number"
        if names != _SEVERAL:
            _number(axes, _largest(by_set[names], x, y), x, y, str(number))
            text = f"{number}: {', '.join(names)}"
        signs = tuple(Patch(**fill) for fill in fills)
        handles.append((signs, wrapped(text, _LINE, indent="    ")))
    return handles


def _fill(face: str, hatch: str = "") -> dict[str, Any]:
    """A colour and a hatching, as Matplotlib calls them."""
    # An edge of the same colour closes the hairlines that viewers leave between neighbours.
    edge, width = ("white", 0.0) if hatch else (face, 0.3)
    return {"facecolor": face, "edgecolor": edge, "linewidth": width, "hatch": hatch}


def _fill_of(style: Style) -> dict[str, Any]:
    red, green, blue = ((1 - _PALE) * part + _PALE for part in to_rgb(style.light))
    return _fill(to_hex((red, green, blue)), HATCHES[style.hatch])


def _paint(
    axes: Axes, corners: list[list[tuple[float, float]]], fills: list[dict[str, Any]]
) -> None:
    """Fill rectangles, in stripes if there is more than one way to."""
    outline = _joined(corners)
    if len(fills) == 1:
        axes.add_collection(PathCollection([outline], **fills[0]))
        return
    for number, fill in enumerate(fills):
        stripes = PathCollection([_joined(_stripes(number, len(fills)))], **fill)
        stripes.set_transform(axes.figure.dpi_scale_trans)
        axes.add_collection(stripes, autolim=False)
        stripes.set_clip_path(outline, axes.transData)


def _joined(polygons: list[list[tuple[float, float]]]) -> Path:
    """One path of several polygons: Matplotlib draws a hatching once per path, which is slow."""
    return Path.make_compound_path(*(Path([*p, p[0]], closed=True) for p in polygons))


def _stripes(number: int, of: int) -> list[list[tuple[float, float]]]:
    """Every `of`-th diagonal stripe of a sheet that is larger than any figure, in inches."""
    size = 2 * WIDTH
    lefts = np.arange(-size + number * _STRIPE, size, of * _STRIPE)
    return [
        [(left, 0), (left + _STRIPE, 0), (left + _STRIPE + size, size), (left + size, size)]
        for left in lefts.tolist()
    ]


def _largest(parts: Sequence[Rectangle], x: LogAxis, y: LogAxis) -> Rectangle:
    return max(parts, key=lambda part: part.area(x, y))


def _has_room(part: Rectangle, x: LogAxis, y: LogAxis) -> bool:
    """Whether there is room for a number."""
    width, height = part.size(x, y)
    return width > 0.03 and height > 0.05


def _number(axes: Axes, part: Rectangle, x: LogAxis, y: LogAxis, text: str) -> None:
    """Write a set's number on a part of it."""
    (left, bottom), _, (right, top), _ = part.corners(x, y)
    axes.text(
        math.sqrt(left * right),
        math.sqrt(bottom * top),
        text,
        ha="center",
        va="center",
        weight="bold",
        path_effects=[withStroke(linewidth=3, foreground="white")],
    )
