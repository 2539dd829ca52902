"""Writes names beside points, so that they cover neither each other nor the points."""

import math
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.patheffects import withStroke

_SIZE = 8.0  # of the text, in points
_WIDTH, _HEIGHT = 0.56 * _SIZE, 1.2 * _SIZE  # of a character, roughly
_FAR = 14.0  # points; from this distance on a line joins name and point


class Label(NamedTuple):
    """A name and the point that it belongs to, in data coordinates."""

    text: str
    x: float
    y: float
    half_width: float  # of the interval around y, which names avoid too
    colour: str


class _Box(NamedTuple):
    """A rectangle, in points."""

    left: float
    bottom: float
    right: float
    top: float

    def shared_with(self, other: "_Box") -> float:
        width = min(self.right, other.right) - max(self.left, other.left)
        height = min(self.top, other.top) - max(self.bottom, other.bottom)
        return max(width, 0.0) * max(height, 0.0)

    def outside(self, other: "_Box") -> float:
        area = (self.right - self.left) * (self.top - self.bottom)
        return area - self.shared_with(other)


def place_labels(axes: Axes, labels: Iterable[Label]) -> None:
    """Write the names, each in the free place nearest to its point; the axes must be laid out."""
    labels = sorted(labels, key=lambda label: -label.y)
    scale = 72 / axes.figure.dpi
    frame = _Box(*(edge * scale for edge in axes.get_window_extent().extents))

    def place(x: float, y: float) -> tuple[float, float]:
        across, up = axes.transData.transform((x, y)) * scale
        return float(across), float(up)

    taken = []
    for label in labels:
        x, y = place(label.x, label.y)
        bar = 0.0 if math.isnan(label.half_width) else label.half_width
        taken.append(_Box(x - 5, y - 5, x + 5, y + 5))
        taken.append(
            _Box(x - 1, place(label.x, label.y - bar)[1], x + 1, place(label.x, label.y + bar)[1])
        )
    for label in labels:
        x, y = place(label.x, label.y)
        boxes = {offset: _box(x, y, offset, len(label.text)) for offset in _offsets()}
        best = min(boxes, key=lambda offset: _cost(offset, boxes[offset], taken, frame))
        taken.append(boxes[best])
        _write(axes, label, best)


def _cost(offset: tuple[float, float], box: _Box, taken: list[_Box], frame: _Box) -> float:
    covered = sum(box.shared_with(other) for other in taken)
    return covered + 4 * box.outside(frame) + 0.5 * math.hypot(*offset)


def _offsets() -> Iterator[tuple[float, float]]:
    """Offsets around a point, the near ones first, in points."""
    for radius in (8, 14, 22, 32, 44):
        for turn in range(16):
            angle = math.pi * turn / 8
            yield radius * math.cos(angle), radius * math.sin(angle)


def _box(x: float, y: float, offset: tuple[float, float], length: int) -> _Box:
    """The box of a text that extends from its place away from the point."""
    x, y, width = x + offset[0], y + offset[1], length * _WIDTH
    left = x - width * {-1: 1.0, 0: 0.5, 1: 0.0}[_side(offset)]
    return _Box(left, y - _HEIGHT / 2, left + width, y + _HEIGHT / 2)


def _side(offset: tuple[float, float]) -> int:
    return 0 if abs(offset[0]) < 1 else int(math.copysign(1, offset[0]))


def _write(axes: Axes, label: Label, offset: tuple[float, float]) -> None:
    far = math.hypot(*offset) >= _FAR
    dark = tuple(0.75 * part for part in to_rgb(label.colour))  # light colours are hard to read
    axes.annotate(
        label.text,
        (label.x, label.y),
        offset,
        textcoords="offset points",
        ha={-1: "right", 0: "center", 1: "left"}[_side(offset)],
        va="center",
        fontsize=_SIZE,
        color=dark,
        zorder=6,
        in_layout=False,
        path_effects=[withStroke(linewidth=2, foreground="white")],
        arrowprops={"arrowstyle": "-", "color": dark, "linewidth": 0.5} if far else None,
    )
