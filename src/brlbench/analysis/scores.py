"""Scores: their intervals, their scale, and whether there are enough MDPs.

Returns are arrays with one number per MDP.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import between_0_and_1
from ..errors import InvalidInput
from ..mdps.sparse import Floats

FEW = 30  # below this number of MDPs, intervals and Z-tests are unreliable


class Interval(NamedTuple):
    """An interval that holds the true value with the given level of confidence."""

    low: float
    high: float


def bootstrap_interval(
    first: ArrayLike,
    second: ArrayLike | None,
    rng: np.random.Generator,
    level: float = 0.95,
    resamples: int = 10_000,
) -> Interval:
    """A percentile interval of the mean return, or of the mean paired difference of two agents."""
    between_0_and_1(level, "level")
    numbers = (
        np.asarray(first, dtype=np.float64) if second is None else paired_differences(first, second)
    )
    means = []
    for rows in row_blocks(resamples, len(numbers)):
        chosen = rng.integers(0, len(numbers), size=(rows, len(numbers)))
        means.extend(numbers[chosen].mean(axis=1))
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high))


def row_blocks(rows: int, length: int) -> Iterator[int]:
    """Split rows of numbers into blocks that take little memory; return each block's rows."""
    size = min(1000, max(1, 10_000_000 // length))
    for start in range(0, rows, size):
        yield min(size, rows - start)


def paired_differences(first: ArrayLike, second: ArrayLike) -> Floats:
    """The first returns [N] minus the second, which must be on the same MDPs."""
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if a.shape != b.shape or a.ndim != 1 or len(a) < 2:
        raise InvalidInput(
            "a paired comparison needs two lists of returns on the same MDPs, at least two each: "
            f"got shapes {list(a.shape)} and {list(b.shape)}"
        )
    return np.asarray(a - b)


def normalised(score: float, random: float, optimal: float) -> float:
    """A score on the scale where the random agent has 0 and the optimal one 1."""
    if optimal == random:
        return math.nan
    return (score - random) / (optimal - random)


def few_mdps_warning(num_mdps: int) -> str | None:
    """A sentence if there are too few MDPs for reliable intervals and tests, else None."""
    if num_mdps >= FEW:
        return None
    return f"only {num_mdps} MDPs: intervals and tests are approximations that need {FEW} or more"
