"""One number for several experiments: aggregates of normalised returns, with 95% intervals.

The definitions are those of Agarwal et al., *Deep Reinforcement Learning at the Edge of the
Statistical Precipice* (2021). A task is here an experiment, and a run is one MDP.

`scores` has one array [n_k] per experiment: its normalised returns, one per MDP (see
`normalised_returns`). Experiments weigh the same, whatever their numbers of MDPs.

Intervals come from the stratified bootstrap. A resample draws the MDPs of each experiment with
replacement, and intervals are percentiles of the statistic over all resamples; those of means are
corrected for skewness (BCa; Efron, 1987). They say what other MDPs of the same experiments would
change, not what other experiments would. The same seed draws the same MDPs for every agent and
every statistic, so a statistic of an experiment is resampled once (`Resamples`), whichever other
experiments it is averaged with.

Deviations:
- The interquartile mean is taken within each experiment, then averaged over experiments. The paper
  pools all runs and cuts a quarter of the pool at each end: experiments whose returns spread widely
  lose most of theirs, and hardly count.
- Agents play the same MDPs, so two agents are compared MDP by MDP. The paper compares each run of
  the one with all runs of the other.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import streams
from ..errors import InvalidInput
from ..mdps.sparse import Floats, Integers
from ..values import BETWEEN_0_AND_1, COUNT, check
from .scores import row_blocks, times_drawn, weighted_sums

_NUMBERS_AT_ONCE = 2**17  # fits in a processor's cache
_MOST_CACHED = 2**21  # draws of an experiment that are cached for the next statistic
_EQUAL = 1e-12  # means of equal scores can differ by rounding

Times = NDArray[np.unsignedinteger]
"""The number of draws of each MDP in some resamples, [rows, n]."""


class Estimate(NamedTuple):
    """A statistic and its interval."""

    value: float
    low: float
    high: float


class Moments(NamedTuple):
    """The second and third central moments of a mean, in units of powers of 2**exponent.

    In these units, powers are neither too large nor too small for a float.
    """

    exponent: int
    second: float
    third: float

    @classmethod
    def of_mean(cls, numbers: Floats) -> "Moments":
        """The moments of the mean of numbers [n]."""
        centred = numbers - numbers.mean()
        _, exponent = np.frexp(np.abs(centred).max())
        centred = np.ldexp(centred, -exponent)
        second, third = (float((centred**k).sum()) / len(centred) ** k for k in (2, 3))
        return cls(int(exponent), second, third)


class Statistic(NamedTuple):
    """A statistic of one experiment, and its values in all resamples of the MDPs."""

    values: Floats  # [1 + resamples, C]; the first row is of the MDPs themselves
    moments: Sequence[Moments] = ()  # of means, C of them


@dataclass(frozen=True)
class Resamples:
    """Resamples of the MDPs of experiments, the same for all agents and statistics.

    `number` tells experiments apart, whose resamples are independent of each other.
    """

    count: int = 2000
    seed: int = 0

    def __post_init__(self) -> None:
        """Check the number of resamples."""
        check(self.count, "resamples", COUNT)

    def means(self, number: int, table: Floats) -> Statistic:
        """The mean of each row of a table [C, n]."""
        sums = self._apply(number, table.shape[1], lambda times: weighted_sums(times, table))
        return Statistic(sums / table.shape[1], [Moments.of_mean(row) for row in table])

    def interquartile_mean(self, number: int, numbers: Floats) -> Statistic:
        """The mean of the middle half of numbers [n]."""
        order, cut = np.argsort(numbers), len(numbers) // 4
        ordered = numbers[order][None, :]
        rest = len(numbers) - 2 * cut

        def middle(times: Times) -> Floats:
            kept = np.diff(np.clip(_cumulated(times[:, order]), cut, len(numbers) - cut), axis=1)
            return weighted_sums(kept, ordered) / rest

        return Statistic(self._apply(number, len(numbers), middle))

    def shares_above(self, number: int, numbers: Floats, limits: Floats) -> Statistic:
        """The share of numbers [n] above each limit [C]."""
        order = np.argsort(numbers)
        places = np.searchsorted(numbers[order], limits, side="right")

        def above(times: Times) -> Floats:
            return 1 - _cumulated(times[:, order])[:, places] / len(numbers)

        return Statistic(self._apply(number, len(numbers), above))

    def _apply(self, number: int, size: int, function: Callable[[Times], Floats]) -> Floats:
        """A function [rows, C] of the MDPs of an experiment, then of all resamples of them."""
        blocks = _resamples(number, size, self.seed, self.count)
        once = np.ones((1, size), dtype=np.uint16)
        return np.concatenate([function(once), *map(function, blocks)])


def mean_score(
    scores: Sequence[ArrayLike], seed: int = 0, resamples: int = 2000, level: float = 0.95
) -> Estimate:
    """The mean of the experiments' mean normalised returns."""
    return _estimate_of_means(_checked(scores), Resamples(resamples, seed), level)


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
    gaps = [shortfall(each, target) for each in _checked(scores)]
    return _estimate_of_means(gaps, Resamples(resamples, seed), level)


def shortfall(numbers: Floats, target: float = 1.0) -> Floats:
    """The distance [n] of each number below a target."""
    return np.maximum(target - numbers, 0.0)


def interquartile_mean(
    scores: Sequence[ArrayLike], seed: int = 0, resamples: int = 2000, level: float = 0.95
) -> Estimate:
    """The mean of the experiments' interquartile means, each of the middle half of its returns.

    Of the n returns of an experiment, ⌊n/4⌋ are cut at each end, as in `scipy.stats.trim_mean`.
    """
    again = Resamples(resamples, seed)
    statistics = [again.interquartile_mean(*each) for each in enumerate(_checked(scores))]
    return estimates(statistics, level)[0]


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
    arrays, limits = _checked(scores), _finite(thresholds, "thresholds")
    again = Resamples(resamples, seed)
    statistics = [again.shares_above(*each, limits) for each in enumerate(arrays)]
    shares, low, high = np.array(estimates(statistics, level)).T
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
    pairs = [improved(*each) for each in zip(first, second, strict=True)]
    return _estimate_of_means(pairs, Resamples(resamples, seed), level)


