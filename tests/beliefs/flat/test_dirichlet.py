import copy
from typing import Any

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import ArrayLike

from brlbench.beliefs.flat import FlatDirichlet
from brlbench.errors import InvalidInput
from brlbench.mdps.mdp import Rewards
from brlbench.mdps.sparse import SparseTable
from brlbench.streams import generator
from helpers.strategies import priors, reproducible, transitions

ONES = np.ones((2, 1, 2))


@reproducible
@given(priors())
def test_samples_average_to_the_mean(prior: FlatDirichlet) -> None:
    """Within six standard errors, from the exact variance of a Dirichlet distribution."""
    number = 600
    rng = generator("test samples")
    drawn = prior.sample_many([rng] * number)
    total = prior.counts.row_sums()[prior.counts.pair]
    mean = prior.counts.values / total
    error = np.sqrt(mean * (1 - mean) / (total + 1) / number)
    assert (np.abs(drawn.mean(axis=0) - mean) <= 6 * error + 1e-12).all()


@reproducible
@given(priors())
def test_a_sample_is_an_mdp_on_the_possible_transitions(prior: FlatDirichlet) -> None:
    mdp = prior.sample(generator("test sample"))
    dense = mdp.transitions.to_dense()
    assert (dense[prior.counts.to_dense() == 0] == 0).all()
    np.testing.assert_allclose(dense.sum(axis=2), 1, rtol=1e-12)
    np.testing.assert_array_equal(mdp.start, prior.start)
    assert mdp.rewards.content() == prior.rewards.content()


def test_samples_have_the_marginals_of_a_dirichlet_distribution() -> None:
    counts = np.array([0.01, 0.5, 1.0, 8.0])
    prior = FlatDirichlet(np.tile(counts, (4, 1, 1)), 0)
    rng = generator("test marginals")
    drawn = prior.sample_many([rng] * 4000).reshape(-1, 4, 4)[:, 2]
    for i, count in enumerate(counts):
        marginal = scipy.stats.beta(count, counts.sum() - count)
        assert scipy.stats.kstest(drawn[:, i], marginal.cdf).pvalue > 1e-3


def test_rows_are_drawn_independently() -> None:
    prior = FlatDirichlet(np.ones((2, 2, 2)), 0)
    rng = generator("test independence")
    drawn = prior.sample_many([rng] * 4000)[:, ::2]
    correlations = np.asarray(np.corrcoef(drawn.T))[~np.eye(4, dtype=bool)]
    assert np.abs(correlations).max() < 5 / np.sqrt(4000)


def test_tiny_counts_choose_one_next_state_each() -> None:
    prior = FlatDirichlet(np.full((3, 200, 3), 1e-4), 0)
    drawn = prior.sample_many([generator("tiny", i) for i in range(5)])
    rows = drawn.reshape(-1, 3)
    np.testing.assert_allclose(rows.sum(axis=1), 1, rtol=1e-12)
    assert (rows.max(axis=1) > 0.999).mean() > 0.99
    chosen = np.bincount(rows.argmax(axis=1)) / len(rows)
    np.testing.assert_allclose(chosen, 1 / 3, atol=5 * np.sqrt(2 / 9 / len(rows)))


def test_samples_depend_on_the_generator_only() -> None:
    prior = FlatDirichlet(ONES, 0)
    one, other = (prior.sample(generator("seed", 1)).transitions.values for _ in range(2))
    np.testing.assert_array_equal(one, other)
    assert (one != prior.sample(generator("seed", 2)).transitions.values).all()


@reproducible
@given(priors())
def test_mean(prior: FlatDirichlet) -> None:
    dense = prior.counts.to_dense()
    expected = dense / dense.sum(axis=2, keepdims=True)
    np.testing.assert_allclose(prior.mean().transitions.to_dense(), expected, rtol=1e-12)
    assert prior.mean().rewards.content() == prior.rewards.content()
    np.testing.assert_array_equal(prior.mean().start, prior.start)


@reproducible
@given(st.data(), priors())
def test_posterior_adds_one_for_each_transition(data: st.DataObject, prior: FlatDirichlet) -> None:
    observed = data.draw(transitions(prior))
    expected = prior.counts.to_dense()
    for state, action, next_state in observed:
        expected[state, action, next_state] += 1
    posterior = prior.posterior(observed)
    np.testing.assert_allclose(posterior.counts.to_dense(), expected, rtol=1e-12)
    assert posterior.rewards.content() == prior.rewards.content()
    np.testing.assert_array_equal(posterior.start, prior.start)
    assert (posterior.name, posterior.description) == (prior.name, prior.description)


@reproducible
@given(st.data(), priors())
def test_posterior_in_two_steps(data: st.DataObject, prior: FlatDirichlet) -> None:
    first, second = data.draw(transitions(prior)), data.draw(transitions(prior))
    at_once = prior.posterior(first + second).counts.to_dense()
    in_steps = prior.posterior(first).posterior(second).counts.to_dense()
    np.testing.assert_allclose(in_steps, at_once, rtol=1e-12)


def test_posterior_of_an_impossible_transition() -> None:
    prior = FlatDirichlet([[[1, 0]], [[0, 1]]], [5, 7])
    posterior = prior.posterior([(0, 0, 1), (0, 0, 1)])
    assert posterior.counts.to_dense().tolist() == [[[1, 2]], [[0, 1]]]
    assert posterior.rewards.mean.at(posterior.counts).tolist() == [5, 7, 7]
    assert prior.counts.to_dense().tolist() == [[[1, 0]], [[0, 1]]]


