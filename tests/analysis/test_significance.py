import math
from typing import Any

import numpy as np
import pytest
import scipy.stats

from brlbench.agents import make_agent
from brlbench.analysis.scores import bootstrap_interval
from brlbench.analysis.significance import (
    cautious_p_value,
    effect_size,
    holm,
    paired_z_test,
    probability_better,
    student_limits,
    student_p_values,
    z_against,
)
from brlbench.errors import InvalidInput
from brlbench.protocol.evaluate import evaluate
from brlbench.protocol.experiment import Experiment
from brlbench.results.score import ci95
from brlbench.streams import generator
from helpers.pairs import pair


@pytest.mark.parametrize("better", [-0.3, 0.0, 0.1, 2.0])
def test_the_test_agrees_with_scipy(better: float) -> None:
    one, other = pair(200, better)
    test = paired_z_test(one, other)
    expected = scipy.stats.ttest_rel(one, other, alternative="greater")
    assert test.z == pytest.approx(expected.statistic)
    assert test.p_value == pytest.approx(expected.pvalue)
    assert test.significant == (test.p_value < 0.05)


def test_the_z_test_is_one_sided() -> None:
    one, other = pair(200, 1.0)
    assert paired_z_test(one, other).significant
    assert not paired_z_test(other, one).significant
    assert paired_z_test(other, one).p_value == pytest.approx(1, abs=1e-6)
    assert paired_z_test(one, other).z == -paired_z_test(other, one).z


def test_the_level_is_a_parameter() -> None:
    one, other = pair(200, 0.2)
    p_value = paired_z_test(one, other).p_value
    assert 0.001 < p_value < 0.1
    assert paired_z_test(one, other, level=1 - 1.01 * p_value).significant
    assert not paired_z_test(one, other, level=1 - 0.99 * p_value).significant


def test_equal_returns_are_not_different() -> None:
    one, _ = pair()
    test = paired_z_test(one, one)
    assert (test.z, test.p_value, test.significant) == (0, 0.5, False)
    assert paired_z_test([0.0, 0.0], [0.0, -0.0]) == (0, 0.5, False)


def test_a_constant_difference_is_certain() -> None:
    one = np.arange(10.0)
    assert paired_z_test(one + 1, one) == (math.inf, 0, True)
    assert paired_z_test(one - 1, one) == (-math.inf, 1, False)
    assert paired_z_test(one + 0.1, one).significant  # differences are equal up to rounding only
    assert not paired_z_test(one - 0.1, one).significant


@pytest.mark.parametrize("mdps", [5, 100])
def test_false_positives_are_as_rare_as_they_should_be(mdps: int) -> None:
    """With normal differences, for any number of MDPs: the p-value is Student's."""
    rng = generator("test false positives")
    number = 4000
    differences = rng.normal(0, 3, (number, mdps))
    found = np.mean([paired_z_test(row, np.zeros(mdps)).significant for row in differences])
    assert abs(found - 0.05) <= 4 * math.sqrt(0.05 * 0.95 / number)


@pytest.mark.parametrize("level", [0.8, 0.95, 0.999])
def test_limits_are_where_p_values_pass_the_level(level: float) -> None:
    numbers = np.array([2, 3, 10, 500])
    limits = student_limits(level, numbers)
    np.testing.assert_allclose(student_p_values(limits, numbers), 1 - level)
    assert student_limits(level, [0, 1]).tolist() == [math.inf, math.inf]
    assert student_p_values([math.inf, -math.inf], [2, 2]).tolist() == [0, 1]


def test_pairing_finds_what_separate_means_would_not() -> None:
    one, other = pair(200, 0.5)
    assert paired_z_test(one, other).significant
    assert abs(one.mean() - other.mean()) < ci95(one)


@pytest.mark.parametrize(
    ("one", "other"),
    [([1.0, 2.0], [1.0]), ([1.0], [2.0]), ([], []), ([[1.0, 2.0]], [[1.0, 2.0]])],
)
def test_refused_returns(one: Any, other: Any) -> None:
    for compare in (paired_z_test, effect_size):
        with pytest.raises(InvalidInput, match="a paired comparison needs two lists of returns"):
            compare(one, other)


@pytest.mark.parametrize("level", [0, 1, -0.5, 2, math.nan])
def test_refused_levels(level: float) -> None:
    with pytest.raises(InvalidInput, match=f"level = {level}: must be a number between 0 and"):
        paired_z_test([1.0, 2.0], [2.0, 1.0], level)
    with pytest.raises(InvalidInput, match=f"level = {level}: must be a number between 0 and"):
        bootstrap_interval([1.0, 2.0], None, generator("level"), level)


def test_the_cautious_test_is_students_with_one_more_number() -> None:
    numbers = np.append(np.linspace(-1.0, 1.2, 40), np.full(4, 3.0))  # not skewed to the left
    guarded = np.append(numbers, -3.0)
    assert scipy.stats.skew(guarded) > 0
    expected = scipy.stats.ttest_1samp(guarded, 0.0, alternative="greater")
    assert cautious_p_value(numbers) == pytest.approx(expected.pvalue, rel=1e-9)
    assert expected.pvalue > scipy.stats.ttest_1samp(numbers, 0.0, alternative="greater").pvalue


def test_the_cautious_statistic_is_smaller_for_numbers_skewed_to_the_left() -> None:
    numbers = np.append(np.linspace(0.0, 2.0, 40), np.full(2, -3.0))
    guarded = np.append(numbers, -3.0)
    t = scipy.stats.ttest_1samp(guarded, 0.0).statistic
    skew = scipy.stats.skew(guarded) / math.sqrt(len(guarded))
    t += skew * t**2 / 3 + skew**2 * t**3 / 27 + skew / 6  # Hall (1992)
    assert cautious_p_value(numbers) == pytest.approx(scipy.stats.t.sf(t, len(numbers)), rel=1e-9)


