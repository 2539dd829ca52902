"""Compiled beliefs against those in Python, and effective counts against their definition."""

from typing import Any

import numpy as np
import pytest

from brlbench.beliefs.base import Family
from brlbench.beliefs.hypotheses import Hypotheses
from brlbench.beliefs.hypotheses.kernel import LEAST_COUNT, MOST_COUNT
from brlbench.builders.belief import Knowledge, build_belief
from brlbench.builders.model import copy
from brlbench.mdps.mdp import MDP
from brlbench.mdps.sparse import Floats, Integers
from brlbench.problems import distribution
from brlbench.streams import generator
from helpers import compiled
from helpers.families import FAMILIES, goal_grid

Transitions = tuple[Integers, Floats]


def observed(prior: Family, number: int) -> Transitions:
    """Transitions of an MDP of the prior, some of them impossible in all MDPs."""
    rng = generator("test compiled beliefs", prior.digest)
    mdp = prior.sample(rng)
    states, actions = mdp.num_states, mdp.num_actions
    probability, reward = mdp.transitions.to_dense(), mdp.rewards.mean.to_dense()
    deviation = np.sqrt(mdp.rewards.variance.to_dense())
    transitions, rewards = np.zeros((number, 3), np.int64), np.zeros(number)
    for i in range(number):
        x, u = rng.integers(states), rng.integers(actions)
        y = rng.choice(states, p=probability[x, u]) if i % 5 else rng.integers(states)
        transitions[i] = x, u, y
        rewards[i] = reward[x, u, y] + deviation[x, u, y] * rng.normal()
    return transitions, rewards


def learn(prior: Family, seen: Transitions) -> tuple[Knowledge, Any]:
    """What is known after transitions: compiled, and in Python."""
    known = build_belief(prior, horizon=len(seen[0]), background=False)
    numbers = np.zeros(len(seen[0]), np.int64)
    compiled.count_transitions(*known, *seen, numbers)
    belief: Any = prior.belief()
    for (x, u, y), r in zip(seen[0].tolist(), seen[1].tolist(), strict=True):
        if isinstance(prior, Hypotheses) or prior.counts.to_dense()[x, u, y] > 0:  # type: ignore[attr-defined]
            belief.observe(x, u, y, r)
    return known, belief


@pytest.mark.parametrize("name", FAMILIES)
def test_the_mean_mdp_is_that_of_the_belief(name: str) -> None:
    prior = FAMILIES[name]
    for number in (0, 1, 12):
        known, belief = learn(prior, observed(prior, number))
        counts, shape = known.counts, (prior.num_states * prior.num_actions, prior.num_states)
        rows, rewards = np.zeros(shape), np.zeros(shape[0])
        for pair, (first, length) in enumerate(
            zip(counts.row_start, counts.row_length, strict=True)
        ):
            entries = slice(first, first + length)
            np.add.at(rows[pair], counts.entry_next[entries], counts.entry_count[entries])
            expected = counts.entry_count[entries] @ known.entry_reward[entries]
            rewards[pair] = expected / counts.total[pair]
        mean = belief.mean()
        dense = mean.transitions.to_dense()
        expected = (dense * mean.rewards.mean.to_dense()).sum(axis=2).ravel()
        np.testing.assert_allclose(rows.sum(axis=1), counts.total, rtol=1e-12)
        np.testing.assert_allclose(rows / counts.total[:, None], dense.reshape(shape), atol=1e-12)
        np.testing.assert_allclose(counts.reward_sum / counts.total, expected, atol=1e-12)
        np.testing.assert_allclose(rewards, expected, atol=1e-12)


@pytest.mark.parametrize("name", ["chain", "two groups"])
def test_tied_rows_have_the_counts_of_the_posterior(name: str) -> None:
    prior = FAMILIES[name]
    known, belief = learn(prior, observed(prior, 30))
    np.testing.assert_allclose(known.counts.entry_count[: known.counts.pool_end[0]],
                               belief.counts().values, rtol=1e-14)  # fmt: skip


