"""Axes: logarithmic ones for times, which may be zero, and ticks that keep apart."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

from matplotlib.axes import Axes
from matplotlib.ticker import EngFormatter, FixedLocator, FuncFormatter, LogLocator, NullLocator

_MARGIN = 2.0  # factor by which an axis exceeds the least and the greatest time
_APART = 3.0  # pixels between tick labels
_engineering = EngFormatter(unit="s", sep=" ")


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


def keep_ticks_apart(axes: Axes) -> None:
    """Leave out as many ticks as it takes to keep their labels apart; the axes must be drawn."""
    for axis, side in ((axes.xaxis, 0), (axes.yaxis, 1)):
        ticks = sorted(
            (tuple(tick.label1.get_window_extent().get_points()[:, side]), tick.get_loc())
            for tick in axis.get_major_ticks()
            if tick.label1.get_text() and _is_within(tick.get_loc(), axis.get_view_interval())
        )
        for step in range(1, len(ticks)):
            some = ticks[::step]
            if all(after[0] - before[1] >= _APART for (before, _), (after, _) in pairwise(some)):
                break
        if len(ticks) > 1 and len(some) < len(ticks):
            axis.set_major_locator(FixedLocator([place for _, place in some]))


def _is_within(place: float, limits: Sequence[float]) -> bool:
    return bool(min(limits) <= place <= max(limits))


def _tick(seconds: float, _position: int, zero: float | None) -> str:
    if zero is not None and seconds <= zero:
        return "0" if seconds == zero else ""
    return f"{seconds:.0f} s" if seconds >= 1000 else _engineering(seconds)
