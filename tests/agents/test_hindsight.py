"""Hindsight against mean optimal values: by integration, and by MDPs that NumPy draws."""

from typing import Any

import numpy as np
import pytest
import scipy.stats

from brlbench.agents.base import Task
from brlbench.agents.hindsight import Hindsight
from brlbench.beliefs.flat import FlatDirichlet
from brlbench.errors import InvalidInput
from helpers.laws import LIMIT, assert_same_law
from helpers.made_planners import show, started
from helpers.optimism import GAMBLE, STAY, gamble
from helpers.planner_cases import OBSERVED, PRIORS
from helpers.reference import best


@pytest.mark.parametrize("stake", [0.1, 0.3, 0.6])
def test_a_gamble(stake: float) -> None:
    """By integration over the probability p of GOOD, of law Beta(1, 2), which is worth 20."""
    number = 20_000
    agent: Any = started(Hindsight(samples=number), gamble(stake), 0.95)
    action = agent.act(0)
    p = scipy.stats.beta(1, 2).ppf((np.arange(10**6) + 0.5) / 10**6)
    exact = np.zeros(2)
    exact[GAMBLE] = (19 * p).mean()
    exact[STAY] = (stake + 0.95 * np.maximum(19 * p, 20 * stake)).mean()
    draws = agent.arrays.samples
    error = draws.q.std(axis=0, ddof=1) / np.sqrt(number)
    assert (np.abs(draws.mean - exact) < LIMIT * error).all()
    assert action == exact.argmax()


@pytest.mark.parametrize("name", PRIORS)
def test_values_have_the_law_of_solved_draws(name: str) -> None:
    prior = PRIORS[name]
    agent: Any = started(Hindsight(samples=4000), prior, 0.9)
    show(agent, prior, OBSERVED[name])
    posterior = prior.posterior(OBSERVED[name])
    rng = np.random.default_rng(5)
    expected = np.array([posterior.sample(rng).solve(0.9).q[0] for _ in range(1000)])
    action = agent.act(0)
    draws = agent.arrays.samples
    assert_same_law(draws.q, expected, [f"value {u}" for u in range(prior.num_actions)])
    np.testing.assert_allclose(draws.mean, draws.q.mean(axis=0), rtol=1e-12)
    assert action in best(draws.mean)


def test_ties_are_broken_at_random() -> None:
    prior = FlatDirichlet(np.ones((1, 3, 1)), 1.0)
    agent: Any = started(Hindsight(samples=2), prior, 0.9)
    actions = np.bincount([agent.act(0) for _ in range(3000)], minlength=3)
    assert np.abs(actions - 1000).max() < 4 * np.sqrt(3000 * 2 / 9)


def test_too_many_draws_are_refused() -> None:
    prior = FlatDirichlet(np.ones((40, 2, 40)), 0.0)
    with pytest.raises(InvalidInput) as caught:
        Hindsight(samples=10**6).train(prior, Task(0.9, 10), np.random.default_rng(0))
    assert str(caught.value).startswith("hindsight: samples = 1000000: ")
