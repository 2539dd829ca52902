import itertools
import math
from collections.abc import Callable, Sequence
from random import Random

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from reproduction.aggregates import AGGREGATES, coverage

from brlbench.analysis import aggregates
from brlbench.analysis.significance import probability_better
from brlbench.errors import InvalidInput
from brlbench.mdps.sparse import Floats
from brlbench.streams import generator
from helpers.sizes import sizes
from helpers.strategies import reproducible

EIGHT = [np.array([4.0, 1, 6, 0]), np.array([2.0, 7, 3, 5])]
UNEQUAL = [np.array([10.0]), np.array([2.0, 0, 1])]  # weights 1/2, and 1/6 each

numbers = st.integers(-40, 40).map(lambda n: n / 8)  # sums are exact
experiments = st.lists(
    st.lists(numbers, min_size=1, max_size=9).map(np.array), min_size=1, max_size=4
)


def values(scores: Sequence[Floats]) -> list[float]:
    """All aggregates of one agent that grow with its returns."""
    return [
        aggregates.interquartile_mean(scores, resamples=1).value,
        aggregates.mean_score(scores, resamples=1).value,
        -aggregates.optimality_gap(scores, resamples=1).value,
        *aggregates.performance_profile(scores, [-1.0, 0.0, 0.5, 2.0], resamples=1)[0],
    ]


def test_values_computed_by_hand() -> None:
    assert aggregates.interquartile_mean(EIGHT).value == pytest.approx(((1 + 4) + (3 + 5)) / 4)
    assert aggregates.mean_score(EIGHT).value == pytest.approx(28 / 8)
    assert aggregates.optimality_gap(EIGHT, target=4).value == pytest.approx((4 + 3 + 2 + 1) / 8)
    assert aggregates.optimality_gap(EIGHT).value == pytest.approx(1 / 8)
    profile, _, _ = aggregates.performance_profile(EIGHT, [-1, 2.5, 3, 7])
    assert profile == pytest.approx([1, 5 / 8, 4 / 8, 0])


def test_values_of_experiments_with_different_numbers_computed_by_hand() -> None:
    assert aggregates.interquartile_mean(UNEQUAL).value == pytest.approx((10 + 1) / 2)
    more = [UNEQUAL[0], np.array([2.0, 0, 1, 9, -3])]  # -3 and 9 are cut
    assert aggregates.interquartile_mean(more).value == pytest.approx((10 + 1) / 2)
    assert aggregates.mean_score(UNEQUAL).value == pytest.approx((10 + 1) / 2)
    assert aggregates.optimality_gap(UNEQUAL, target=2).value == pytest.approx((2 + 1) / 6)
    profile, _, _ = aggregates.performance_profile(UNEQUAL, [0, 1, 5, 10])
    assert profile == pytest.approx([1 / 2 + 2 / 6, 1 / 2 + 1 / 6, 1 / 2, 0])


@pytest.mark.parametrize("number", range(1, 14))
@pytest.mark.parametrize("experiments", [1, 2, 3, 4])
def test_the_interquartile_mean_is_of_trimmed_means(number: int, experiments: int) -> None:
    """Also where the number of returns is no multiple of four."""
    scores = generator("test trimmed", number, experiments).lognormal(size=(experiments, number))
    expected = scipy.stats.trim_mean(scores, 0.25, axis=1).mean()
    assert aggregates.interquartile_mean(list(scores), resamples=1).value == pytest.approx(
        expected, 1e-12
    )


def test_an_experiment_with_a_wide_spread_counts_like_any_other() -> None:
    """In a pool, most of its returns would be at the ends, and be cut."""
    narrow, wide = generator("test spread").exponential(size=(2, 40))
    for factor in (1, 1000):
        parts = [aggregates.interquartile_mean([each]).value for each in (narrow, factor * wide)]
        both = aggregates.interquartile_mean([narrow, factor * wide]).value
        assert both == pytest.approx(sum(parts) / 2)


def test_a_return_far_away_is_cut() -> None:
    scores = [np.array([0.0, 1, 2, 1e15]), np.array([-1e15, 1, 2, 3])]
    assert aggregates.interquartile_mean(scores, resamples=1).value == pytest.approx(1.5)


