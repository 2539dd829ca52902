"""One number for several experiments: aggregates of normalised returns, with 95% intervals.

The definitions are those of Agarwal et al., *Deep Reinforcement Learning at the Edge of the
Statistical Precipice* (2021). A task is here an experiment, and a run is one MDP.

`scores` has one array [n_k] per experiment: its normalised returns, one per MDP (see
`normalised_returns`). Experiments weigh the same, whatever their numbers of MDPs.

Intervals come from the stratified bootstrap. A resample draws the MDPs of each experiment with
replacement, and intervals are percentiles of the statistic over all resamples; those of means are
corrected for skewness (BCa; Efron, 1987). They say what other MDPs of the same experiments would
change, not what other experiments would. The same seed draws the same MDPs for every agent and
every statistic.

Deviations:
- The interquartile mean is taken within each experiment, then averaged over experiments. The paper
  pools all runs and cuts a quarter of the pool at each end: experiments whose returns spread widely
  lose most of theirs, and hardly count.
- Agents play the same MDPs, so two agents are compared MDP by MDP. The paper compares each run of
  the one with all runs of the other.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .. import streams
from ..errors import InvalidInput
from ..kernels.types import ShortIntegers
from ..mdps.sparse import Floats
from ..values import BETWEEN_0_AND_1, COUNT, check
from .scores import row_blocks, times_drawn

_NUMBERS_AT_ONCE = 2**17  # fits in a processor's cache
_MOST_CACHED = 2**24  # numbers of resamples that are cached for the next statistic
_EQUAL = 1e-12  # means of equal scores can differ by rounding

Statistic = Callable[[Floats], Floats]
"""A statistic [rows, C] of the weights [rows, N] of all MDPs, those of one experiment together."""


class Estimate(NamedTuple):
    """A statistic and its interval."""

    value: float
    low: float
    high: float


def mean_score(
    scores: Sequence[ArrayLike], seed: int = 0, resamples: int = 2000, level: float = 0.95
) -> Estimate:
    """The mean of the experiments' mean normalised returns."""
    arrays = _checked(scores)
    return _estimate_of_means(arrays, np.concatenate(arrays), seed, resamples, level)


def optimality_gap(
    scores: Sequence[ArrayLike],
    target: float = 1.0,
    seed: int = 0,
    resamples: int = 2000,
    level: float = 0.95,
) -> Estimate:
    """The mean shortfall of returns below a target; those above it count zero. Less is better."""
    if not np.isfinite(target):
        raise InvalidInput(f"target = {target}: must be a finite number")
    arrays = _checked(scores)
    missing = np.maximum(target - np.concatenate(arrays), 0.0)
    return _estimate_of_means(arrays, missing, seed, resamples, level)


def interquartile_mean(
    scores: Sequence[ArrayLike], seed: int = 0, resamples: int = 2000, level: float = 0.95
) -> Estimate:
    """The mean of the experiments' interquartile means, each of the middle half of its returns.

    Of the n returns of an experiment, ⌊n/4⌋ are cut at each end, as in `scipy.stats.trim_mean`.
    """
    arrays = _checked(scores)
    ends = np.cumsum([len(each) for each in arrays])[:-1]

    def middle(weights: Floats) -> Floats:
        parts = zip(np.split(weights, ends, axis=1), arrays, strict=True)
        means = [_middle(len(arrays) * part, numbers) for part, numbers in parts]
        return np.asarray(np.mean(means, axis=0)[:, None])

    return _estimates(arrays, middle, seed, resamples, level)[0]


def _middle(weights: Floats, numbers: Floats) -> Floats:
    """The interquartile means [rows] of numbers [n] with weights [rows, n] that sum to 1."""
    order, cut = np.argsort(numbers), len(numbers) // 4 / len(numbers)
    left = np.diff(np.clip(_cumulated(weights[:, order]), cut, 1 - cut), axis=1)
    return np.asarray(_sums(left, numbers[order][None, :])[:, 0] / (1 - 2 * cut))


