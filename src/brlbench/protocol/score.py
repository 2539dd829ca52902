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


def ci95(returns: ArrayLike) -> float:
    """The half-width of the 95% interval of a mean, two standard errors; NaN for one number."""
    numbers = np.asarray(returns, dtype=np.float64)
    if len(numbers) < 2:
        return math.nan
    return float(2 * numbers.std(ddof=1) / math.sqrt(len(numbers)))