def test_the_probability_of_improvement_computed_by_hand() -> None:
    one = [np.array([1.0, 2, 3, 4]), np.array([5.0, 5])]
    other = [np.array([0.0, 2, 4, 3]), np.array([5.0, 6])]
    assert aggregates.probability_of_improvement(one, other).value == pytest.approx(
        (2.5 / 4 + 0.5 / 2) / 2
    )
    assert aggregates.probability_of_improvement(other, one).value == pytest.approx(
        (1.5 / 4 + 1.5 / 2) / 2
    )
    assert aggregates.probability_of_improvement(one, one) == (0.5, 0.5, 0.5)
    better = [each + 1 for each in one]
    assert aggregates.probability_of_improvement(better, one) == pytest.approx((1, 1, 1))


def test_in_one_experiment_it_is_the_probability_of_a_better_return() -> None:
    one, other = generator("test better").normal(size=(2, 400))
    ours = aggregates.probability_of_improvement([one + 0.3], [other])
    theirs = probability_better(one + 0.3, other)
    assert ours.value == pytest.approx(theirs.value)
    assert ours[1:] == pytest.approx(theirs.interval, abs=0.01)  # Wilson's


def test_ranks_computed_by_hand() -> None:
    # Mean scores 2, 3, 2 and 1.
    agents = [[[1, 3], [2]], [[5, 5], [1]], [[2, 2], [2]], [[0, 0], [2]]]
    ranks = [each.value for each in aggregates.rank_intervals(agents)]
    assert ranks == [2.5, 1, 2.5, 4]
    assert aggregates.rank_intervals([EIGHT]) == [(1, 1, 1)]


def test_ranks_of_many_with_ties_against_scipy() -> None:
    means = generator("test ties").integers(0, 9, size=(12, 30)).astype(float)  # of one MDP each
    for agents in means:
        ranks = aggregates.rank_intervals([[[score]] for score in agents], resamples=3)
        assert [each.value for each in ranks] == scipy.stats.rankdata(-agents).tolist()
    nearly = aggregates.rank_intervals([[[0.3]], [[0.1 + 0.2]], [[0.3 - 1e-9]]], resamples=3)
    assert [each.value for each in nearly] == [1.5, 1.5, 3]


def test_ranks_are_of_the_same_mdps() -> None:
    """Agents that always differ by little are told apart; equal ones never are."""
    luck = generator("test ranks").normal(0, 10, size=(3, 50))
    agents = [list(luck + better) for better in (0.0, 0.01, 0.0, -0.01)]
    assert aggregates.rank_intervals(agents, resamples=300) == [
        (2.5, 2.5, 2.5),
        (1, 1, 1),
        (2.5, 2.5, 2.5),
        (4, 4, 4),
    ]


def test_intervals_of_ranks_grow_with_doubt() -> None:
    noise = generator("test doubt").normal(size=(4, 100))
    agents = [[row + better] for row, better in zip(noise, [3.0, 0.0, 0.0, -3.0], strict=True)]
    first, second, third, last = aggregates.rank_intervals(agents)
    assert (first, last) == ((1, 1, 1), (4, 4, 4))
    assert sorted([second.value, third.value]) == [2, 3]
    assert second[1:] == third[1:] == (2, 3)


def all_resamples(scores: Sequence[Floats]) -> list[list[Floats]]:
    """Every resample, each as probable as the others."""
    each = [[np.array(drawn) for drawn in itertools.product(x, repeat=len(x))] for x in scores]
    return [list(drawn) for drawn in itertools.product(*each)]


def profile_at_two(scores: Sequence[Floats]) -> float:
    return float(np.mean([(np.asarray(each) > 2).mean() for each in scores]))


@pytest.mark.parametrize(
    ("aggregate", "plain"),
    [
        (
            aggregates.interquartile_mean,
            lambda scores: np.mean([scipy.stats.trim_mean(each, 0.25) for each in scores]),
        ),
        (
            lambda scores, **how: aggregates.Estimate(
                *(float(each[0]) for each in aggregates.performance_profile(scores, [2.0], **how))
            ),
            profile_at_two,
        ),
    ],
)
def test_intervals_are_those_of_all_resamples(
    aggregate: Callable[..., aggregates.Estimate], plain: Callable[..., float]
) -> None:
    scores = [np.array([0.0, 1.0, 5.0, 2.5]), np.array([2.0, 4.5, 3.0])]
    exact = np.sort([plain(drawn) for drawn in all_resamples(scores)])
    found = aggregate(scores, resamples=40_000, level=0.9)
    for quantile, end in ((0.05, found.low), (0.95, found.high)):
        error = 4 * np.sqrt(0.05 * 0.95 / 40_000)
        low, high = np.quantile(exact, [quantile - error, quantile + error])
        assert low - 1e-12 <= end <= high + 1e-12


