"""VPI against the paper's definition on what it drew, and on a gamble by integration."""

from typing import Any

import numpy as np
import pytest
import scipy.stats

from brlbench.agents.base import Task
from brlbench.agents.vpi import Vpi
from brlbench.beliefs.flat import FlatDirichlet
from brlbench.errors import InvalidInput
from brlbench.mdps.sparse import Floats
from brlbench.problems import distribution
from helpers.laws import LIMIT
from helpers.made_planners import show, started
from helpers.optimism import GAMBLE, STAY, gamble, random_prior
from helpers.planner_cases import OBSERVED, PRIORS
from helpers.reference import best


def gains(q: Floats, mean: Floats) -> Floats:
    """The gain [K, A] of knowing that an action's true value is the drawn one."""
    order = np.argsort(-mean, kind="stable")
    found = np.zeros(q.shape)
    for u in range(len(mean)):
        if u == order[0]:
            second = mean[order[1]] if len(mean) > 1 else -np.inf
            found[:, u] = np.where(q[:, u] < second, second - q[:, u], 0)
        else:
            highest = mean[order[0]]
            found[:, u] = np.where(q[:, u] > highest, q[:, u] - highest, 0)
    return found


@pytest.mark.parametrize(
    "prior",
    [
        *PRIORS.values(),
        random_prior(4),
        distribution("GC"),
        FlatDirichlet(np.ones((3, 1, 3)), np.arange(3)),
    ],
)
def test_means_and_gains(prior: FlatDirichlet) -> None:
    agent: Any = started(Vpi(samples=7), prior, 0.9)
    for x in range(prior.num_states):
        action = agent.act(x)
        draws = agent.arrays.samples
        np.testing.assert_allclose(draws.mean, draws.q.mean(axis=0), rtol=1e-12, atol=1e-14)
        expected = draws.mean + gains(draws.q, draws.mean).mean(axis=0)
        np.testing.assert_allclose(agent.arrays.ranking, expected, rtol=1e-12, atol=1e-14)
        assert action in best(expected)


def test_a_gamble() -> None:
    """By integration over the probability p of GOOD, of law Beta(1, 2), which is worth 20."""
    stake, number = 0.25, 20_000
    agent: Any = started(Vpi(samples=number), gamble(stake), 0.95)
    action = agent.act(0)
    p = scipy.stats.beta(1, 2).ppf((np.arange(10**6) + 0.5) / 10**6)
    q = np.zeros((len(p), 2))
    q[:, GAMBLE] = 19 * p
    q[:, STAY] = stake + 0.95 * np.maximum(19 * p, 20 * stake)
    mean = q.mean(axis=0)
    exact = mean + gains(q, mean).mean(axis=0)
    draws = agent.arrays.samples
    spread = (draws.q + gains(draws.q, draws.mean)).std(axis=0) + draws.q.std(axis=0)
    assert (np.abs(agent.arrays.ranking - exact) < LIMIT * spread / np.sqrt(number)).all()
    assert mean.argmax() == STAY
    assert exact[GAMBLE] > mean[GAMBLE] + 0.5
    assert action == exact.argmax()


def test_what_is_known_is_worth_nothing() -> None:
    """With huge counts, draws are the mean MDP: no gains, and the greedy action."""
    prior = PRIORS["chain"]
    certain = FlatDirichlet(prior.counts.to_dense() * 1e9, prior.rewards)
    agent: Any = started(Vpi(samples=5), certain, 0.9)
    q = prior.mean().solve(0.9).q
    for x in range(3):
        assert agent.act(x) == q[x].argmax()
        np.testing.assert_allclose(agent.arrays.ranking, q[x], rtol=1e-3)


def test_it_learns_and_forgets() -> None:
    """The agent plays the posterior; a new trajectory starts from the prior."""
    prior = PRIORS["uneven"]
    agent: Any = started(Vpi(samples=4000), prior, 0.9)
    agent.act(0)
    first = agent.arrays.samples.mean.copy()
    show(agent, prior, OBSERVED["uneven"] * 50)
    agent.act(0)
    learned = agent.arrays.samples.mean.copy()
    posterior = prior.posterior(OBSERVED["uneven"] * 50)
    np.testing.assert_allclose(learned, posterior.mean().solve(0.9).q[0], rtol=0.05)
    agent.start(0, np.random.default_rng(1))
    agent.act(0)
    np.testing.assert_array_equal(agent.arrays.samples.mean, first)


def test_too_many_draws_are_refused() -> None:
    prior = FlatDirichlet(np.ones((40, 2, 40)), 0.0)
    with pytest.raises(InvalidInput) as caught:
        Vpi(samples=10**6).train(prior, Task(0.9, 10), np.random.default_rng(0))
    message = str(caught.value)
    assert message.startswith("vpi: samples = 1000000: ")
    assert message.endswith("use fewer samples")
