"""Spread against a plain fixed point in NumPy, and on gambles that can be solved by hand."""

import numpy as np
import pytest

from brlbench.agents.base import Task
from brlbench.agents.spread import Spread
from brlbench.beliefs.flat import FlatDirichlet
from brlbench.builders import model
from brlbench.mdps.sparse import Floats
from brlbench.problems import distribution
from brlbench.streams import generator
from helpers.optimism import assert_gambles_below, random_prior, with_spread
from helpers.reference import best, walk

CASES = [
    (random_prior(1), 0.3, 0.5),
    (random_prior(2), 0.3, 1.0),
    (distribution("GC"), 1.0, 0.5),
    (distribution("uniform:GDL"), 0.6, 0.5),
    (distribution("Grid"), 0.6, 0.5),
]


@pytest.mark.parametrize(("prior", "kappa", "decay"), CASES)
def test_values_and_bonuses_agree(prior: FlatDirichlet, kappa: float, decay: float) -> None:
    def solve(posterior: FlatDirichlet, discount: float) -> Floats:
        return with_spread(posterior, discount, kappa, decay)

    for step in walk(Spread(kappa, decay), prior, discount=0.9, steps=40, solve=solve):
        assert step.action in best(step.q_before[step.state])


@pytest.mark.parametrize("kappa", [0.0, 0.5, 1.0])
def test_a_gamble(kappa: float) -> None:
    """GOOD is worth 20 and BAD nothing: x is 19 with probability 1/3, its deviation 19 * √2 / 3."""
    worth = 19 * (1 + kappa * np.sqrt(2) / 2) / 3  # the gamble's count is 3, so √(n + 1) is 2
    assert_gambles_below(worth, lambda: Spread(kappa))


def test_outcomes_that_are_worth_the_same_get_no_bonus() -> None:
    """Two next states, one as good as the other: nothing is at stake."""
    counts = np.ones((2, 2, 2))
    agent = Spread(1.0)
    agent.train(FlatDirichlet(counts, np.ones(counts.shape)), Task(0.9, 10), generator("train"))
    assert agent.arrays.model.bonus.tolist() == [0, 0, 0, 0]
    assert agent.arrays.model.q == pytest.approx(np.full(4, 10.0))


def test_the_bonus_is_the_best_within_a_chi_square_ball() -> None:
    """The docstring's other reading, by brute force over rows of two outcomes."""
    kappa, counts = 0.8, np.array([1.0, 3.0])
    p, n = counts / counts.sum(), counts.sum()
    x = np.array([2.0, -1.0])
    q = np.linspace(0, 1, 2_000_001)
    distance = (q - p[0]) ** 2 / p[0] + (1 - q - p[1]) ** 2 / p[1]
    inside = q[distance <= kappa**2 / (n + 1)]
    largest = (inside * x[0] + (1 - inside) * x[1]).max()
    deviation = np.sqrt(p @ (x - p @ x) ** 2)
    assert p @ x + kappa * deviation / np.sqrt(n + 1) == pytest.approx(largest, abs=1e-5)


def test_without_a_bonus_it_is_greedy() -> None:
    for step in walk(Spread(0), distribution("GC"), steps=20):
        assert step.action in best(step.q_before[step.state])


def test_many_states_are_solved_by_sweeps(monkeypatch: pytest.MonkeyPatch) -> None:
    prior = random_prior(3)
    monkeypatch.setattr(model, "MAX_INVERSE_STATES", 0)

    def solve(posterior: FlatDirichlet, discount: float) -> Floats:
        return with_spread(posterior, discount, 0.3, 0.5)

    for step in walk(Spread(0.3), prior, discount=0.9, steps=20, solve=solve, tolerance=1e-7):
        assert step.action in best(step.q_before[step.state])
