"""What `test_significance` leaves: corrections and effect sizes by hand."""

import math

import numpy as np
import pytest

from brlbench.analysis.significance import effect_size, holm
from brlbench.mdps.sparse import Floats


def pairs(rng: np.random.Generator, number: int, size: int, difference: float = 0.0) -> Floats:
    """Returns [number, 2, size] of two agents that share the luck of the MDPs."""
    shared = 10 * rng.exponential(size=(number, 1, size))
    returns = shared + rng.standard_normal((number, 2, size))
    returns[:, 0] += difference
    return returns


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
