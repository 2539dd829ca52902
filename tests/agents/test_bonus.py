"""The family of bonuses, and its members VBRB and MBIE-EB, against their definitions."""

from math import sqrt
from typing import Any

import numpy as np
import pytest

from brlbench.agents import make_agent
from brlbench.agents.base import Task
from brlbench.agents.bonus import Bonus
from brlbench.beliefs.flat import FlatDirichlet
from brlbench.mdps.sparse import Floats
from brlbench.problems import distribution
from brlbench.streams import generator
from helpers.optimism import CASES, assert_gambles_below, value_iteration
from helpers.reference import best, walk


def variance_bonus(counts: Floats) -> Floats:
    """The root of the summed variances of a Dirichlet distribution's probabilities."""
    total: Floats = counts.sum(axis=2, keepdims=True)
    variances: Floats = counts * (total - counts) / (total**2 * (total + 1))
    summed: Floats = variances.sum(axis=2)
    return np.sqrt(summed)


def count_bonus(counts: Floats) -> Floats:
    """One over the root of the count."""
    total: Floats = counts.sum(axis=2)
    return 1 / np.sqrt(total)


def free_bonus(counts: Floats) -> Floats:
    """With the exponents of the test."""
    total: Floats = counts.sum(axis=2)
    squares: Floats = ((counts / total[:, :, None]) ** 2).sum(axis=2)
    return np.maximum(1 - squares, 0) ** 0.7 / (total + 0.4) ** 1.3


FREE = {"spread": 0.7, "decay": 1.3, "shift": 0.4}


@pytest.mark.parametrize(
    ("name", "given", "definition"),
    [
        ("vbrb", {}, variance_bonus),
        ("mbie-eb", {}, count_bonus),
        ("bonus", FREE, free_bonus),
    ],
)
@pytest.mark.parametrize(("prior", "beta"), CASES)
def test_the_best_action_with_the_bonus_is_taken(
    prior: FlatDirichlet, name: str, given: Any, definition: Any, beta: float
) -> None:
    def solve(posterior: FlatDirichlet, discount: float) -> Floats:
        counts = posterior.counts.to_dense()
        extra = beta * definition(counts)
        mean = counts / counts.sum(axis=2, keepdims=True)
        rewards = posterior.rewards.mean.to_dense()
        return value_iteration(rewards, discount, lambda x: (mean * x).sum(axis=2) + extra)

    agent = make_agent(name, beta=beta, **given)
    for step in walk(agent, prior, discount=0.9, steps=40, solve=solve):
        assert step.action in best(step.q_before[step.state])


@pytest.mark.parametrize(
    ("name", "q_gamble", "q_stay"),
    [
        # Only the gamble is uncertain: a variance of 2/9 / 4 for each of its two outcomes.
        ("vbrb", 2 * sqrt(1 / 9) + 19 / 3, 0.0),
        # All else has a count of 1 and so a bonus of 2 per step, for ever.
        ("mbie-eb", 2 / sqrt(3) + 19 / 3 + 19 * 2, 40.0),
    ],
)
def test_a_gamble(name: str, q_gamble: float, q_stay: float) -> None:
    assert_gambles_below(q_gamble, lambda: make_agent(name, beta=2.0), q_stay)


def test_beb_is_a_member() -> None:
    prior = distribution("GDL")
    beb: Any = make_agent("beb", beta=1.5)
    family = Bonus(1.5, spread=0, decay=1, shift=1)
    for agent in (beb, family):
        agent.train(prior, Task(0.95, 10), generator("train"))
    np.testing.assert_allclose(beb.arrays.model.q, family.arrays.model.q, rtol=1e-12)
