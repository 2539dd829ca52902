"""Logarithmic axes for times, which may be zero."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

from matplotlib.axes import Axes
from matplotlib.ticker import EngFormatter, FuncFormatter, LogLocator, NullLocator

_MARGIN = 2.0  # factor by which an axis exceeds the least and the greatest time
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
        """Where a time is drawn."""
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
