"""The extremes of many draws from one Beta distribution, without drawing them all.

The least and the greatest of K uniform numbers are easy to draw. The Beta quantiles of these two
are the extremes of K Beta variates.

Notation: I is the distribution function of Beta(a, b), x is a probability and l = log(x / (1 - x)).
"""

import math

from ..jit import cold, inlined
from ..types import Words
from .rng import uniform

_CHANGE = 1e-13
_MAX_STEPS = 100
_TINY = 1e-300


@cold
def draw_extremes(rng: Words, a: float, b: float, draws: int) -> tuple[float, float]:
    """The least and the greatest of two or more draws from Beta(a, b)."""
    above = -math.expm1(math.log(1 - uniform(rng)) / draws)
    below = -math.expm1(math.log(1 - uniform(rng)) / (draws - 1)) * (1 - above)
    return quantile(a, b, below), 1 - quantile(b, a, above)


@cold
def quantile(a: float, b: float, chance: float) -> float:
    """The x with I(x) = chance.

    Newton's method on log I as a function of l. It is increasing and concave, so from the second
    step on the root is approached from below.
    """
    if chance <= 0:
        return 0.0
    if a == 1.0:
        return -math.expm1(math.log1p(-chance) / b)
    if b == 1.0:
        return math.exp(math.log(chance) / a)
    log_beta = math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
    log_chance = math.log(chance)
    # Close to zero I(x) is x^a / (a B(a, b)).
    log_x = min((log_chance + math.log(a) + log_beta) / a, math.log(a / (a + b)))
    logit = log_x - math.log(-math.expm1(log_x))
    for _ in range(_MAX_STEPS):
        log_cdf, slope = _log_cdf(a, b, log_beta, logit)
        step = (log_chance - log_cdf) / slope
        logit += step
        if abs(step) < _CHANGE * (1 + abs(logit)):
            break
    return 1 / (1 + math.exp(-logit)) if logit > -700 else 0.0


@inlined
def _log_cdf(a: float, b: float, log_beta: float, logit: float) -> tuple[float, float]:
    """The logarithm of I, and its derivative by l."""
    log_x = -math.log1p(math.exp(-logit)) if logit > -700 else logit
    log_rest = -math.log1p(math.exp(logit)) if logit < 700 else -logit
    log_density = a * log_x + b * log_rest - log_beta  # of l
    x = math.exp(log_x)
    if x < (a + 1) / (a + b + 2):
        log_cdf = log_density + math.log(_fraction(a, b, x) / a)
    else:
        rest = math.exp(log_density) * _fraction(b, a, math.exp(log_rest)) / b
        log_cdf = math.log1p(-min(rest, 1 - 1e-15))
    return log_cdf, math.exp(log_density - log_cdf)


@cold
def _fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta function, by Lentz's method."""
    c = 1.0
    d = 1 / _away(1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, 10_000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d = 1 / _away(1 + even * d)
        c = _away(1 + even / c)
        value *= d * c
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        d = 1 / _away(1 + odd * d)
        c = _away(1 + odd / c)
        value *= d * c
        if abs(d * c - 1) < 1e-15:
            break
    return value


@inlined
def _away(number: float) -> float:
    """The number, or a tiny one in place of a zero to divide by."""
    return number if abs(number) > _TINY else _TINY