def test_intervals_of_means_are_corrected_for_skewness() -> None:
    numbers = generator("test skewness").lognormal(0, 1.2, 60)
    theirs = scipy.stats.bootstrap(
        (numbers,), np.mean, n_resamples=20_000, method="BCa", random_state=generator("test BCa")
    )
    ours = aggregates.mean_score([numbers], resamples=20_000)
    error = 4 * theirs.standard_error * np.sqrt(0.025 / 20_000) / scipy.stats.norm.pdf(1.96)
    assert ours[1:] == pytest.approx(theirs.confidence_interval, abs=2 * error)
    # The same in two experiments, with half of the spread.
    both = aggregates.mean_score([numbers, np.zeros(10)], resamples=20_000)
    assert both[1:] == pytest.approx(np.array(ours[1:]) / 2, abs=error)


def test_resamples_of_many_mdps_are_drawn_from_their_own_experiment() -> None:
    """More MDPs than a small type of whole numbers can count."""
    scores = [np.full(30_000, float(level)) for level in range(3)]
    assert aggregates.mean_score(scores, resamples=3) == pytest.approx((1, 1, 1))
    improved = aggregates.probability_of_improvement(scores, scores[::-1], resamples=3)
    assert improved == pytest.approx((0.5, 0.5, 0.5))


def test_huge_returns_have_intervals() -> None:
    """Their cubes are too large for a float."""
    huge = [1e149 * np.array([0.0, 0.0, 1.0, 5.0]), 1e149 * np.array([1.0, 2.0, 9.0])]
    value, low, high = aggregates.mean_score(huge, resamples=200)
    assert 0 < low < value < high < 1e150


def test_resamples_of_experiments_are_independent() -> None:
    """The same returns twice have half the variance of one experiment with them."""
    returns = generator("test independence").normal(size=400)
    one, two = (aggregates.mean_score([returns] * n, resamples=20_000) for n in (1, 2))
    assert (two.high - two.low) / (one.high - one.low) == pytest.approx(math.sqrt(1 / 2), rel=0.04)


def test_resamples_are_shared_by_all_that_average_an_experiment() -> None:
    again = aggregates.Resamples(200)
    x, y, z = generator("test shared").exponential(size=(3, 30))
    statistics = [again.means(0, np.stack([y, x])), again.means(1, np.stack([y, z]))]
    assert aggregates.estimates(statistics)[1] == aggregates.mean_score([x, z], resamples=200)
    middle = [again.interquartile_mean(*each) for each in ((0, x), (1, z))]
    assert aggregates.estimates(middle)[0] == aggregates.interquartile_mean([x, z], resamples=200)


def test_only_mdps_are_resampled() -> None:
    """Experiments that differ, each without any luck, leave no doubt."""
    scores = [np.full(10, 0.2), np.full(20, 0.8), np.full(30, 0.9)]
    for found in (
        aggregates.interquartile_mean(scores),
        aggregates.mean_score(scores),
        aggregates.optimality_gap(scores),
    ):
        assert found.low == pytest.approx(found.value) == pytest.approx(found.high)


def test_a_seed_gives_the_same_numbers() -> None:
    scores = list(generator("test seeds").exponential(size=(3, 40)))
    for aggregate in (
        aggregates.interquartile_mean,
        aggregates.mean_score,
        aggregates.optimality_gap,
    ):
        once, again, other = (aggregate(scores, seed=seed) for seed in (1, 1, 2))
        assert once == again != other
        assert other == pytest.approx(once, abs=0.05)


def test_the_band_of_a_profile_does_not_rise() -> None:
    scores = list(generator("test band").exponential(size=(3, 40)))
    for line in aggregates.performance_profile(scores, np.linspace(-0.5, 3, 71)):
        assert (np.diff(line) <= 1e-12).all()
        assert line[0] == pytest.approx(1)


@reproducible
@given(experiments, st.randoms())
def test_order_does_not_matter(scores: list[Floats], shuffler: Random) -> None:
    shuffled = [np.array(shuffler.sample(each.tolist(), len(each))) for each in scores]
    shuffler.shuffle(shuffled)
    assert values(shuffled) == pytest.approx(values(scores), abs=1e-12)


@reproducible
@given(experiments, st.data())
def test_a_higher_return_never_harms(scores: list[Floats], data: st.DataObject) -> None:
    higher = [each.copy() for each in scores]
    chosen = higher[data.draw(st.integers(0, len(higher) - 1))]
    chosen[data.draw(st.integers(0, len(chosen) - 1))] += data.draw(st.integers(1, 24)) / 8
    for before, after in zip(values(scores), values(higher), strict=True):
        assert after >= before - 1e-12
    assert (
        aggregates.mean_score(higher, resamples=1).value
        > aggregates.mean_score(scores, resamples=1).value
    )
    assert aggregates.probability_of_improvement(higher, scores, resamples=1).value > 0.5