def improved(one: Floats, other: Floats) -> Floats:
    """1 where one [n] is above the other [n], 0 where it is below, and one half where equal."""
    return np.asarray((np.sign(one - other) + 1) / 2)


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
    agents, again = _checked_pairs(scores_by_agent), Resamples(resamples, seed)
    tables = map(np.stack, zip(*agents, strict=True))  # [n, N] per experiment
    return rank_estimates([again.means(*each) for each in enumerate(tables)], level)


def rank_estimates(statistics: Sequence[Statistic], level: float = 0.95) -> list[Estimate]:
    """The rank of each column by the mean over experiments."""
    ranks = _ranks(_mean_over_experiments(statistics))
    return estimates([Statistic(ranks)], level, "inverted_cdf")


def _ranks(means: Floats) -> Floats:
    """The ranks [rows, n] in each row: the highest has rank 1, and equal ones share theirs."""
    order = np.argsort(means, axis=1)
    ordered = np.take_along_axis(means, order, axis=1)
    places = np.arange(means.shape[1])
    # Places where a run of equal means starts, and where it ends.
    starts = np.diff(ordered, axis=1, prepend=-np.inf) > _EQUAL
    ends = np.roll(starts, -1, axis=1)
    first = np.maximum.accumulate(np.where(starts, places, 0), axis=1)
    last = np.where(ends, places, means.shape[1])[:, ::-1]
    shared = (first + np.minimum.accumulate(last, axis=1)[:, ::-1]) / 2
    ranks = np.empty_like(means)
    np.put_along_axis(ranks, order, means.shape[1] - shared, axis=1)
    return ranks


def _estimate_of_means(arrays: Sequence[Floats], again: Resamples, level: float) -> Estimate:
    """The mean over experiments of the mean of numbers, one array per experiment."""
    statistics = [again.means(k, numbers[None, :]) for k, numbers in enumerate(arrays)]
    return estimates(statistics, level)[0]


def estimates(
    statistics: Sequence[Statistic],
    level: float = 0.95,
    method: Literal["weibull", "inverted_cdf"] = "weibull",  # exact tails with few resamples too
) -> list[Estimate]:
    """Estimates [C] of the mean of a statistic over experiments.

    The intervals of means are corrected for skewness.
    """
    check(level, "level", BETWEEN_0_AND_1)
    values = _mean_over_experiments(statistics)
    value, again = values[0], values[1:]
    ends = np.array([(1 - level) / 2, (1 + level) / 2])
    if not statistics[0].moments:
        low, high = np.quantile(again, ends, axis=0, method=method)
    else:
        moments = zip(*(each.moments for each in statistics), strict=True)
        columns = zip(again.T, value, map(_skewness, moments), strict=True)
        low, high = np.transpose(
            [
                np.quantile(column, _corrected(ends, column, *each), method=method)
                for column, *each in columns
            ]
        )
    return [Estimate(*map(float, each)) for each in zip(value, low, high, strict=True)]


def _mean_over_experiments(statistics: Sequence[Statistic]) -> Floats:
    return np.asarray(sum(each.values / len(statistics) for each in statistics))


def _skewness(moments: Sequence[Moments]) -> float:
    """The skewness of a sum of independent means."""
    largest = max(each.exponent for each in moments)
    second = sum(np.ldexp(each.second, 2 * (each.exponent - largest)) for each in moments)
    third = sum(np.ldexp(each.third, 3 * (each.exponent - largest)) for each in moments)
    return float(third / second**1.5) if second > 0 else 0.0


def _corrected(ends: Floats, again: Floats, value: float, skewness: float) -> Floats:
    """The percentiles that are the ends of a BCa interval, instead of those of a symmetric one."""
    from scipy.special import ndtr, ndtri

    tied = np.abs(again - value) <= _EQUAL
    below = float(((again < value) & ~tied).mean() + tied.mean() / 2)
    if not 0 < below < 1:
        return ends
    bias = ndtri(below)
    shifted = bias + ndtri(ends)
    return np.asarray(ndtr(bias + shifted / (1 - skewness / 6 * shifted)))


def _cumulated(times: Times) -> Integers:
    """The sums [rows, n + 1] of the draws before each place; the last is of all."""
    sums = np.zeros((len(times), times.shape[1] + 1), dtype=np.int64)
    np.cumsum(times, axis=1, out=sums[:, 1:])
    return sums


def _resamples(number: int, size: int, seed: int, resamples: int) -> Iterable[Times]:
    """The number of draws of each MDP in the resamples of an experiment, in blocks."""
    few = size * resamples <= _MOST_CACHED
    return (_cached_resamples if few else _draw)(number, size, seed, resamples)


@lru_cache(maxsize=128)
def _cached_resamples(number: int, size: int, seed: int, resamples: int) -> list[Times]:
    return list(_draw(number, size, seed, resamples))


def _draw(number: int, size: int, seed: int, resamples: int) -> Iterator[Times]:
    rng = streams.generator("aggregates", seed, number)
    small = np.uint16 if size < 2**16 else np.uint32  # quicker to draw, and to keep
    for rows in row_blocks(resamples, size, _NUMBERS_AT_ONCE):
        chosen = rng.integers(0, size, (rows, size), small).astype(np.int64)
        yield times_drawn(chosen).astype(small)


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
