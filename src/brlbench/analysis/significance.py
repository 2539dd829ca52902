"""Is one agent better than another? Paired tests, their correction, and effect sizes.

Returns are arrays with one number per MDP, in the same order of MDPs; a result stands for its own.
"""

import math
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InvalidInput
from ..mdps.sparse import Floats
from ..values import BETWEEN_0_AND_1, check
from .scores import Interval, ReturnsLike, paired_differences, skewness

_NUMBERS_AT_ONCE = 2**16  # fits in a processor's cache


class ZTest(NamedTuple):
    """The outcome of a paired test of "the first is better than the second"."""

    z: float  # the mean difference in standard errors
    p_value: float  # Student's
    significant: bool


def paired_z_test(first: ReturnsLike, second: ReturnsLike, level: float = 0.95) -> ZTest:
    """Test whether the first returns are higher than the second, on the same MDPs.

    Give results rather than their returns: those of different experiments are then refused.
    The test is one-sided. Equal returns do not differ; a difference that is the same on every MDP
    is certain. The p-value is Student's, with one degree of freedom less than there are MDPs:
    standard errors are estimated too.
    """
    difference = paired_differences(first, second)
    check(level, "level", BETWEEN_0_AND_1)
    z = _z(difference)
    p_value = float(student_p_values(z, len(difference)))
    return ZTest(z, p_value, p_value < 1 - level)


def student_p_values(z: ArrayLike, num_mdps: ArrayLike) -> Floats:
    """The one-sided p-values of Z statistics, each of differences on two or more MDPs."""
    from scipy.special import stdtr

    return np.asarray(stdtr(np.asarray(num_mdps) - 1, -np.asarray(z, dtype=np.float64)))


def student_limits(level: float, num_mdps: ArrayLike) -> Floats:
    """The Z statistics above which differences are significant; infinite with fewer than 2 MDPs."""
    from scipy.special import stdtrit

    freedom = np.asarray(num_mdps, dtype=np.float64) - 1
    return np.asarray(np.where(freedom > 0, stdtrit(np.maximum(freedom, 1), level), math.inf))


class Probability(NamedTuple):
    """A probability, and the interval that it lies in with the given level of confidence."""

    value: float
    interval: Interval


def probability_better(first: ReturnsLike, second: ReturnsLike, level: float = 0.95) -> Probability:
    """The probability that the first agent has the higher return on a drawn MDP.

    It is estimated by the share of MDPs on which the first return is higher; equal returns count
    one half. Returns are as they were played, not adjusted. The interval is Wilson's, which is too
    wide rather than too narrow where returns are equal.
    """
    check(level, "level", BETWEEN_0_AND_1)
    difference = paired_differences(first, second, adjusted=False)
    share, number = float((np.sign(difference).mean() + 1) / 2), len(difference)
    limit = NormalDist().inv_cdf((1 + level) / 2)
    shrink = 1 + limit**2 / number
    middle = (share + limit**2 / (2 * number)) / shrink
    half = limit / shrink * math.sqrt(share * (1 - share) / number + (limit / (2 * number)) ** 2)
    return Probability(share, Interval(max(0.0, middle - half), min(1.0, middle + half)))


def cautious_p_value(differences: Floats) -> float:
    """The p-value of "their mean is above 0", careful with few or skewed differences.

    It is that of Student's t-test with two changes. One more difference counts, as far below 0 as
    any is from 0: what has not happened yet may be that large. And where differences are skewed
    towards large negative ones, Hall's transformation (1992) makes the statistic smaller.
    """
    guarded = np.append(differences, -np.abs(differences).max())
    deviation, number = float(guarded.std()), len(guarded)
    if deviation == 0:  # all are 0, or equal and negative
        return 1.0
    t = float(guarded.mean()) / deviation * math.sqrt(number - 1)
    skew = min(skewness(guarded), 0.0) / math.sqrt(number)
    return float(student_p_values(_corrected(t, skew), number))


def _corrected(t: float, skew: float) -> float:
    """Hall's transformation, which increases with t, of a t statistic with skewness / √n."""
    u = skew * t / 3
    return t * (1 + u + u**2 / 3) + skew / 6


def holm(p_values: ArrayLike) -> Floats:
    """Holm's adjusted p-values.

    If those below a level are called significant, the chance of any false positive is at most that
    level.
    """
    p = np.asarray(p_values, dtype=np.float64)
    if p.ndim != 1 or not ((p >= 0) & (p <= 1)).all():
        raise InvalidInput("p-values must be a list of numbers from 0 to 1")
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


def effect_size(first: ReturnsLike, second: ReturnsLike) -> float:
    """The mean paired difference in units of the differences' standard deviation."""
    difference = paired_differences(first, second)
    return _z(difference) / math.sqrt(len(difference))


def z_against(one: Floats, others: Floats) -> Floats:
    """The paired Z statistic [n] of one agent's returns [N] against each row of others [n, N].

    NaN stands for MDPs that an agent has not played; pairs with a NaN are dropped.
    """
    if len(one) < 2:
        return np.zeros(len(others))
    size = max(1, _NUMBERS_AT_ONCE // len(one))
    blocks = (others[first : first + size] for first in range(0, len(others), size))
    return np.concatenate([np.zeros(0), *(_z_against_some(one, block) for block in blocks)])


def _z_against_some(one: Floats, others: Floats) -> Floats:
    difference = one - others
    if np.isnan(difference).any():  # some played fewer MDPs
        return np.array([_z(row[~np.isnan(row)]) for row in difference])
    mean, deviation = difference.mean(axis=1), difference.std(axis=1, ddof=1)
    # Rounding can leave a constant with a tiny deviation.
    constant = deviation <= 1e-12 * np.abs(difference).max(axis=1)
    certain = np.where(mean == 0, 0.0, np.copysign(np.inf, mean))
    with np.errstate(divide="ignore", invalid="ignore"):
        z = mean / (deviation / math.sqrt(difference.shape[1]))
    return np.asarray(np.where(constant, certain, z))


def _z(difference: Floats) -> float:
    return float(z_against(difference, np.zeros((1, len(difference))))[0])