def performance_profile(
    scores: Sequence[ArrayLike],
    thresholds: ArrayLike,
    seed: int = 0,
    resamples: int = 2000,
    level: float = 0.95,
) -> tuple[Floats, Floats, Floats]:
    """The share of normalised returns above each threshold, and the ends of its interval.

    Intervals are for one threshold at a time. Where all returns are on one side, they have no
    width.

    Returns:
        The shares [T], the low ends [T] and the high ends [T].
    """
    arrays = _checked(scores)
    limits = _finite(thresholds, "thresholds")
    numbers = np.concatenate(arrays)
    order = np.argsort(numbers)
    places = np.searchsorted(numbers[order], limits, side="right")

    def above(weights: Floats) -> Floats:
        cumulated = _cumulated(weights[:, order])
        return np.asarray(cumulated[:, -1:] - cumulated[:, places])

    shares, low, high = np.array(_estimates(arrays, above, seed, resamples, level)).T
    return shares, low, high


def probability_of_improvement(
    one: Sequence[ArrayLike],
    other: Sequence[ArrayLike],
    seed: int = 0,
    resamples: int = 2000,
    level: float = 0.95,
) -> Estimate:
    """The probability that one agent has a higher return than the other on the same MDP.

    It is estimated by the share of MDPs where that is so, the mean over experiments. Equal returns
    count one half. Resamples draw MDPs with the returns of both agents.
    """
    first, second = _checked_pairs([one, other])
    better = (np.sign(np.concatenate(first) - np.concatenate(second)) + 1) / 2
    return _estimate_of_means(first, better, seed, resamples, level)


def rank_intervals(
    scores_by_agent: Sequence[Sequence[ArrayLike]],
    seed: int = 0,
    resamples: int = 2000,
    level: float = 0.95,
) -> list[Estimate]:
    """The rank of each agent's mean score; 1 is the best, and agents with equal means share ranks.

    Resamples draw MDPs with the returns of all agents. An interval holds the ranks of at least
    `level` of the resamples.
    """
    agents = _checked_pairs(scores_by_agent)
    table = np.stack([np.concatenate(arrays) for arrays in agents])  # [n, N]

    def ranks(weights: Floats) -> Floats:
        return np.stack([_ranks(means) for means in _sums(weights, table)])

    return _estimates(agents[0], ranks, seed, resamples, level, method="inverted_cdf")


def _ranks(means: Floats) -> Floats:
    """The ranks [n] of means: the highest has rank 1, and equal ones share theirs."""
    ordered = np.sort(means)
    worse = np.searchsorted(ordered, means - _EQUAL, side="left")
    better = len(means) - np.searchsorted(ordered, means + _EQUAL, side="right")
    return np.asarray((better - worse + len(means) + 1) / 2)


def _estimate_of_means(
    arrays: Sequence[Floats], numbers: Floats, seed: int, resamples: int, level: float
) -> Estimate:
    """The mean over experiments of the mean of numbers [N], one per MDP."""

    def mean(weights: Floats) -> Floats:
        return _sums(weights, numbers[None, :])

    return _estimates(arrays, mean, seed, resamples, level, _skewness(arrays, numbers))[0]


def _skewness(arrays: Sequence[Floats], numbers: Floats) -> float:
    """The skewness of the mean over experiments of the mean of numbers [N], one per MDP."""
    ends = np.cumsum([len(each) for each in arrays])[:-1]
    centred = [each - each.mean() for each in np.split(numbers, ends)]
    # Any scale will do; on this one, powers are neither too large nor too small for a float.
    _, exponent = np.frexp(max(np.abs(each).max() for each in centred))
    centred = [np.ldexp(each, -exponent) for each in centred]
    variance = sum(float((each**2).sum()) / len(each) ** 2 for each in centred)
    third = sum(float((each**3).sum()) / len(each) ** 3 for each in centred)
    return third / variance**1.5 if variance > 0 else 0.0


def _sums(weights: Floats, table: Floats) -> Floats:
    """The weighted sums [rows, C] of the table's rows [C, N]; the same on any number of cores."""
    return np.asarray(np.einsum("rn,cn->rc", weights, table))


def _cumulated(weights: Floats) -> Floats:
    """The sums [rows, N + 1] of the weights before each place; the last is of all."""
    sums = np.zeros((len(weights), weights.shape[1] + 1))
    np.cumsum(weights, axis=1, out=sums[:, 1:])
    return sums


