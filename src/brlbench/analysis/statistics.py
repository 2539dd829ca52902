"""Scores and how sure they are: intervals, paired tests, corrections, effect sizes.

Everything takes arrays of returns, one number an MDP, in the same order of MDPs.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import between_0_and_1
from ..errors import InvalidInput
from ..mdps.sparse import Floats

FEW = 30  # with fewer MDPs than this, intervals and Z-tests are not to be trusted


class ZTest(NamedTuple):
    """The outcome of a paired Z-test of "the first is better than the second"."""

    z: float
    p_value: float
    significant: bool


class Interval(NamedTuple):
    """An interval that holds the true value with the given level of confidence."""

    low: float
    high: float


def paired_z_test(first: ArrayLike, second: ArrayLike, level: float = 0.95) -> ZTest:
    """Test whether the first returns are higher than the second, on the same MDPs.

    One-sided. Equal returns are not different, and a difference that is the same on every MDP is
    certain. The test is an approximation that wants 30 MDPs or more.
    """
    difference = _differences(first, second)
    between_0_and_1(level, "level")
    z = _z(difference)
    p_value = math.erfc(z / math.sqrt(2)) / 2
    return ZTest(z, p_value, p_value < 1 - level)


def permutation_test(
    first: ArrayLike, second: ArrayLike, rng: np.random.Generator, permutations: int = 10_000
) -> float:
    """The p-value of "the first is better": how often random signs give as large a difference.

    One-sided, and exact for any number of MDPs. The observed signs count as one permutation, so
    that the p-value is never zero.
    """
    difference = _differences(first, second)
    # Rounding must not make a permutation that equals the observed one look smaller.
    observed = difference.sum() - 1e-12 * np.abs(difference).sum()
    as_large = 1
    for start in range(0, permutations, 1000):
        rows = min(1000, permutations - start)
        signs = rng.integers(0, 2, size=(rows, len(difference)), dtype=np.int8) * 2.0 - 1.0
        as_large += int((signs @ difference >= observed).sum())
    return as_large / (permutations + 1)


def bootstrap_interval(
    first: ArrayLike,
    second: ArrayLike | None,
    rng: np.random.Generator,
    level: float = 0.95,
    resamples: int = 10_000,
) -> Interval:
    """A percentile interval of the mean return, or of the mean paired difference of two agents."""
    between_0_and_1(level, "level")
    numbers = np.asarray(first, dtype=np.float64) if second is None else _differences(first, second)
    means = np.empty(resamples)
    for start in range(0, resamples, 1000):
        rows = min(1000, resamples - start)
        chosen = rng.integers(0, len(numbers), size=(rows, len(numbers)))
        means[start : start + rows] = numbers[chosen].mean(axis=1)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high))


def holm(p_values: ArrayLike) -> Floats:
    """Holm's adjusted p-values: below a level, they keep the chance of any false positive there."""
    p = np.asarray(p_values, dtype=np.float64)
    if p.ndim != 1 or not ((p >= 0) & (p <= 1)).all():
        raise InvalidInput("p-values must be a list of numbers from 0 to 1")
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


def effect_size(first: ArrayLike, second: ArrayLike) -> float:
    """The mean paired difference in units of the differences' standard deviation."""
    difference = _differences(first, second)
    return _z(difference) / math.sqrt(len(difference))


def z_against(one: Floats, others: Floats) -> Floats:
    """The paired Z statistic [n] of one agent's returns [N] against each row of others [n, N]."""
    difference = one - others
    if difference.shape[1] < 2:
        return np.zeros(len(others))
    mean, deviation = difference.mean(axis=1), difference.std(axis=1, ddof=1)
    # The deviation of a constant is zero up to rounding only.
    constant = deviation <= 1e-12 * np.abs(difference).max(axis=1)
    certain = np.where(mean == 0, 0.0, np.copysign(np.inf, mean))
    with np.errstate(divide="ignore", invalid="ignore"):
        z = mean / (deviation / math.sqrt(difference.shape[1]))
    return np.asarray(np.where(constant, certain, z))


def normalised(score: float, random: float, optimal: float) -> float:
    """A score on the scale where the random agent has 0 and the optimal one 1."""
    if optimal == random:
        return math.nan
    return (score - random) / (optimal - random)


def few_mdps_warning(num_mdps: int) -> str | None:
    """A sentence if there are too few MDPs for intervals and tests to be trusted."""
    if num_mdps >= FEW:
        return None
    return f"only {num_mdps} MDPs: intervals and tests are approximations that want {FEW} or more"


def _differences(first: ArrayLike, second: ArrayLike) -> Floats:
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if a.shape != b.shape or a.ndim != 1 or len(a) < 2:
        raise InvalidInput(
            "a paired comparison needs two lists of returns on the same MDPs, at least two each: "
            f"got shapes {list(a.shape)} and {list(b.shape)}"
        )
    return np.asarray(a - b)


def _z(difference: Floats) -> float:
    return float(z_against(difference, np.zeros((1, len(difference))))[0])
