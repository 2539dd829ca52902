"""The score of an agent: its mean return, with the interval around it."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike


class Score(NamedTuple):
    """A mean return and the half-width of its 95% interval."""

    mean: float
    ci95: float

    @classmethod
    def of(cls, returns: ArrayLike) -> "Score":
        """The score of returns [N], one per MDP; the interval of a single return is NaN."""
        numbers = np.asarray(returns, dtype=np.float64)
        return cls(float(numbers.mean()), ci95(numbers))

    def no_narrower(self, half_width: float) -> "Score":
        """The score with an interval of at least this half-width."""
        return self._replace(ci95=max(self.ci95, half_width))

    def __str__(self) -> str:
        """The mean and its interval, with two decimals or as many as the interval needs."""
        mean, half_width = self
        if math.isnan(half_width):  # of a single MDP
            return f"{mean:.2f}"
        small = 1e-9 * abs(mean) < half_width < 0.01  # a smaller width is a rounding error
        decimals = min(9, 1 - math.floor(math.log10(half_width))) if small else 2
        return f"{mean:.{decimals}f} ± {half_width:.{decimals}f}"


def ci95(returns: ArrayLike) -> float:
    """The half-width of the 95% interval of a mean, two standard errors; NaN for one number."""
    numbers = np.asarray(returns, dtype=np.float64)
    if len(numbers) < 2:
        return math.nan
    return float(2 * numbers.std(ddof=1) / math.sqrt(len(numbers)))