def test_posterior_of_nothing_is_the_prior() -> None:
    prior = FlatDirichlet(ONES, 0)
    assert prior.posterior([]) is prior
    assert prior.posterior(np.zeros((0, 3), dtype=np.int64)) is prior


@reproducible
@given(priors())
def test_uniform(prior: FlatDirichlet) -> None:
    uniform = prior.uniform()
    assert (uniform.counts.to_dense() == 1).all()
    assert uniform.rewards.content() == prior.rewards.content()
    np.testing.assert_array_equal(uniform.start, prior.start)
    assert uniform.name == "uniform:drawn"


def test_digest_depends_on_the_content_and_not_on_names() -> None:
    arguments: list[dict[str, Any]] = [
        {},
        {"counts": 2 * ONES},
        {"rewards": 1},
        {"start": 1},
        {"reward_variances": 1},
    ]
    variants = [FlatDirichlet(**{"counts": ONES, "rewards": 0, **a}) for a in arguments]
    assert len({variant.digest for variant in variants}) == len(variants)
    assert FlatDirichlet(ONES, 0, name="a", description="b").digest == variants[0].digest


def test_max_reward_is_of_possible_transitions() -> None:
    assert FlatDirichlet([[[1, 0]], [[1, 0]]], [-3, 100]).max_reward == 3


def test_repr_and_copies() -> None:
    prior = FlatDirichlet(ONES, 0)
    assert repr(prior) == "FlatDirichlet(unnamed: 2 states, 1 action, 4 possible transitions)"
    assert copy.deepcopy(prior) is prior


def test_two_thousand_states() -> None:
    num_states, num_actions, successors = 2000, 2, 4
    rng = generator("test large")
    pairs = np.repeat(np.arange(num_states * num_actions), successors)
    offsets = np.tile(np.arange(successors), num_states * num_actions)
    places = (pairs // num_actions, pairs % num_actions, (pairs * 7 + offsets * 311) % num_states)
    counts = SparseTable.from_entries(
        num_states, num_actions, *places, rng.uniform(0.1, 5, len(pairs)), "counts"
    )
    rewards = SparseTable.from_entries(
        num_states, num_actions, *places, rng.uniform(0, 1, len(pairs)), "rewards"
    )
    prior = FlatDirichlet(counts, rewards)
    assert len(prior.counts.values) == len(pairs)
    np.testing.assert_allclose(prior.sample(rng).transitions.row_sums(), 1, rtol=1e-12)
    mean = prior.mean()
    q, value, policy = mean.solve(0.95)
    np.testing.assert_allclose(value, q.max(axis=1), rtol=1e-10)
    followed = mean.transitions.values * (
        mean.rewards.mean.values + 0.95 * value[counts.next_state]
    )
    backup = np.bincount(counts.pair, followed).reshape(num_states, num_actions)
    np.testing.assert_allclose(backup, q, rtol=1e-10)
    np.testing.assert_allclose(backup[np.arange(num_states), policy], value, rtol=1e-10)
    assert mean.expected_return(policy, 0.95, 600) == pytest.approx(value[0], rel=1e-10)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"counts": [[[1, 1]], [[-2, 1]]]},
            r"the count at \(state 1, action 0, next state 0\) is -2.0: must not be negative",
        ),
        (
            {"counts": [[[1, 1]], [[0, 0]]]},
            "the counts of state 1, action 0 are all zero: at least one next state must be poss",
        ),
        ({"counts": [[[1, 1]], [[np.nan, 1]]]}, r"counts\[1, 0, 0\] = nan: must be a finite"),
        ({"counts": [[1, 1]]}, r"counts has shape \[1, 2\]: it must be"),
        ({"counts": [[[1, 1]], [[1]]]}, "counts must be an array of numbers, all rows of one len"),
        ({"rewards": [1, 2, 3]}, r"rewards has shape \[3\]: must broadcast to \[2, 1, 2\]"),
        ({"rewards": Rewards.build((3, 1, 3), 0)}, r"rewards has shape \[3, 1, 3\]: must be \[2"),
        ({"reward_variances": -1}, "reward_variances at .* is -1.0: must not be negative"),
        ({"start": 2}, "start = 2: must be a state from 0 to 1"),
        ({"start": [0.5, 0.6]}, "start sums to 1.1: must sum to 1"),
    ],
)
def test_refused_priors(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        FlatDirichlet(**{"counts": ONES, "rewards": 0, **arguments})


@pytest.mark.parametrize(
    ("observed", "message"),
    [
        ([(0, 0)], r"transitions has shape \[1, 2\]: must have three columns"),
        ([0, 0, 0], r"transitions has shape \[3\]: must have three columns"),
        ([(2, 0, 0)], "transitions: state 2 is out of range: must be 0 to 1"),
        ([(0, 1, 0)], "transitions: action 1 is out of range: must be 0 to 0"),
        ([(0, 0, -1)], "transitions: next state -1 is out of range: must be 0 to 1"),
        ([(0.5, 0, 0)], "transitions: state must be whole numbers, not float64"),
        ([(0, 0, 0), (0, 0)], "transitions must be an array of numbers, all rows of one length"),
    ],
)
def test_refused_transitions(observed: ArrayLike, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        FlatDirichlet(ONES, 0).posterior(observed)
