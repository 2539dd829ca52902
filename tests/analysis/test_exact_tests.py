"""What `test_significance` leaves: exact tests, corrections and effect sizes by hand."""

import math

import numpy as np
import pytest
import scipy.stats

from brlbench.analysis.significance import effect_size, holm, permutation_test
from brlbench.mdps.sparse import Floats


def pairs(rng: np.random.Generator, number: int, size: int, difference: float = 0.0) -> Floats:
    """Returns [number, 2, size] of two agents that share the luck of the MDPs."""
    shared = 10 * rng.exponential(size=(number, 1, size))
    returns = shared + rng.standard_normal((number, 2, size))
    returns[:, 0] += difference
    return returns


@pytest.mark.parametrize("size", [2, 5, 8])
@pytest.mark.parametrize("difference", [0.0, 0.5, -1.0])
def test_permutations_against_the_exact_test(size: int, difference: float) -> None:
    rng = np.random.default_rng(size)
    first, second = pairs(rng, 1, size, difference)[0]
    exact = scipy.stats.permutation_test(  # type: ignore[call-overload]
        (first, second), lambda a, b: np.mean(a - b), permutation_type="samples",
        alternative="greater", n_resamples=np.inf,
    ).pvalue  # fmt: skip
    found = permutation_test(first, second, rng, 20_000)
    assert abs(found - exact) < 4 * math.sqrt(exact * (1 - exact) / 20_000) + 1e-4


def test_permutations_of_equal_agents_and_of_the_clearest_case() -> None:
    rng = np.random.default_rng(0)
    assert permutation_test(np.ones(9), np.ones(9), rng) == 1
    # Of 2^20 signs only one is as good; the observed one counts, so that p is never zero.
    assert permutation_test(np.ones(20), np.zeros(20), rng, 999) == pytest.approx(1e-3, rel=0.01)


def test_false_positives_of_permutations() -> None:
    rng = np.random.default_rng(2)
    drawn = pairs(rng, 600, 12)
    rate = np.mean([permutation_test(a, b, rng, 99) <= 0.05 for a, b in drawn])
    assert rate == pytest.approx(0.05, abs=0.036)  # four standard errors


def test_holm_by_its_formula() -> None:
    p = np.random.default_rng(7).random(12) ** 3
    expected = [
        min(1.0, max((len(p) - sum(p < other)) * other for other in p if other <= one)) for one in p
    ]
    assert holm(p).tolist() == pytest.approx(expected)


def test_effect_sizes_by_hand() -> None:
    first, second = [3.0, 5.0, 4.0], [2.0, 3.0, 1.0]  # differences 1, 2, 3
    assert effect_size(first, second) == pytest.approx(2.0)
    assert effect_size(second, first) == pytest.approx(-2.0)
    assert effect_size(first, first) == 0
    assert effect_size([2.0, 3.0], [1.0, 2.0]) == math.inf


def test_effect_size_does_not_grow_with_the_number_of_mdps() -> None:
    a, b = pairs(np.random.default_rng(9), 1, 20_000, difference=1.0)[0]
    assert effect_size(a, b) == pytest.approx(1 / math.sqrt(2), abs=0.03)
    assert effect_size(a[:500], b[:500]) == pytest.approx(1 / math.sqrt(2), abs=0.15)
