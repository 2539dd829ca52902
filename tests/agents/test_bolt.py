"""BOLT against value iteration in NumPy, and on a gamble that can be solved by hand."""

import numpy as np
import pytest

from brlbench.agents.base import Task
from brlbench.agents.bolt import Bolt
from brlbench.beliefs.flat import FlatDirichlet
from brlbench.builders import model
from brlbench.mdps.sparse import Floats
from brlbench.problems import distribution
from brlbench.streams import generator
from helpers.optimism import CASES, assert_gambles_below, gamble, random_prior, value_iteration
from helpers.reference import best, walk


def optimistic(posterior: FlatDirichlet, discount: float, eta: float) -> Floats:
    """Q = (sum of counts times x, plus eta times the largest possible x) / (all counts + eta)."""
    counts = posterior.counts.to_dense()

    def operator(x: Floats) -> Floats:
        largest: Floats = np.where(counts > 0, x, -np.inf).max(axis=2)
        total: Floats = counts.sum(axis=2)
        summed: Floats = (counts * x).sum(axis=2)
        return (summed + eta * largest) / (total + eta)

    return value_iteration(posterior.rewards.mean.to_dense(), discount, operator)


@pytest.mark.parametrize(("prior", "eta"), CASES)
def test_the_optimistic_mdp_is_solved(prior: FlatDirichlet, eta: float) -> None:
    def solve(posterior: FlatDirichlet, discount: float) -> Floats:
        return optimistic(posterior, discount, eta)

    for step in walk(Bolt(eta), prior, discount=0.9, steps=40, solve=solve):
        assert step.action in best(step.q_before[step.state])


@pytest.mark.parametrize(("eta", "share"), [(0.0, 1 / 3), (1.0, 1 / 2), (5.0, 3 / 4)])
def test_a_gamble(eta: float, share: float) -> None:
    """The artificial counts go to GOOD, whose value is 20 at a discount of 0.95."""
    assert_gambles_below(19 * share, lambda: Bolt(eta))


def test_states_that_are_impossible_by_the_prior_count_once_they_are_seen() -> None:
    """BAD turns out to lead to GOOD, which is better: the artificial count moves there."""
    agent = Bolt(1.0)
    agent.train(gamble(0.0), Task(0.95, 10), generator("train"))
    agent.start(2, generator("start"))
    assert agent.arrays.model.value[2] == 0
    agent.observe(2, 0, 1, 0.0)  # counts: 1 for BAD, 1 for GOOD and an artificial one
    assert agent.arrays.model.value[2] == pytest.approx(0.95 * 20 * 2 / 3 / (1 - 0.95 / 3))
    agent.start(2, generator("start"))
    assert agent.arrays.model.value[2] == 0


def test_without_artificial_counts_it_is_greedy() -> None:
    for step in walk(Bolt(0), distribution("GC"), steps=20):
        assert step.action in best(step.q_before[step.state])


def test_many_states_are_solved_by_sweeps(monkeypatch: pytest.MonkeyPatch) -> None:
    prior = random_prior(3)
    monkeypatch.setattr(model, "MAX_INVERSE_STATES", 0)

    def solve(posterior: FlatDirichlet, discount: float) -> Floats:
        return optimistic(posterior, discount, 2.0)

    for step in walk(Bolt(2.0), prior, discount=0.9, steps=20, solve=solve, tolerance=1e-7):
        assert step.action in best(step.q_before[step.state])