def _estimates(
    arrays: Sequence[Floats],
    statistic: Statistic,
    seed: int,
    resamples: int,
    level: float,
    skewness: float | None = None,
    method: Literal["weibull", "inverted_cdf"] = "weibull",  # exact tails with few resamples too
) -> list[Estimate]:
    """Estimates [C] of a statistic; if its skewness is given, intervals are corrected for it."""
    check(level, "level", BETWEEN_0_AND_1)
    check(resamples, "resamples", COUNT)
    sizes = np.array([len(each) for each in arrays])
    weights = np.repeat(1 / (len(sizes) * sizes), sizes)  # [N]
    blocks = _resamples(tuple(sizes.tolist()), seed, resamples)
    again = np.concatenate([statistic(weights * times) for times in blocks])
    value = statistic(weights[None, :])[0]
    ends = ((1 - level) / 2, (1 + level) / 2)
    if skewness is not None:
        ends = _corrected(ends, again[:, 0], value[0], skewness)
    low, high = np.quantile(again, ends, axis=0, method=method)
    return [Estimate(*map(float, each)) for each in zip(value, low, high, strict=True)]


def _corrected(
    ends: tuple[float, float], again: Floats, value: float, skewness: float
) -> tuple[float, float]:
    """The percentiles that are the ends of a BCa interval, instead of those of a symmetric one."""
    from scipy.special import ndtr, ndtri

    tied = np.abs(again - value) <= _EQUAL
    below = float(((again < value) & ~tied).mean() + tied.mean() / 2)
    if not 0 < below < 1:
        return ends
    bias = ndtri(below)
    shifted = bias + ndtri(np.array(ends))
    low, high = ndtr(bias + shifted / (1 - skewness / 6 * shifted))
    return float(low), float(high)


def _resamples(sizes: tuple[int, ...], seed: int, resamples: int) -> Iterable[ShortIntegers]:
    """The number of draws of each MDP in some of the resamples, [rows, N]."""
    few = sum(sizes) * resamples <= _MOST_CACHED
    return _cached_resamples(sizes, seed, resamples) if few else _draw(sizes, seed, resamples)


@lru_cache(maxsize=4)
def _cached_resamples(sizes: tuple[int, ...], seed: int, resamples: int) -> list[ShortIntegers]:
    """The resamples of all statistics with the same seed, on as many MDPs."""
    return list(_draw(sizes, seed, resamples))


def _draw(sizes: tuple[int, ...], seed: int, resamples: int) -> Iterator[ShortIntegers]:
    rng = streams.generator("aggregates", seed)
    ends = np.cumsum(sizes).tolist()
    small = np.uint16 if max(sizes) <= 2**16 else np.int64  # quicker to draw
    for rows in row_blocks(resamples, ends[-1], _NUMBERS_AT_ONCE):
        places = np.empty((rows, ends[-1]), dtype=np.int64)
        for size, end in zip(sizes, ends, strict=True):
            start = end - size
            # In a small type, the places of many MDPs would wrap around.
            places[:, start:end] = rng.integers(0, size, (rows, size), small)
            places[:, start:end] += start
        yield times_drawn(places).astype(np.int32)


def _checked(scores: Sequence[ArrayLike], name: str = "scores") -> list[Floats]:
    """The scores as arrays, one per experiment."""
    arrays = [_finite(each, f"{name}[{number}]") for number, each in enumerate(scores)]
    if not arrays:
        raise InvalidInput(f"{name} is empty: must have an array of returns per experiment")
    return arrays


def _finite(numbers: ArrayLike, name: str) -> Floats:
    """An array [n] of finite numbers, at least one."""
    array = np.asarray(numbers, dtype=np.float64)
    if array.ndim != 1 or not len(array):
        raise InvalidInput(f"{name} has shape {list(array.shape)}: must be a list of numbers")
    wrong = np.flatnonzero(~np.isfinite(array))
    if len(wrong):
        raise InvalidInput(f"{name}[{wrong[0]}] = {array[wrong[0]]}: must be a finite number")
    return array


def _checked_pairs(scores_by_agent: Sequence[Sequence[ArrayLike]]) -> list[list[Floats]]:
    """The scores of each agent as arrays, all on the same MDPs."""
    agents = [_checked(scores, f"agent {i}: scores") for i, scores in enumerate(scores_by_agent)]
    if not agents:
        raise InvalidInput("there are no agents to rank: must have the scores of at least one")
    sizes = [[len(each) for each in arrays] for arrays in agents]
    for number, other in enumerate(sizes):
        if other != sizes[0]:
            raise InvalidInput(
                f"agents 0 and {number} have returns on {sizes[0]} and {other} MDPs per "
                "experiment: must be the same MDPs"
            )
    return agents