@pytest.mark.parametrize("name", ["goal", "known", "constant", "gaussian"])
def test_weights_are_those_of_the_belief(name: str) -> None:
    prior: Any = FAMILIES[name]
    known, belief = learn(prior, observed(prior, 12))
    left = known.belief.left[0]
    weights = np.zeros(len(prior))
    weights[known.belief.case[:left]] = known.belief.weight[:left]
    np.testing.assert_allclose(weights, belief.weights, atol=1e-13)
    assert left == np.count_nonzero(belief.weights)
    initial = build_belief(prior, horizon=1).belief
    compiled.reset_belief(known.belief, initial)
    for one, other in zip(known.belief[2:5], initial[2:5], strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", ["goal", "known", "constant", "gaussian"])
def test_effective_counts_have_the_summed_variance_of_the_outcomes(name: str) -> None:
    prior: Any = FAMILIES[name]
    known, belief = learn(prior, observed(prior, 3))
    mdps, weights = prior.mdps, belief.weights
    reward = np.broadcast_to(mdps.reward, mdps.probability.shape)
    for pair, n in enumerate(known.counts.total):
        mean, square, variance = 0.0, 0.0, 0.0
        for entry in range(*mdps.places.row_start[pair : pair + 2]):
            unknown = name in ("goal", "constant")
            for r in np.unique(reward[:, entry]) if unknown else [None]:
                chance = mdps.probability[:, entry] * (1 if r is None else reward[:, entry] == r)
                mean = weights @ chance
                square += mean**2
                variance += weights @ (chance - mean) ** 2
        if variance > 1e-9:
            wanted = np.clip((1 - square) / variance - 1, LEAST_COUNT, MOST_COUNT)
            assert n == pytest.approx(wanted, rel=1e-6)
        else:
            assert n == pytest.approx(MOST_COUNT, rel=1e-3)


def test_far_gaussian_rewards_have_the_weights_of_the_belief() -> None:
    """All densities are zero in floating-point numbers; in Python their logarithms are compared."""
    stay = np.ones((1, 1, 1))
    mdps = [MDP(stay, mean, 0, variance) for mean, variance in ((0.0, 0.01), (0.1, 0.0101))]
    prior = Hypotheses(mdps)
    for reward in (8.0, -9.0):
        known, belief = learn(prior, (np.zeros((1, 3), np.int64), np.array([reward])))
        weights = np.zeros(2)
        left = known.belief.left[0]
        weights[known.belief.case[:left]] = known.belief.weight[:left]
        assert np.ptp(weights) > 0.5
        np.testing.assert_allclose(weights, belief.weights, rtol=1e-9)


def test_many_draws_of_a_flat_prior_have_its_counts() -> None:
    """The effective counts of Dirichlet rows are their counts; draws have them up to noise."""
    flat = distribution("Chain").uniform().scaled(2.0)
    number = 20_000
    draws = Hypotheses(flat.draw([generator("test many draws")] * number))
    seen = observed(flat, 8)
    posterior = flat.posterior(seen[0])
    known, belief = learn(draws, seen)
    size = belief.effective_size
    assert size > 200
    dense = posterior.counts.to_dense().reshape(-1, flat.num_states)
    np.testing.assert_allclose(known.counts.total, dense.sum(axis=1), rtol=6 / np.sqrt(size))
    means = belief.mean().transitions.to_dense().reshape(dense.shape)
    np.testing.assert_allclose(
        means, dense / dense.sum(axis=1, keepdims=True), atol=3 / np.sqrt(size)
    )


def test_an_observation_that_no_hypothesis_allows_changes_nothing() -> None:
    known = build_belief(goal_grid(), horizon=1, background=False)
    before = copy(known)
    numbers = np.ones(2, np.int64)
    impossible = np.array([[0, 0, 8], [0, 0, 0]])
    compiled.count_transitions(*known, impossible, np.array([0.0, 0.5]), numbers)
    assert not numbers.any()
    np.testing.assert_array_equal(known.counts.entry_count, before.counts.entry_count)
    np.testing.assert_array_equal(known.belief.weight, before.belief.weight)
