import math

import numpy as np
import pytest
import scipy.stats

from brlbench.analysis.scores import (
    bootstrap_interval,
    bootstrap_intervals,
    few_mdps_warning,
    guarded_ci95,
    normalised,
    normalised_returns,
    skewness,
)
from brlbench.errors import InvalidInput
from brlbench.mdps.sparse import Floats
from brlbench.results.score import ci95
from brlbench.streams import generator
from helpers.pairs import pair


def pairs(rng: np.random.Generator, number: int, size: int, difference: float = 0.0) -> Floats:
    """Returns [number, 2, size] of two agents that share the luck of the MDPs."""
    shared = 10 * rng.exponential(size=(number, 1, size))
    returns = shared + rng.standard_normal((number, 2, size))
    returns[:, 0] += difference
    return returns


def test_ci95_is_two_standard_errors() -> None:
    numbers = [1.0, 2.0, 4.0, 9.0]
    assert ci95(numbers) == pytest.approx(2 * scipy.stats.sem(numbers))
    assert ci95([3.0, 3.0, 3.0]) == 0
    assert math.isnan(ci95([3.0]))


def test_ci95_holds_the_mean_in_95_of_100_cases() -> None:
    """Two standard errors hold it a little more often."""
    rng = generator("test interval")
    samples = rng.exponential(1.0, (4000, 300))
    held = np.mean([abs(sample.mean() - 1) <= ci95(sample) for sample in samples])
    expected = 1 - 2 * scipy.stats.norm.sf(2)
    # The exponential distribution is skew: its intervals hold a little less.
    assert abs(held - expected) <= 4 * math.sqrt(expected * (1 - expected) / 4000) + 0.005


def test_a_guarded_interval_counts_one_more_number() -> None:
    numbers = [1.0, 2.0, 3.0, 4.0, 15.0]  # of mean 5; none is farther from it than 10
    for extreme in (25.0, -15.0):
        spread = np.std([*numbers, extreme], ddof=1)
        assert guarded_ci95(numbers) == pytest.approx(2 * spread / math.sqrt(5))
    assert guarded_ci95([3.0, 3.0, 3.0]) == 0


def test_bootstrap_intervals_are_those_of_the_normal_law_on_many_mdps() -> None:
    one, other = pair(400, 0.5)
    for numbers, interval in (
        (one - other, bootstrap_interval(one, other, generator("test bootstrap"))),
        (one, bootstrap_interval(one, None, generator("test bootstrap"))),
    ):
        half = 1.96 * scipy.stats.sem(numbers)
        expected = (numbers.mean() - half, numbers.mean() + half)
        assert tuple(interval) == pytest.approx(expected, abs=0.15 * half)


def test_normalised_scores() -> None:
    assert normalised(5, 0, 10) == 0.5
    assert normalised(31, 31, 72) == 0
    assert normalised(72, 31, 72) == 1
    assert math.isnan(normalised(3, 3, 3))


def test_few_mdps() -> None:
    even = np.arange(20.0)
    assert few_mdps_warning(20, [even, np.zeros(20)]) is None
    assert few_mdps_warning(19, []) == (
        "only 19 MDPs test agents: intervals and tests are approximations that need 20"
    )
    skewed = np.append(np.zeros(99), 1.0)  # one in a hundred: skewness 98 / √99
    assert skewness(skewed) == pytest.approx(98 / math.sqrt(99))
    assert few_mdps_warning(100, [even, -skewed]) == (
        "100 MDPs are few for differences as skewed as these (skewness 9.8): the tests are "
        "approximations that need about 1553"
    )
    assert few_mdps_warning(2000, [np.tile(skewed, 20)]) is None


def test_coverage_of_bootstrap_intervals() -> None:
    rng = np.random.default_rng(5)
    drawn = pairs(rng, 500, 60, difference=1.0)
    intervals = [bootstrap_interval(a, b, rng, resamples=300) for a, b in drawn]
    covered = np.mean([interval.low <= 1 <= interval.high for interval in intervals])
    assert covered == pytest.approx(0.95, abs=0.04)


def test_a_bootstrap_interval_against_scipy() -> None:
    rng = np.random.default_rng(6)
    returns = rng.exponential(size=200)
    ours = bootstrap_interval(returns, None, rng, level=0.9)
    theirs = scipy.stats.bootstrap(
        (returns,), np.mean, confidence_level=0.9, method="percentile", random_state=rng, batch=500
    ).confidence_interval
    assert ours == pytest.approx((theirs.low, theirs.high), abs=0.01)
    assert bootstrap_interval([2.0, 2.0], None, rng) == (2, 2)


def test_intervals_of_shared_resamples_do_not_depend_on_each_other() -> None:
    table = np.random.default_rng(7).exponential(size=(5, 60))
    together = bootstrap_intervals(table, generator("test shared"), resamples=300)
    for row, interval in zip(table, together, strict=True):
        rng = generator("test shared")
        assert interval == bootstrap_interval(row, None, rng, resamples=300)
    mirrored = bootstrap_intervals(-table, generator("test shared"), resamples=300)
    assert -np.array(mirrored)[:, ::-1] == pytest.approx(np.array(together), rel=1e-12)


def test_normalised_returns() -> None:
    returns = normalised_returns([31.0, 72.0, 51.5, 10.5, 113.0], 31, 72)
    assert returns.tolist() == [0, 1, 0.5, -0.5, 2]
    assert returns.mean() == pytest.approx(normalised(55.6, 31, 72))
    with pytest.raises(InvalidInput, match="a scale from 72 to 31: 1 must be above the score of"):
        normalised_returns([1.0], 72, 31)
    with pytest.raises(InvalidInput, match="a scale from 31 to nan"):
        normalised_returns([1.0], 31, math.nan)