@reproducible
@given(experiments, st.data())
def test_experiments_weigh_the_same(scores: list[Floats], data: st.DataObject) -> None:
    """One that has each MDP several times counts as before."""
    scores = [np.tile(each, 4) for each in scores]  # multiples of four: nothing is rounded
    more = list(scores)
    chosen = data.draw(st.integers(0, len(more) - 1))
    more[chosen] = np.tile(more[chosen], data.draw(st.integers(2, 3)))
    assert values(more) == pytest.approx(values(scores), abs=1e-12)


@reproducible
@given(experiments)
def test_the_gap_is_what_is_missing_of_the_clipped_mean(scores: list[Floats]) -> None:
    clipped = [np.minimum(each, 1) for each in scores]
    gap = aggregates.optimality_gap(scores, resamples=1).value
    assert gap == pytest.approx(1 - aggregates.mean_score(clipped, resamples=1).value, abs=1e-12)


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([], "scores is empty: must have an array of returns per experiment"),
        ([[1.0], []], r"scores\[1\] has shape \[0\]: must be a list of numbers"),
        ([1.0, 2.0], r"scores\[0\] has shape \[\]: must be a list of numbers"),
        ([[1.0], [2.0, np.nan]], r"scores\[1\]\[1\] = nan: must be a finite number"),
        ([[-np.inf]], r"scores\[0\]\[0\] = -inf: must be a finite number"),
    ],
)
def test_scores_that_are_none(scores: list[list[float]], message: str) -> None:
    functions: list[Callable[..., object]] = [
        aggregates.interquartile_mean,
        aggregates.mean_score,
        aggregates.optimality_gap,
        lambda given: aggregates.performance_profile(given, [0.5]),
    ]
    for aggregate in functions:
        with pytest.raises(InvalidInput, match=f"^{message}$"):
            aggregate(scores)
    with pytest.raises(InvalidInput, match=f"agent 1: {message}$"):
        aggregates.rank_intervals([EIGHT, scores])


def test_other_arguments_are_checked() -> None:
    with pytest.raises(InvalidInput, match=r"thresholds\[1\] = nan: must be a finite number"):
        aggregates.performance_profile(EIGHT, [0.5, np.nan])
    with pytest.raises(InvalidInput, match="target = inf: must be a finite number"):
        aggregates.optimality_gap(EIGHT, target=np.inf)
    with pytest.raises(InvalidInput, match="level = 95: must be a number between 0 and 1"):
        aggregates.mean_score(EIGHT, level=95)
    with pytest.raises(InvalidInput, match="resamples = 0: must be a whole number at least 1"):
        aggregates.mean_score(EIGHT, resamples=0)
    with pytest.raises(InvalidInput, match="there are no agents to rank"):
        aggregates.rank_intervals([])


def test_pairs_must_be_of_the_same_mdps() -> None:
    for other in (EIGHT[:1], [EIGHT[0], EIGHT[1][:3]]):
        with pytest.raises(InvalidInput, match=r"have returns on \[4, 4\] and .* the same MDPs$"):
            aggregates.probability_of_improvement(EIGHT, other)
        with pytest.raises(InvalidInput, match="agents 0 and 2 have returns"):
            aggregates.rank_intervals([EIGHT, EIGHT, other])


@pytest.mark.slow
@pytest.mark.parametrize("simulations", sizes(150, 2000))
def test_intervals_hold_the_truth_in_95_of_100_cases(simulations: int) -> None:
    """Two agents in two experiments: skewed returns, and returns of which three in four are 0."""
    rng, shape = generator("test coverage of aggregates"), (100_000, 2)
    shared = rng.exponential(0.3, (2, shape[0], 1))
    own = rng.exponential(1.0, (2, *shape))
    population = [
        shared[0] + 0.2 * own[0] ** 1.5,
        np.where(shared[1] + rng.random(shape) > 1.05, own[1], 0.0),
    ]
    names = ("interquartile mean", "mean", "probability of improvement")
    tried = {name: AGGREGATES[name] for name in names}
    found = coverage(population, [200, 250], simulations, resamples=199, aggregates=tried)
    error = math.sqrt(0.95 * 0.05 / simulations)
    assert found == pytest.approx(dict.fromkeys(tried, 0.95), abs=2.1 * error)
