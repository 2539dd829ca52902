"""Unknown rewards in compiled code: the solved model, and the law of what is drawn."""

from typing import Any

import numpy as np
import pytest

import brlbench as bb
from brlbench.builders.model import copy, solved_model
from brlbench.builders.sampled import build_sampled
from brlbench.kernels.jit import kernel
from brlbench.kernels.solving import model as models
from brlbench.kernels.solving import sampled
from brlbench.kernels.solving.model import Model
from brlbench.kernels.types import Floats, Integers, Words
from brlbench.mdps.task import Task
from brlbench.streams import generator
from helpers.families import FAMILIES
from helpers.sizes import sizes

DISCOUNT = 0.95


@kernel
def learn_all(model: Model, transitions: Integers, rewards: Floats) -> None:
    """Learn from transitions [n, 3]."""
    for i in range(len(transitions)):
        models.learn(model, transitions[i, 0], transitions[i, 1], transitions[i, 2], rewards[i])


@kernel
def draw_rewards(mdp: Any, rng: Words, out: Floats) -> None:
    """Draw the mean rewards [n, P] of MDPs."""
    for i in range(len(out)):
        sampled.resample(mdp, rng)
        for pair in range(out.shape[1]):
            out[i, pair] = mdp.rows.reward[pair]


def walk(prior: Any, steps: int) -> tuple[Integers, Floats]:
    """Transitions of an MDP of the prior under random actions."""
    rng = generator("test compiled rewards", prior.digest)
    mdp = prior.sample(rng)
    rows, means = mdp.transitions.to_dense(), mdp.rewards.mean.to_dense()
    deviation = np.sqrt(mdp.rewards.variance.to_dense())
    transitions, rewards, x = np.zeros((steps, 3), np.int64), np.zeros(steps), 0
    for i in range(steps):
        u = int(rng.integers(prior.num_actions))
        y = int(rng.choice(prior.num_states, p=rows[x, u]))
        rewards[i] = rng.normal(means[x, u, y], deviation[x, u, y])
        if mdp.rewards.is_binary:
            rewards[i] = rng.random() < means[x, u, y]
        transitions[i], x = (x, u, y), y
    return transitions, rewards


@pytest.mark.parametrize("by_entry", [False, True])
@pytest.mark.parametrize("name", ["binary", "normal"])
def test_the_solution_is_that_of_a_fresh_solve(name: str, by_entry: bool) -> None:
    """Over 10,000 steps; at the end it is that of the belief in Python, too."""
    prior, steps, stride = FAMILIES[name], 10_000, 500
    transitions, rewards = walk(prior, steps)
    model = solved_model(prior, Task(DISCOUNT, steps), by_entry)
    for first in range(0, steps, stride):
        part = slice(first, first + stride)
        learn_all(model, transitions[part], rewards[part])
        fresh = copy(model)
        models.solve(fresh)
        np.testing.assert_allclose(model.q, fresh.q, rtol=1e-12, atol=1e-12)
    observed = np.column_stack([transitions, rewards])
    exact = prior.posterior(observed).mean().solve(DISCOUNT).q.ravel()
    np.testing.assert_allclose(model.q, exact, rtol=1e-9)


@pytest.mark.parametrize("number", sizes(2000, 50_000))
@pytest.mark.parametrize("name", ["binary", "normal"])
def test_sampled_rewards_have_the_law_of_the_posterior(name: str, number: int) -> None:
    from scipy import stats

    prior: Any = FAMILIES[name]
    mdp, _ = build_sampled(prior, Task(DISCOUNT, 10))
    rng = generator("test sampled rewards").integers(0, 2**64, 4, np.uint64)
    drawn = np.zeros((number, prior.num_states * prior.num_actions))
    draw_rewards(mdp, rng, drawn)
    rewards = prior.reward_prior
    for pair, column in enumerate(drawn.T):
        parts = {key: array.ravel()[pair] for key, array in rewards.parameters().items()}
        law = (
            stats.beta(parts["alpha"], parts["beta"])
            if name == "binary"
            else stats.norm(parts["mean"], parts["precision"] ** -0.5)
        )
        assert stats.kstest(column, law.cdf).pvalue > 1e-5


@pytest.mark.slow
def test_the_noise_of_binary_and_gaussian_rewards_has_mean_zero() -> None:
    """So scores can be adjusted by it."""
    for name in ("binary", "normal"):
        result = bb.evaluate(
            bb.make_agent("random"), bb.Experiment(FAMILIES[name], num_mdps=4000, horizon=20)
        )
        noise = result.by_mdp("noise")
        error = noise.std(axis=0) / np.sqrt(len(noise))
        assert (abs(noise.mean(axis=0)) < 4.5 * error).all()
        assert abs(result.adjusted.mean - result.mean) < 3 * result.ci95
