"""Axes: logarithmic ones for times, ticks that keep apart, and names beside points."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.patheffects import withStroke
from matplotlib.ticker import EngFormatter, FixedLocator, FuncFormatter, LogLocator, NullLocator

from ..mdps.sparse import Floats

_MARGIN = 2.0  # factor by which an axis exceeds the least and the greatest time
_APART = 3.0  # pixels between tick labels
_engineering = EngFormatter(unit="s", sep=" ")

_FONT_SIZE = 8.0  # of names beside points
_WIDTH, _HEIGHT = 0.56 * _FONT_SIZE, 1.2 * _FONT_SIZE  # of a character, roughly
_FAR = 14.0  # points; from this distance on a line joins name and point
_ANGLES = np.pi * np.arange(16) / 8
# Offsets [n, 2] of names from their points, the near ones first.
_OFFSETS = np.concatenate(
    [
        radius * np.stack([np.cos(_ANGLES), np.sin(_ANGLES)], axis=1)
        for radius in (8, 14, 22, 32, 44)
    ]
)
_SHARES_LEFT = {"right": 1.0, "center": 0.5, "left": 0.0}  # of a text, by alignment


@dataclass(frozen=True)
class LogAxis:
    """A range of times; zero has a place of its own, below all others."""

    left: float
    right: float
    zero: float | None  # where zero is drawn, if it occurs

    @classmethod
    def of(cls, times: Iterable[float]) -> "LogAxis":
        """The range of some times in seconds."""
        times = list(times)
        positive = [time for time in times if time > 0] or [1e-3]
        left, right = min(positive) / _MARGIN, max(positive) * _MARGIN
        if all(time > 0 for time in times):
            return cls(left, right, None)
        zero = 10.0 ** (math.floor(math.log10(left)) - 1)
        return cls(zero / _MARGIN, right, zero)

    def place(self, time: float) -> float:
        """The coordinate of a time."""
        return time if time > 0 or self.zero is None else self.zero

    def set_up(self, axes: Axes, which: str, ticks: int = 10) -> None:
        """Make the "x" or "y" axis logarithmic, with this range and few ticks with units."""
        axes.set(**{f"{which}scale": "log", f"{which}lim": (self.left, self.right)})
        axis = axes.xaxis if which == "x" else axes.yaxis
        few = math.log10(self.right / self.left) < 2.5
        steps = (1.0, 2.0, 5.0) if few else (1.0,)
        axis.set_major_locator(LogLocator(subs=steps, numticks=ticks))
        axis.set_minor_locator(NullLocator())
        axis.set_major_formatter(FuncFormatter(partial(_tick, zero=self.zero)))


def _tick(seconds: float, _position: int, zero: float | None) -> str:
    if zero is not None and seconds <= zero:
        return "0" if seconds == zero else ""
    return f"{seconds:.0f} s" if seconds >= 1000 else _engineering(seconds)


def keep_ticks_apart(axes: Axes) -> None:
    """Leave out as many ticks as it takes to keep their labels apart; the axes must be drawn."""
    for axis, side in ((axes.xaxis, 0), (axes.yaxis, 1)):
        low, high = sorted(axis.get_view_interval())
        ticks = sorted(
            (tuple(tick.label1.get_window_extent().get_points()[:, side]), tick.get_loc())
            for tick in axis.get_major_ticks()
            if tick.label1.get_text() and low <= tick.get_loc() <= high
        )
        for step in range(1, len(ticks)):
            some = ticks[::step]
            if all(after[0] - before[1] >= _APART for (before, _), (after, _) in pairwise(some)):
                break
        if len(ticks) > 1 and len(some) < len(ticks):
            axis.set_major_locator(FixedLocator([place for _, place in some]))


class Label(NamedTuple):
    """A name and the point that it belongs to, in data coordinates."""

    text: str
    x: float
    y: float
    half_width: float  # of the interval around y, which names avoid too
    colour: str


def place_labels(axes: Axes, labels: Iterable[Label]) -> None:
    """Write names beside points, so that they cover neither each other nor the points.

    Each is in the free place nearest to its point. The axes must be laid out.
    """
    labels = sorted(labels, key=lambda label: -label.y)
    scale = 72 / axes.figure.dpi  # from pixels to points
    frame = np.array(axes.get_window_extent().extents) * scale

    def place(x: float, y: float) -> Floats:
        return np.asarray(axes.transData.transform((x, y)) * scale)

    taken = []  # boxes: left, bottom, right, top
    for label in labels:
        x, y = place(label.x, label.y)
        bar = 0.0 if math.isnan(label.half_width) else label.half_width
        low, high = (place(label.x, label.y + side * bar)[1] for side in (-1, 1))
        taken += [(x - 5, y - 5, x + 5, y + 5), (x - 1, low, x + 1, high)]
    for label in labels:
        boxes = _boxes(place(label.x, label.y), len(label.text) * _WIDTH)
        outside = len(label.text) * _WIDTH * _HEIGHT - _shared(boxes, frame[None])[:, 0]
        covered = _shared(boxes, np.array(taken)).sum(axis=1)
        costs = covered + 4 * outside + 0.5 * np.hypot(*_OFFSETS.T)
        best = int(np.argmin(costs.round(6)))  # of places that are alike, the first
        taken.append(tuple(boxes[best]))
        _write(axes, label, _OFFSETS[best])


def _boxes(point: Floats, width: float) -> Floats:
    """The boxes [n, 4] of a text at all offsets; it extends away from its point."""
    x, y = (point + _OFFSETS).T
    left = x - width * np.array([_SHARES_LEFT[_alignment(offset)] for offset in _OFFSETS])
    return np.stack([left, y - _HEIGHT / 2, left + width, y + _HEIGHT / 2], axis=1)


def _shared(boxes: Floats, others: Floats) -> Floats:
    """The area [n, m] that each of n boxes shares with each of m others."""
    low = np.maximum(boxes[:, None, :2], others[:, :2])
    high = np.minimum(boxes[:, None, 2:], others[:, 2:])
    return np.asarray((high - low).clip(0).prod(axis=2))


def _alignment(offset: Floats) -> str:
    if abs(offset[0]) < 1:
        return "center"
    return "left" if offset[0] > 0 else "right"


def _write(axes: Axes, label: Label, offset: Floats) -> None:
    far = float(np.hypot(*offset)) >= _FAR
    dark = tuple(0.75 * part for part in to_rgb(label.colour))  # light colours are hard to read
    axes.annotate(
        label.text,
        (label.x, label.y),
        tuple(offset),
        textcoords="offset points",
        ha=_alignment(offset),
        va="center",
        fontsize=_FONT_SIZE,
        color=dark,
        zorder=6,
        in_layout=False,
        path_effects=[withStroke(linewidth=2, foreground="white")],
        arrowprops={"arrowstyle": "-", "color": dark, "linewidth": 0.5} if far else None,
    )
