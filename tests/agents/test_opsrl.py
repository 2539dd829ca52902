"""OPSRL against the MDPs that PSRL draws from the same stream, solved by NumPy."""

from typing import Any

import numpy as np
import pytest
from benchmarks.plain_sampling import value_iteration

from brlbench.agents.base import Task
from brlbench.agents.opsrl import Opsrl
from brlbench.agents.psrl import Psrl
from brlbench.beliefs.base import Family
from brlbench.errors import InvalidInput
from brlbench.mdps.sparse import Floats
from brlbench.problems import distribution
from helpers.families import FAMILIES
from helpers.optimism import random_prior
from helpers.reference import best

DISCOUNT, LENGTH, SAMPLES = 0.9, 4, 5


def started(agent: Any, prior: Family, task: Task) -> Any:
    agent.train(prior, task, np.random.default_rng(0))
    agent.start(0, np.random.default_rng(1))
    return agent


def drawn(prior: Family, task: Task) -> tuple[Floats, Floats]:
    """Transitions [K, S, A, S] and mean rewards [K, S, A] that PSRL draws one after the other."""
    agent = started(Psrl(every=1), prior, task)
    shape = prior.num_states, prior.num_actions
    transitions, rewards = np.zeros((SAMPLES, *shape, shape[0])), np.zeros((SAMPLES, *shape))
    for k in range(SAMPLES):
        agent.act(0)
        rows, posterior = agent.arrays.mdp.rows, agent.arrays.mdp.posterior
        rewards[k] = rows.reward.reshape(shape)
        for pair in range(shape[0] * shape[1]):
            entries = rows.first_entry[pair] + np.arange(rows.length[pair])
            chance = rows.probability[rows.start[pair] + np.arange(rows.length[pair])]
            np.add.at(transitions[k][divmod(pair, shape[1])], posterior.entry_next[entries], chance)
    return transitions, rewards


def backward(transitions: Floats, rewards: Floats) -> Floats:
    """Q-values [L + 1, S, A] by decisions left; the largest of K models at each backup."""
    q = np.zeros((LENGTH + 1, *rewards.shape[1:]))
    for n in range(1, LENGTH + 1):
        q[n] = (rewards + transitions @ q[n - 1].max(axis=1)).max(axis=0)
    return q


@pytest.mark.slow
@pytest.mark.parametrize("family", ["flat", "normal", "binary", "two groups"])
@pytest.mark.parametrize("largest", ["solution", "backup"])
def test_episodes(family: str, largest: str) -> None:
    prior = random_prior(4) if family == "flat" else FAMILIES[family]
    task = Task(1.0, 20, episode=LENGTH)
    transitions, rewards = drawn(prior, task)
    expected = backward(transitions, rewards)
    if largest == "solution":
        models = range(SAMPLES)
        expected = np.max([backward(transitions[[k]], rewards[[k]]) for k in models], axis=0)
    agent = started(Opsrl(samples=SAMPLES, largest=largest), prior, task)
    for left in range(LENGTH, 0, -1):
        action = agent.act(0)
        mdp = agent.arrays.draws.mdp
        shown = mdp.optimum.q.reshape(expected.shape[1:])
        np.testing.assert_allclose(shown, expected[left], rtol=1e-10, atol=1e-12)
        assert action == best(shown[0])[0]
        agent.observe(0, action, int(mdp.posterior.entry_next[0]), 0.0)


@pytest.mark.slow
@pytest.mark.parametrize("largest", ["solution", "backup"])
def test_without_episodes(largest: str) -> None:
    prior, task = distribution("GC"), Task(DISCOUNT, 20)
    transitions, _ = drawn(prior, task)
    rewards = prior.rewards.mean.to_dense()
    merged = [[transitions[:, x, u] for u in range(3)] for x in range(5)]
    alone = [[[model[x, u][None] for u in range(3)] for x in range(5)] for model in transitions]
    expected = (
        value_iteration(merged, rewards, DISCOUNT)
        if largest == "backup"
        else np.max([value_iteration(each, rewards, DISCOUNT) for each in alone], axis=0)
    )
    agent = started(Opsrl(samples=SAMPLES, every=3, largest=largest), prior, task)
    action = agent.act(2)
    shown = agent.arrays.draws.mdp.optimum.q.reshape(5, 3)
    np.testing.assert_allclose(shown, expected, rtol=1e-9)
    assert action == best(shown[2])[0]


@pytest.mark.parametrize("episode", [None, LENGTH])
def test_one_sample_is_psrl(episode: int | None) -> None:
    prior, task = random_prior(4), Task(DISCOUNT, 100, episode=episode)
    one, other = (started(each, prior, task) for each in (Opsrl(samples=1), Psrl()))
    rng, following = np.random.default_rng(3), prior.counts.next_state
    for _ in range(100):
        x = int(rng.integers(prior.num_states))
        action = one.act(x)
        assert action == other.act(x)
        pair = x * prior.num_actions + action
        y = int(rng.choice(following[prior.counts.pair == pair]))
        for agent in (one, other):
            agent.observe(x, action, y, 0.0)


def test_one_hypothesis_of_several_is_looked_up() -> None:
    """Of all hypotheses some have the largest Q-values; many draws find them."""
    prior: Any = FAMILIES["known"]
    agent = started(Opsrl(samples=300), prior, Task(DISCOUNT, 20))
    agent.act(0)
    exact = np.max([mdp.solve(DISCOUNT).q for mdp in prior.mdps], axis=0)
    shown = agent.arrays.draws.mdp.optimum.q
    np.testing.assert_allclose(shown, exact.ravel(), rtol=1e-9)


def test_refusals() -> None:
    with pytest.raises(InvalidInput, match=r"opsrl: samples = 1000000: .* use fewer samples"):
        prior = distribution("uniform:Grid")
        Opsrl(samples=10**6).train(prior, Task(0.9, 5), np.random.default_rng(0))
    with pytest.raises(InvalidInput, match=r"opsrl: resample = 0\.1 and every = 5: give one"):
        Opsrl(resample=0.1, every=5)