def test_skewed_numbers_raise_few_false_alarms() -> None:
    """Rare large losses: the t-test is fooled by samples that have too few of them."""
    rng = np.random.default_rng(0)
    samples = math.exp(0.5) - rng.lognormal(0.0, 1.0, (4000, 40))  # of mean 0
    level = 0.01
    alarms = np.mean([cautious_p_value(sample) < level for sample in samples])
    fooled = np.mean(
        scipy.stats.ttest_1samp(samples, 0.0, axis=1, alternative="greater").pvalue < level
    )
    error = math.sqrt(level * (1 - level) / len(samples))
    assert fooled > level + 20 * error
    assert alarms < level + 5 * error


def test_the_cautious_test_of_agents_that_do_the_same() -> None:
    assert cautious_p_value(np.zeros(100)) == 1.0
    assert cautious_p_value(np.ones(1)) > 0.4  # one number proves nothing
    assert cautious_p_value(-np.ones(3)) == 1.0  # nor do numbers that speak against it


def test_holm_s_correction() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]).tolist() == [1, 1]
    assert holm([0.2]).tolist() == [0.2]
    assert holm([]).tolist() == []
    for wrong in ([-0.1], [1.1], [math.nan], [[0.5]]):
        with pytest.raises(InvalidInput, match="p-values must be a list of numbers from 0 to 1"):
            holm(wrong)


def test_holm_keeps_false_positives_rare() -> None:
    rng = generator("test holm")
    p_values = rng.random((4000, 10))
    any_found = np.mean([holm(row).min() < 0.05 for row in p_values])
    assert any_found <= 0.05 + 4 * math.sqrt(0.05 * 0.95 / 4000)
    assert (p_values.min(axis=1) < 0.05).mean() > 0.3


def test_effect_sizes() -> None:
    one, other = pair(500, 0.7)
    difference = one - other
    assert effect_size(one, other) == pytest.approx(difference.mean() / difference.std(ddof=1))
    assert effect_size(one, one) == 0


def test_z_against_many_at_once() -> None:
    one, other = pair(50, 0.3)
    z = z_against(one, np.stack([other, one, one - 1, one + 1]))
    assert z[0] == pytest.approx(paired_z_test(one, other).z)
    assert z[1:].tolist() == [0, math.inf, -math.inf]
    assert z_against(one[:1], other[None, :1]).tolist() == [0]


def test_results_stand_for_their_returns() -> None:
    experiment = Experiment("GC", num_mdps=5, horizon=10)
    one, other = (evaluate(make_agent(name), experiment) for name in ("optimal", "random"))
    rng = generator("results")
    assert paired_z_test(one, other) == paired_z_test(one.returns, other.returns)
    assert effect_size(one, other) == effect_size(one.returns, other.returns)
    assert bootstrap_interval(one, None, rng).low <= one.mean
    with pytest.raises(InvalidInput, match="two results, or two lists of returns: got one of each"):
        paired_z_test(one, other.returns)


@pytest.mark.parametrize(
    ("changes", "said"),
    [({"seed": 1}, "seed: 0, 1"), ({"prior": "uniform:GC"}, "prior: GC, uniform:GC")],
)
def test_results_of_different_experiments_are_refused(changes: dict[str, Any], said: str) -> None:
    given: dict[str, Any] = {"prior": "GC", "test": "GC", "num_mdps": 5, "horizon": 10}
    one, other = (
        evaluate(make_agent("random"), Experiment(**{**given, **more})) for more in ({}, changes)
    )
    said = rf"^random and random played different experiments \({said}\): play both in the same one"
    for test in (paired_z_test, effect_size):
        with pytest.raises(ValueError, match=said):
            test(one, other)


@pytest.mark.parametrize(
    ("wins", "ties", "losses"), [(10, 0, 0), (0, 0, 10), (5, 0, 5), (2, 6, 2), (70, 10, 20)]
)
def test_the_probability_to_be_better(wins: int, ties: int, losses: int) -> None:
    """Ties count one half; the interval is Wilson's, as in SciPy for whole numbers."""
    first = np.repeat([1.0, 0.0, -1.0], [wins, ties, losses])
    number, better = len(first), wins + ties / 2
    value, interval = probability_better(first, np.zeros(number))
    assert value == better / number
    expected = scipy.stats.binomtest(int(better), number).proportion_ci(method="wilson")
    assert interval == pytest.approx((expected.low, expected.high))


def test_the_probability_to_be_better_covers_the_truth() -> None:
    """Of 400 intervals of level 90%, 360 hold the truth on average."""
    held = 0
    for i in range(400):
        one, other = pair(60, 0.5, "coverage", i)
        low, high = probability_better(one, other, level=0.9).interval
        held += low < scipy.stats.norm.cdf(0.5 / math.sqrt(2)) < high
    assert abs(held - 360) < 4 * math.sqrt(400 * 0.9 * 0.1)


def test_the_probability_of_results_uses_returns_as_played() -> None:
    """Of other experiments it is refused."""
    experiment = Experiment("GC", num_mdps=5, horizon=4)
    one, other = (evaluate(make_agent(name), experiment) for name in ("random", "optimal"))
    assert probability_better(one, other) == probability_better(one.returns, other.returns)
    elsewhere = evaluate(make_agent("random"), Experiment("GC", num_mdps=5, horizon=4, seed=1))
    with pytest.raises(InvalidInput, match="played different experiments"):
        probability_better(one, elsewhere)
