"""Means, intervals and paired tests."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InvalidInput


class ZTest(NamedTuple):
    """The outcome of a paired Z-test of "the first is better than the second"."""

    z: float
    p_value: float
    significant: bool


def ci95(returns: ArrayLike) -> float:
    """The half-width of the 95% interval of the mean, two standard errors; NaN for one number."""
    numbers = np.asarray(returns, dtype=np.float64)
    if len(numbers) < 2:
        return math.nan
    return float(2 * numbers.std(ddof=1) / math.sqrt(len(numbers)))


def paired_z_test(first: ArrayLike, second: ArrayLike, level: float = 0.95) -> ZTest:
    """Test whether the first returns are higher than the second, on the same MDPs.

    One-sided. Equal returns are not different, and a difference that is the same on every MDP is
    certain. The test is an approximation that wants 30 MDPs or more.
    """
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if a.shape != b.shape or a.ndim != 1 or len(a) < 2:
        raise InvalidInput(
            f"a paired test needs two lists of returns on the same MDPs, at least two each: "
            f"got shapes {list(a.shape)} and {list(b.shape)}"
        )
    if not 0 < level < 1:
        raise InvalidInput(f"level = {level}: must be between 0 and 1, both excluded")
    difference = a - b
    mean, deviation = float(difference.mean()), float(difference.std(ddof=1))
    if deviation == 0:
        z = math.copysign(math.inf, mean) if mean else 0.0
    else:
        z = mean / (deviation / math.sqrt(len(a)))
    p_value = math.erfc(z / math.sqrt(2)) / 2
    return ZTest(z, p_value, p_value < 1 - level)
