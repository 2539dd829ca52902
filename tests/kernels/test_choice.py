import numpy as np
import pytest
import scipy.special
import scipy.stats

from brlbench.kernels.choice import TIE
from brlbench.mdps.sparse import Floats, Integers
from helpers.compiled import draw_greedy, draw_soft_max, first_greedy, new_rng

NUMBER = 60_000


def greedy(q: list[float], scale: float = 1.0, number: int = NUMBER) -> Integers:
    """How often each action is chosen."""
    out = np.zeros(number, np.int64)
    draw_greedy(np.array(q), 0, len(q), scale, new_rng(), out)
    return np.bincount(out, minlength=len(q))


def soft_max(q: list[float], temperature: float) -> Integers:
    out = np.zeros(NUMBER, np.int64)
    draw_soft_max(np.array(q), 0, len(q), temperature, new_rng(), out)
    return np.bincount(out, minlength=len(q))


@pytest.mark.parametrize(
    ("q", "best"),
    [
        ([1.0, 2.0, 0.0], 1),
        ([3.0, 2.0], 0),
        ([-5.0, -7.0, -2.0], 2),
        ([4.0], 0),
        ([0.0, 0.0, 0.0, 1e-8], 3),
    ],
)
def test_the_only_best_action_is_always_taken(q: list[float], best: int) -> None:
    assert greedy(q)[best] == NUMBER
    assert first_greedy(np.array(q), 0, len(q), 1.0) == best


@pytest.mark.parametrize(
    ("q", "tied"),
    [
        ([1.0, 1.0], [0, 1]),
        ([0.0, 1.0, 0.5, 1.0], [1, 3]),
        ([0.0] * 7, list(range(7))),
        ([2.0, 2.0 - 0.5 * TIE, 2.0 + 0.4 * TIE, 2.0 - 3 * TIE], [0, 1, 2]),
        ([-1.0, -1.0, -2.0], [0, 1]),
    ],
)
def test_ties_are_broken_uniformly_at_random(q: list[float], tied: list[int]) -> None:
    taken = greedy(q)
    assert np.flatnonzero(taken).tolist() == tied
    assert scipy.stats.chisquare(taken[tied]).pvalue > 1e-3
    assert first_greedy(np.array(q), 0, len(q), 1.0) == tied[0]


@pytest.mark.parametrize("scale", [1e-6, 1.0, 200.0, 1e12])
def test_what_a_tie_is_depends_on_the_scale(scale: float) -> None:
    inside, outside = [-0.9 * TIE * scale, 0.0], [-1.1 * TIE * scale, 0.0]
    assert greedy(inside, scale).min() > 0
    assert greedy(outside, scale)[0] == 0
    assert first_greedy(np.array(inside), 0, 2, scale) == 0
    assert first_greedy(np.array(outside), 0, 2, scale) == 1


def test_without_a_scale_only_equal_values_tie() -> None:
    assert greedy([0.0, 0.0], scale=0.0).min() > 0
    assert greedy([-1e-300, 0.0], scale=0.0)[0] == 0


def test_a_draw_is_spent_on_ties_only() -> None:
    for q, spent in (([1.0, 2.0], False), ([2.0, 2.0], True)):
        rng = new_rng()
        draw_greedy(np.array(q), 0, 2, 1.0, rng, np.zeros(1, np.int64))
        assert (rng != new_rng()).any() == spent


def test_only_the_actions_of_the_state_are_compared() -> None:
    q = np.array([9.0, 9.0, 1.0, 3.0, 2.0, 9.0])
    out = np.zeros(50, np.int64)
    draw_greedy(q, 2, 3, 1.0, new_rng(), out)
    assert set(out.tolist()) == {1}
    assert first_greedy(q, 2, 3, 1.0) == 1
    draw_soft_max(q, 2, 3, 1e-3, new_rng(), out)
    assert set(out.tolist()) == {1}


@pytest.mark.parametrize(
    ("q", "temperature"),
    [
        ([0.0, 0.0], 1.0),
        ([1.0, 2.0, 3.0], 1.0),
        ([1.0, 2.0, 3.0], 0.5),
        ([1e6, 1e6 + 1, 1e6 - 2], 1.0),  # exp(1e6) is beyond the range of numbers
        ([-1e6, -1e6 + 1], 1.0),
        ([1e300, 1e300], 1e-3),
        ([5.0, 5.0, 4.0, 0.0], 1e3),
        ([40.0, 41.0, 20.0], 2.5),
    ],
)
def test_soft_max_probabilities(q: list[float], temperature: float) -> None:
    values: Floats = np.array(q)
    expected = scipy.special.softmax((values - values.max()) / temperature)
    taken = soft_max(q, temperature)
    likely = expected * NUMBER >= 5
    assert taken[~likely].sum() <= 30
    assert scipy.stats.chisquare(taken[likely], expected[likely] / expected[likely].sum()
                                 * taken[likely].sum()).pvalue > 1e-3  # fmt: skip


@pytest.mark.parametrize(
    ("q", "temperature"),
    [([0.0, 1.0], 1e-3), ([0.0, 1e12, 0.0], 1e-9), ([-1e308, 1e308], 1e-300), ([0.0, 1e5], 100.0)],
)
def test_soft_max_is_greedy_at_low_temperatures(q: list[float], temperature: float) -> None:
    assert soft_max(q, temperature)[1] == NUMBER


def test_soft_max_of_one_action() -> None:
    assert soft_max([-3.0], 1.0).tolist() == [NUMBER]
