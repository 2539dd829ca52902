"""IDS: regrets, gains and distributions against NumPy, and a Bernoulli bandit by integration."""

from typing import Any

import numpy as np
import pytest
import scipy.stats

from brlbench.agents.base import Task
from brlbench.agents.ids import Ids
from brlbench.agents.ids.kernel import best_pair
from brlbench.beliefs.flat import FlatDirichlet
from brlbench.beliefs.rewards import BernoulliRewards
from brlbench.errors import InvalidInput
from brlbench.kernels.jit import kernel
from brlbench.mdps.sparse import Floats
from helpers.families import FAMILIES
from helpers.laws import LIMIT
from helpers.made_planners import started
from helpers.optimism import random_prior

ALPHA, BETA = np.array([2.0, 20.0, 1.0]), np.array([3.0, 20.0, 4.0])


@kernel
def chosen_pair(agent: Any) -> tuple[int, int, float]:
    """Two actions and the probability of the first."""
    return best_pair(agent)


def bandit() -> FlatDirichlet:
    return FlatDirichlet(np.ones((1, 3, 1)), BernoulliRewards([ALPHA], [BETA]))


def weights(q: Floats) -> tuple[Floats, Floats]:
    """The regrets and gains [A] of drawn values [K, A], by definition."""
    top, mean = q.argmax(axis=1), q.mean(axis=0)
    gain = np.zeros(q.shape[1])
    for a in np.unique(top):
        gain += (top == a).mean() * (q[top == a].mean(axis=0) - mean) ** 2
    return q.max(axis=1).mean() - mean, gain


def integrated() -> tuple[Floats, Floats]:
    """The regrets and gains of the bandit's arms, by integration over the best arm's mean."""
    grid = (np.arange(100_000) + 0.5) / 100_000
    density = [scipy.stats.beta(*arm).pdf(grid) for arm in zip(ALPHA, BETA, strict=True)]
    below = [scipy.stats.beta(*arm).cdf(grid) for arm in zip(ALPHA, BETA, strict=True)]
    part = [np.cumsum(grid * each) / len(grid) for each in density]  # mean of what is below
    highest, mean, gain = 0.0, ALPHA / (ALPHA + BETA), np.zeros(3)
    for a in range(3):
        others = [v for v in range(3) if v != a]
        law = density[a] * below[others[0]] * below[others[1]] / len(grid)
        chance = law.sum()
        highest += float(law @ grid)
        for u in range(3):
            given = grid if u == a else part[u] / np.maximum(below[u], 1e-300)
            gain[u] += chance * (law @ given / chance - mean[u]) ** 2
    return highest - mean, gain


def least_ratio(regret: Floats, gain: Floats) -> float:
    """The least ratio over many distributions over all actions, and fine ones over two."""
    rng, count = np.random.default_rng(0), len(regret)
    laws = [rng.dirichlet(np.full(count, 0.3), 20_000)]
    for u in range(count):
        for v in range(u):
            law = np.zeros((2001, count))
            law[:, u], law[:, v] = np.linspace(0, 1, 2001), np.linspace(1, 0, 2001)
            laws.append(law)
    law = np.concatenate(laws)
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.nanmin((law @ regret) ** 2 / (law @ gain)))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_the_distribution_is_the_best_one(seed: int) -> None:
    agent: Any = started(Ids(samples=12), random_prior(seed), 0.9)
    randomised = 0
    for x in range(5):
        agent.act(x)
        arrays = agent.arrays
        regret, gain = weights(arrays.samples.q)
        np.testing.assert_allclose(arrays.regret, regret, rtol=1e-9, atol=1e-8)
        np.testing.assert_allclose(arrays.gain, gain, rtol=1e-7, atol=1e-12)
        first, second, chance = chosen_pair(arrays)
        law = np.zeros(3)
        law[first] += chance
        law[second] += 1 - chance
        randomised += 0 < chance < 1
        if arrays.regret.min() > 0:
            expected = least_ratio(regret, gain)
            found = (law @ regret) ** 2 / (law @ gain)
            assert expected * (1 - 1e-3) < found < expected * (1 + 1e-9)
        else:
            assert arrays.regret[first] == 0
    print(f"{randomised} of 5 decisions are random")


def test_a_bernoulli_bandit() -> None:
    """Episodes of one decision are the authors' bandits: Q-values are the means of arms."""
    repetitions, number = 40, 2000
    agent: Any = Ids(samples=number)
    agent.train(bandit(), Task(1.0, repetitions, episode=1), np.random.default_rng(0))
    agent.start(0, np.random.default_rng(1))
    found, actions = [], []
    for _ in range(repetitions):
        actions.append(agent.act(0))
        found.append([agent.arrays.regret.copy(), agent.arrays.gain.copy()])
    regret, gain = exact = integrated()
    error = np.std(found, axis=0, ddof=1) / np.sqrt(repetitions)
    # A variance of three means is too large by the variances of the means, at most 1/4 per draw.
    bias = np.array([0.0, 3 / 4 / number])[:, None]
    assert (np.abs(np.mean(found, axis=0) - exact) < LIMIT * error + bias).all()
    law = np.linspace(0, 1, 10_001)[:, None]
    pairs = [
        (((law * regret[u] + (1 - law) * regret[v]) ** 2) / (law * gain[u] + (1 - law) * gain[v]))
        for u, v in ((0, 1), (0, 2), (1, 2))
    ]
    best = int(np.argmin([each.min() for each in pairs]))
    u, v = ((0, 1), (0, 2), (1, 2))[best]
    assert set(actions) <= {u, v}
    chance = float(law[pairs[best].argmin(), 0])
    print(f"arms {u} and {v}, {chance:.3f} and {1 - chance:.3f}; regret {regret}, gain {gain}")
    assert abs(np.mean(np.array(actions) == u) - chance) < 4 * 0.5 / np.sqrt(repetitions)


@pytest.mark.slow
@pytest.mark.parametrize("family", ["binary", "known"])
def test_values_are_those_to_the_end_of_the_episode(family: str) -> None:
    """With one decision left, they are the mean rewards; regrets follow from the draws."""
    prior, agent = FAMILIES[family], Ids(samples=9)
    agent.train(prior, Task(1.0, 6, episode=2), np.random.default_rng(0))
    agent.start(0, np.random.default_rng(1))
    for _ in range(2):
        agent.act(0)
        arrays: Any = agent.arrays
        regret, gain = weights(arrays.samples.q)
        np.testing.assert_allclose(arrays.regret, regret, rtol=1e-9, atol=1e-8)
        np.testing.assert_allclose(arrays.gain, gain, rtol=1e-7, atol=1e-12)
        agent.observe(0, 0, 0, 0.0)
    rewards = arrays.samples.mdp.rows.reward[: prior.num_actions]
    np.testing.assert_allclose(agent.arrays.samples.q[-1], rewards, rtol=1e-12)


def test_nothing_left_to_learn() -> None:
    """Draws that agree on the best action leave no gain: it is taken."""
    prior = random_prior(1)
    certain = FlatDirichlet(prior.counts.to_dense() * 1e9, prior.rewards)
    agent: Any = started(Ids(samples=5), certain, 0.9)
    q = prior.mean().solve(0.9).q
    for x in range(5):
        assert agent.act(x) == q[x].argmax()


def test_too_many_draws_are_refused() -> None:
    prior = FlatDirichlet(np.ones((40, 2, 40)), 0.0)
    with pytest.raises(InvalidInput, match=r"^ids: samples = 1000000: "):
        Ids(samples=10**6).train(prior, Task(0.9, 10), np.random.default_rng(0))
