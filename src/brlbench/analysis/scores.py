"""Scores: their intervals, their scale, and whether there are enough MDPs.

Returns are arrays with one number per MDP; a result or a summary stands for its own.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InvalidInput
from ..mdps.sparse import Floats, Integers
from ..results.result import Result
from ..results.summary import Summary
from ..values import BETWEEN_0_AND_1, check

ReturnsLike = Result | Summary | ArrayLike
"""A result, a summary, or returns [N]."""

_COMPARED = (
    *("prior", "test", "num_mdps", "discount", "horizon", "episode"),
    *("trajectories_per_mdp", "seed"),
)
FEW = 20  # below this number of MDPs, their skewness is not known either
# Skewness / √N above which tests that should err in 5% do so in 6% to 8% (docs/statistics.md).
MOST_SKEWED = 0.25


class Interval(NamedTuple):
    """An interval that holds the true value with the given level of confidence."""

    low: float
    high: float


def bootstrap_interval(
    first: ReturnsLike,
    second: ReturnsLike | None,
    rng: np.random.Generator,
    level: float = 0.95,
    resamples: int = 10_000,
) -> Interval:
    """A percentile interval of the mean return, or of the mean paired difference of two agents."""
    numbers = returns_of(first) if second is None else paired_differences(first, second)
    return bootstrap_intervals(numbers[None, :], rng, level, resamples)[0]


def bootstrap_intervals(
    table: Floats, rng: np.random.Generator, level: float = 0.95, resamples: int = 10_000
) -> list[Interval]:
    """Percentile intervals of the means of the rows of a table [n, N], all of the same resamples.

    A row's interval does not depend on the other rows.
    """
    check(level, "level", BETWEEN_0_AND_1)
    number = table.shape[1]
    means = np.concatenate(
        [
            weighted_sums(times_drawn(rng.integers(0, number, size=(rows, number))), table) / number
            for rows in row_blocks(resamples, number)
        ]
    )
    ends = np.quantile(means, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return [Interval(float(low), float(high)) for low, high in ends.T]


def guarded_ci95(numbers: ArrayLike) -> float:
    """The half-width of a mean's 95% interval that holds although it decides when to stop.

    One more number counts, twice as far from the mean as any: where the spread looks small by
    chance, or large numbers have not come yet, two standard errors would stop too soon.
    """
    known = np.asarray(numbers, dtype=np.float64)
    mean = float(known.mean())
    guarded = np.append(known, mean + 2 * float(np.abs(known - mean).max()))
    return float(2 * guarded.std(ddof=1) / math.sqrt(len(known)))


def row_blocks(rows: int, length: int, numbers: int = 10_000_000) -> Iterator[int]:
    """The numbers of rows of blocks that have at most `numbers` numbers each."""
    size = min(1000, max(1, numbers // length))
    for start in range(0, rows, size):
        yield min(size, rows - start)


def times_drawn(chosen: Integers) -> Floats:
    """The number of draws of each MDP, [resamples, N]."""
    rows, mdps = chosen.shape
    places = chosen + mdps * np.arange(rows)[:, None]
    counts = np.bincount(places.ravel(), minlength=rows * mdps)
    return counts.reshape(rows, mdps).astype(np.float64)


def weighted_sums(weights: NDArray[Any], table: Floats) -> Floats:
    """The weighted sums [rows, C] of the table's rows [C, N]; the same on any number of cores."""
    return np.asarray(np.einsum("rn,cn->rc", weights.astype(np.float64, copy=False), table))


def returns_of(source: ReturnsLike, adjusted: bool = True) -> Floats:
    """The returns [N], one per MDP; adjusted ones, if wanted, where there are any."""
    if isinstance(source, Result | Summary):
        return source.scored_returns if adjusted else source.returns
    return np.asarray(source, dtype=np.float64)


def paired_differences(first: ReturnsLike, second: ReturnsLike, adjusted: bool = True) -> Floats:
    """The first returns [N] minus the second, which must be on the same MDPs.

    Results are compared by adjusted returns, if wanted, where both have them: luck that is taken
    out of one alone would count as a difference.
    """
    if isinstance(first, Result) and isinstance(second, Result):
        check_same_experiment((first, second))
    results = [each for each in (first, second) if isinstance(each, Result | Summary)]
    if len(results) == 1:  # it stands for adjusted returns, which a list is not
        raise InvalidInput(
            "a paired comparison needs two results, or two lists of returns: got one of each"
        )
    adjusted = adjusted and all(each.can_be_adjusted for each in results)
    a, b = returns_of(first, adjusted), returns_of(second, adjusted)
    if a.shape != b.shape or a.ndim != 1 or len(a) < 2:
        raise InvalidInput(
            "a paired comparison needs two lists of returns on the same MDPs, at least two each: "
            f"got shapes {list(a.shape)} and {list(b.shape)}"
        )
    return np.asarray(a - b)


def check_same_experiment(results: Sequence[Result]) -> None:
    """Raise unless all results are of one experiment, so that MDPs and noise are the same."""
    for result in results:
        if result.experiment_hash != results[0].experiment_hash:
            raise InvalidInput(
                f"{results[0].label} and {result.label} played different experiments"
                f"{_difference(results[0].settings, result.settings)}: play both in the same one"
            )


def _difference(one: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    """The first setting in which experiments differ; empty if their settings read alike."""
    unlike = [name for name in _COMPARED if one.get(name) != other.get(name)]
    return f" ({unlike[0]}: {one.get(unlike[0])}, {other.get(unlike[0])})" if unlike else ""


def normalised(score: float, random: float, top: float) -> float:
    """A score on the scale where the random agent has 0, and the bound or the optimal agent 1."""
    if top == random:
        return math.nan
    return (score - random) / (top - random)


def normalised_returns(
    source: ReturnsLike, random: float, top: float, adjusted: bool = False
) -> Floats:
    """The returns [N] on the scale where the score of random is 0, and that of the bound 1.

    Adjusted returns have the same mean with a smaller error, but another distribution: means and
    ranks can be of them, all else must be of the returns as they were played.
    """
    if not random < top:
        raise InvalidInput(f"a scale from {random} to {top}: 1 must be above the score of random")
    return np.asarray((returns_of(source, adjusted) - random) / (top - random))


def few_mdps_warning(num_mdps: int, differences: Iterable[Floats]) -> str | None:
    """A sentence if MDPs are too few for how skewed paired differences are, else None."""
    if num_mdps < FEW:
        need = f"intervals and tests are approximations that need {FEW}"
        return f"only {num_mdps} MDPs test agents: {need}"
    known = [(abs(skewness(each)), len(each)) for each in differences]
    worst, number = max(known, key=lambda pair: pair[0] / math.sqrt(pair[1]), default=(0.0, 1))
    if worst <= MOST_SKEWED * math.sqrt(number):
        return None
    return (
        f"{number} MDPs are few for differences as skewed as these (skewness {worst:.1f}): the "
        f"tests are approximations that need about {math.ceil((worst / MOST_SKEWED) ** 2)}"
    )


def skewness(numbers: Floats) -> float:
    """The third central moment in units of the deviation; 0 for equal numbers."""
    centred = numbers - numbers.mean()
    deviation = float(centred.std())
    if deviation <= 1e-12 * np.abs(numbers).max(initial=0.0):
        return 0.0
    return float(((centred / deviation) ** 3).mean())
