import numpy as np
import pytest
import scipy.stats

from brlbench.mdps.sparse import Floats, Integers
from helpers.compiled import new_rng
from helpers.compiled_planning import draw_binomial

NUMBER = 100_000
TRIALS = [1, 2, 8, 9, 15, 64, 65, 200]
PROBABILITIES = [1e-3, 0.3, 0.5, 1 - 1e-9, 1 - 2.0**-53]
CASES = [(trials, probability) for trials in TRIALS for probability in PROBABILITIES]


def drawn(trials: int, probability: float) -> Integers:
    out = np.zeros(NUMBER, np.int64)
    draw_binomial(new_rng(), trials, probability, out)
    return out


def lumped(expected: Floats, least: float = 10) -> Integers:
    """Groups of neighbouring numbers of which each is expected often enough for a test."""
    group, groups, inside = 0, [], 0.0
    for index, number in enumerate(expected):
        groups.append(group)
        inside += number
        if inside >= least and expected[index + 1 :].sum() >= least:
            group, inside = group + 1, 0.0
    return np.array(groups)


@pytest.mark.parametrize(("trials", "probability"), CASES)
def test_frequencies(trials: int, probability: float) -> None:
    expected = scipy.stats.binom.pmf(np.arange(trials + 1), trials, probability) * NUMBER
    groups = lumped(expected)
    observed = np.bincount(groups, np.bincount(drawn(trials, probability), minlength=trials + 1))
    if len(observed) > 1:
        expected = np.bincount(groups, expected) * (observed.sum() / expected.sum())
        assert scipy.stats.chisquare(observed, expected).pvalue > 1e-3


@pytest.mark.parametrize(("trials", "probability"), CASES)
def test_mean_and_variance(trials: int, probability: float) -> None:
    sample = drawn(trials, probability)
    mean, variance = trials * probability, trials * probability * (1 - probability)
    kurtosis = (1 - 6 * probability * (1 - probability)) / variance
    z = (sample.mean() - mean) / np.sqrt(variance / NUMBER)
    assert abs(z) < 4, f"mean z = {z:.2f}"
    # A fair coin's distance from its mean is always the same: there is no error then.
    error = variance * np.sqrt((kurtosis + 2) / NUMBER)
    assert abs(((sample - mean) ** 2).mean() - variance) < 4 * error + 1e-12


@pytest.mark.parametrize("trials", TRIALS)
def test_what_is_sure(trials: int) -> None:
    """Also where rounding leads a little past 1."""
    assert (drawn(trials, 0.0) == 0).all()
    assert (drawn(trials, 1.0) == trials).all()
    assert (drawn(trials, 1 + 1e-15) == trials).all()
    assert (drawn(0, 0.5) == 0).all()


def test_draws_are_independent() -> None:
    sample = drawn(15, 0.3)
    for lag in (1, 2, 3):
        assert abs(np.corrcoef(sample[:-lag], sample[lag:])[0, 1]) < 4 / np.sqrt(NUMBER)


def test_small_probabilities() -> None:
    """The first digits of such a probability only ever say no."""
    for probability in (2.0**-14, 3e-6, 2.0**-53, 5e-324):
        expected = NUMBER * 200 * probability
        assert abs(drawn(200, probability).sum() - expected) < 4 * np.sqrt(expected) + 1e-3
