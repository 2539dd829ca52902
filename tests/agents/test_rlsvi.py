"""RLSVI: its values solve the mean MDP with noise of the right law, which NumPy finds again."""

from typing import Any

import numpy as np
import pytest
import scipy.stats

from brlbench.agents.base import Task
from brlbench.agents.rlsvi import Rlsvi
from brlbench.beliefs.flat import FlatDirichlet
from brlbench.errors import InvalidInput
from brlbench.mdps.mdp import MDP
from brlbench.mdps.sparse import Floats
from helpers.optimism import random_prior
from helpers.reference import best

DISCOUNT, LENGTH, SIGMA = 0.9, 4, 0.7
PRIOR = random_prior(4)
SEEN = [(0, 1, 2), (2, 2, 4), (0, 1, 2)]  # observed before the noise is drawn


def started(agent: Any, task: Task, seed: int = 1) -> Any:
    agent.train(PRIOR, task, np.random.default_rng(0))
    agent.start(0, np.random.default_rng(seed))
    return agent


def mean_mdp(posterior: FlatDirichlet) -> tuple[Floats, Floats]:
    """Transitions [S, A, S] and expected rewards [S, A]."""
    mean = posterior.mean()
    transitions = mean.transitions.to_dense()
    return transitions, (transitions * mean.rewards.mean.to_dense()).sum(axis=2)


def assert_normal(noise: Floats) -> None:
    """Independent standard normal variates."""
    p = scipy.stats.kstest(noise.ravel(), "norm").pvalue
    print(f"{noise.size} variates: p = {p:.3f}")
    assert p > 1e-4


@pytest.mark.slow
def test_noise_in_every_backup_of_an_episode() -> None:
    """Each number of decisions left has noise of its own, of deviation sigma / sqrt(n)."""
    agent = started(Rlsvi(sigma=SIGMA, every=1), Task(1.0, 2000, episode=LENGTH))
    for x, u, y in SEEN:
        agent.observe(x, u, y, 0.0)
    agent.observe(0, 0, 1, 0.0)
    posterior = PRIOR.posterior([*SEEN, (0, 0, 1)])
    transitions, rewards = mean_mdp(posterior)
    total, noise = posterior.counts.to_dense().sum(axis=2), []
    for _ in range(100):
        action = agent.act(0)
        q = agent.arrays.model.plan.q.reshape(LENGTH + 1, 5, 3)
        for n in range(1, LENGTH + 1):
            value = q[n - 1].max(axis=1) if n > 1 else np.zeros(5)
            noise.append((q[n] - rewards - transitions @ value) * np.sqrt(total) / SIGMA)
        assert action == best(q[LENGTH][0])[0]
    assert_normal(np.array(noise))
    layers = np.array(noise).reshape(100, LENGTH, -1)
    related = np.corrcoef(layers[:, 0].ravel(), layers[:, 1].ravel())[0, 1]
    assert abs(related) < 4 / np.sqrt(layers[:, 0].size)


def test_one_noise_per_pair_without_episodes() -> None:
    agent = started(Rlsvi(sigma=SIGMA, every=2), Task(DISCOUNT, 400))
    transitions, rewards = mean_mdp(PRIOR)
    total = PRIOR.counts.to_dense().sum(axis=2)
    last, noise = None, []
    for t in range(200):
        action = agent.act(0)
        bonus = agent.arrays.model.bonus.reshape(5, 3).copy()
        assert (last is None or (bonus != last).any()) == (t % 2 == 0)
        if t % 2 == 0:
            exact = MDP(transitions, (rewards + bonus)[..., None] * np.ones(5)).solve(DISCOUNT).q
            shown = agent.arrays.model.q.reshape(5, 3)
            np.testing.assert_allclose(shown, exact, rtol=1e-9, atol=1e-9)
            assert action == best(shown[0])[0]
            noise.append(bonus * np.sqrt(total) / SIGMA)
        last = bonus
    assert_normal(np.array(noise))


@pytest.mark.slow
def test_without_noise_it_follows_the_mean_of_the_last_plan() -> None:
    """It learns all the time, but plans at the start of an episode."""
    agent = started(Rlsvi(sigma=0.0), Task(1.0, 60, episode=LENGTH))
    seen: list[tuple[int, int, int]] = []
    rng = np.random.default_rng(2)
    for t in range(60):
        if t % LENGTH == 0:
            transitions, rewards = mean_mdp(PRIOR.posterior(seen) if seen else PRIOR)
            q = [np.zeros((5, 3))]
            for _ in range(LENGTH):
                q.append(rewards + transitions @ q[-1].max(axis=1))
        x = int(rng.integers(5))
        u = agent.act(x)
        assert u == best(q[LENGTH - t % LENGTH][x])[0]
        seen.append((x, u, int(rng.choice(5, p=transitions[x, u]))))
        agent.observe(*seen[-1], 0.0)


def test_by_default_it_plans_once_per_episode_or_by_chance() -> None:
    assert started(Rlsvi(), Task(1.0, 20, episode=LENGTH)).arrays.every == LENGTH
    assert started(Rlsvi(), Task(0.9, 20)).arrays.chance == pytest.approx(0.1)
    with pytest.raises(InvalidInput, match=r"rlsvi: resample = 0\.1 and every = 5: give one"):
        Rlsvi(resample=0.1, every=5)
