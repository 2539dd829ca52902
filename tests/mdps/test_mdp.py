from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import ArrayLike

from brlbench.beliefs.flat import FlatDirichlet
from brlbench.errors import InvalidInput
from brlbench.mdps.mdp import MDP, Rewards, check_discount, start_distribution
from brlbench.mdps.sparse import Floats, SparseTable
from helpers.strategies import discounts, priors, reproducible

HALF = np.full((2, 1, 2), 0.5)


def value_iteration(mdp: MDP, discount: float) -> Floats:
    """The optimal Q-function [S, A], by plain value iteration to convergence."""
    probabilities = mdp.transitions.to_dense()
    immediate = (probabilities * mdp.rewards.mean.to_dense()).sum(axis=2)
    q = np.zeros(immediate.shape)
    for _ in range(10_000):
        update = immediate + discount * probabilities @ q.max(axis=1)
        change, q = np.abs(update - q).max(), update
        if change < 1e-13:
            break
    return q


def propagate(mdp: MDP, policy: Floats, discount: float, horizon: int) -> float:
    """The expected return of a policy [S, A], following the distribution of the state."""
    probabilities, rewards = mdp.transitions.to_dense(), mdp.rewards.mean.to_dense()
    states, total = mdp.start.copy(), 0.0
    for t in range(horizon):
        reached = states[:, None, None] * policy[:, :, None] * probabilities
        total += discount**t * float((reached * rewards).sum())
        states = reached.sum(axis=(0, 1))
    return total


@reproducible
@given(priors(), discounts)
def test_solve_agrees_with_value_iteration(prior: FlatDirichlet, discount: float) -> None:
    for mdp in (prior.mean(), prior.sample(np.random.default_rng(0))):
        q, value, policy = mdp.solve(discount)
        expected = value_iteration(mdp, discount)
        np.testing.assert_allclose(q, expected, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(value, expected.max(axis=1), rtol=1e-9, atol=1e-9)
        chosen = expected[np.arange(prior.num_states), policy]
        np.testing.assert_allclose(chosen, expected.max(axis=1), rtol=1e-9, atol=1e-9)


@reproducible
@given(st.data(), priors(), discounts, st.integers(0, 40))
def test_expected_return_agrees_with_propagation(
    data: st.DataObject, prior: FlatDirichlet, discount: float, horizon: int
) -> None:
    mdp = prior.sample(np.random.default_rng(1))
    shape = (prior.num_states, prior.num_actions)
    weights = data.draw(arrays(np.float64, shape, elements=st.floats(0.01, 1)))
    policy = weights / weights.sum(axis=1, keepdims=True)
    expected = propagate(mdp, policy, discount, horizon)
    assert mdp.expected_return(policy, discount, horizon) == pytest.approx(expected, abs=1e-9)


@reproducible
@given(priors(), discounts)
def test_a_policy_of_actions_is_one_of_certain_choices(
    prior: FlatDirichlet, discount: float
) -> None:
    mdp = prior.mean()
    actions = mdp.solve(discount).policy
    certain = np.eye(prior.num_actions)[actions]
    expected = propagate(mdp, certain, discount, 30)
    assert mdp.expected_return(actions, discount, 30) == pytest.approx(expected, abs=1e-9)
    assert mdp.expected_return(certain, discount, 30) == pytest.approx(expected, abs=1e-9)


def test_one_state_has_a_closed_form() -> None:
    mdp = MDP([[[1.0], [1.0]]], [[[3.0], [2.0]]])
    assert mdp.solve(0.9).value == pytest.approx([30])
    assert mdp.solve(0.9).q == pytest.approx(np.array([[30, 29]]))
    assert mdp.solve(0.9).policy.tolist() == [0]
    assert mdp.expected_return([1], 0.9, 5) == pytest.approx(2 * (1 - 0.9**5) / 0.1)
    assert mdp.expected_return([1], 0.9, 0) == 0


def test_waiting_for_a_larger_reward_pays_with_patience_only() -> None:
    """Take 1 now and end, or wait a step for 3."""
    transitions = np.zeros((3, 2, 3))
    transitions[0, 0, 2] = transitions[0, 1, 1] = transitions[1, :, 2] = transitions[2, :, 2] = 1
    rewards = np.zeros((3, 2, 3))
    rewards[0, 0, 2], rewards[1, :, 2] = 1, 3
    mdp = MDP(transitions, rewards)
    assert mdp.solve(0.3).policy[0] == 0
    assert mdp.solve(0.3).value == pytest.approx([1, 3, 0])
    assert mdp.solve(0.4).policy[0] == 1
    assert mdp.solve(0.4).value == pytest.approx([1.2, 3, 0])


@pytest.mark.parametrize("discount", [0.9999, 1 - 1e-8])
def test_solve_ends_where_all_actions_tie(discount: float) -> None:
    size = 12
    transitions = np.zeros((size, 3, size))
    for state in range(size):
        transitions[state, 0, (state + 1) % size] = 1
        transitions[state, 1, state - 1] = 1
        transitions[state, 2, [(state + 1) % size, state - 1]] = 0.5
    value = MDP(transitions, 1 / 3).solve(discount).value
    np.testing.assert_allclose(value, 1 / 3 / (1 - discount), rtol=1e-6)


def test_the_start_distribution_weighs_the_states() -> None:
    absorbing = MDP(np.eye(2)[:, None, :], [[[1.0, 0.0]], [[0.0, 5.0]]], start=[0.25, 0.75])
    assert absorbing.expected_return([0, 0], 0.5, 1) == pytest.approx(0.25 + 0.75 * 5)


def test_rewards_broadcast_and_variances_do_not_change_values() -> None:
    plain, noisy = MDP(HALF, [1, 2]), MDP(HALF, [1, 2], reward_variances=4)
    np.testing.assert_array_equal(plain.solve(0.9).q, noisy.solve(0.9).q)
    assert noisy.rewards.variance.to_dense().tolist() == [[[4, 4]], [[4, 4]]]
    assert plain.rewards.mean.to_dense().tolist() == [[[1, 2]], [[1, 2]]]
    assert len(plain.rewards.variance.values) == 0


def test_rewards_can_be_shared() -> None:
    shared = MDP(HALF, [1, 2], reward_variances=4).rewards
    assert MDP(HALF, shared).rewards.content() == shared.content()
    assert MDP(HALF, shared, reward_variances=1).rewards.variance.values.tolist() == [1] * 4


def test_the_start_is_copied_and_read_only() -> None:
    given_start = np.array([0.5, 0.5])
    start = MDP(HALF, 0, given_start).start
    given_start[:] = [1, 0]
    assert start.tolist() == [0.5, 0.5]
    with pytest.raises(ValueError, match="read-only"):
        start[0] = 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"transitions": [[0.5, 0.5]]}, r"transitions has shape \[1, 2\]"),
        (
            {"transitions": [[[1.5, -0.5]], [[0.5, 0.5]]]},
            r"probability at \(state 0, action 0, next state 1\) is -0.5: must not be negative",
        ),
        (
            {"transitions": [[[0.5, 0.5]], [[0.5, 0.4]]]},
            "probabilities of state 1, action 0 sum to 0.9: must sum to 1",
        ),
        ({"transitions": [[[0.5, 0.5]], [[0, 0]]]}, "state 1, action 0 sum to 0.0: must sum to 1"),
        ({"transitions": [[[np.nan, 1]], [[0, 1]]]}, r"transitions\[0, 0, 0\] = nan"),
        ({"rewards": [1, 2, 3]}, r"rewards has shape \[3\]: must broadcast to \[2, 1, 2\]"),
        ({"rewards": [[1], [2, 3]]}, "rewards must be an array of numbers, all rows of one length"),
        ({"rewards": "many"}, "rewards must be an array of numbers"),
        ({"rewards": np.inf}, r"rewards\[0, 0, 0\] = inf: must be a finite number"),
        (
            {"rewards": SparseTable.from_dense(np.ones((3, 1, 3)), "rewards")},
            r"rewards has shape \[3, 1, 3\]: must be \[2, 1, 2\]",
        ),
        (
            {"rewards": Rewards.build((3, 1, 3), 1)},
            r"rewards has shape \[3, 1, 3\]: must be \[2, 1, 2\]",
        ),
        (
            {"reward_variances": [0, -2]},
            r"reward_variances at \(state 0, action 0, next state 1\) is -2.0: must not be neg",
        ),
        ({"reward_variances": np.ones(5)}, r"reward_variances has shape \[5\]: must broadcast"),
        ({"start": 2}, 'start = 2: must be a state from 0 to 1, "uniform", or probabilities'),
        ({"start": -1}, "start = -1: must be a state from 0 to 1"),
        ({"start": 0.5}, "start = 0.5: must be a state from 0 to 1"),
        ({"start": "first"}, "start = 'first': must be a state"),
        ({"start": [1.0]}, "start has 1 probabilities: must have one for each of the 2 states"),
        ({"start": [1.5, -0.5]}, r"start\[1\] = -0.5: must not be negative"),
        ({"start": [np.nan, 1]}, r"start\[0\] = nan"),
        ({"start": [np.inf, 1]}, "start sums to inf: must sum to 1"),
        ({"start": [0.5, 0.4]}, "start sums to 0.9: must sum to 1"),
        ({"start": ["a", "b"]}, "start must be an array of numbers"),
        ({"start": [[1], [0, 1]]}, "start must be an array of numbers, all rows of one length"),
    ],
)
def test_refused_mdps(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        MDP(**{"transitions": HALF, "rewards": 0, **arguments})


def test_not_a_number_is_refused_in_a_table_too() -> None:
    table = SparseTable.from_dense(HALF, "transitions")
    with pytest.raises(InvalidInput, match="state 0, action 0 sum to nan: must sum to 1"):
        MDP(table.replace(np.array([np.nan, 1, 0.5, 0.5])), 0)


@pytest.mark.parametrize("discount", [0, 1, -0.1, 1.5, np.nan, np.inf])
def test_refused_discounts(discount: float) -> None:
    for use in (MDP(HALF, 0).solve, check_discount):
        with pytest.raises(InvalidInput, match=f"discount = {discount}: must be a number between"):
            use(discount)
    with pytest.raises(InvalidInput, match="must be a number between 0 and 1, both excluded"):
        MDP(HALF, 0).expected_return([0, 0], discount, 3)


@pytest.mark.parametrize("discount", ["0.9", None, True])
def test_discounts_that_are_no_numbers(discount: Any) -> None:
    with pytest.raises(InvalidInput, match=r"discount = .*: must be a number between 0 and 1"):
        check_discount(discount)


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        ([0, 1], "policy: action 1 is out of range: must be 0 to 0"),
        ([0, -1], "policy: action -1 is out of range: must be 0 to 0"),
        ([0.0, 0.0], "policy: action must be whole numbers, not float64"),
        ([0, 0, 0], r"policy has shape \[3\]: must be actions \[2\] or probabilities \[2, 1\]"),
        ([[1.0, 1.0]], r"policy has shape \[1, 2\]: must be"),
        ([[1.0], [0.9]], r"policy\[1\] = \[0.9\]: must be probabilities that sum to 1"),
        ([[1.0], [np.nan]], r"policy\[1\] = \[nan\]: must be probabilities"),
        ([[1.0], [1.0, 0.0]], "policy must be an array of numbers, all rows of one length"),
    ],
)
def test_refused_policies(policy: ArrayLike, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        MDP(HALF, 0).expected_return(policy, 0.9, 3)


def test_refused_policy_with_a_negative_probability() -> None:
    two_actions = MDP(np.full((2, 2, 2), 0.5), 0)
    with pytest.raises(InvalidInput, match=r"policy\[0\] = \[1.5, -0.5\]: must be probabilities"):
        two_actions.expected_return([[1.5, -0.5], [1.0, 0.0]], 0.9, 3)


def test_probabilities_may_be_rounded() -> None:
    assert start_distribution(3, "uniform").tolist() == [1 / 3] * 3
    assert start_distribution(3, [0.333, 0.333, 0.333]).tolist() == [1 / 3] * 3
    assert start_distribution(2, [0.5, 0.5 + 1e-12]).tolist() == [0.5, 0.5 + 1e-12]  # as it is
    thirds = np.full((3, 1, 3), 0.3333)
    thirds[0] = [0.5, 0.25, 0.25]
    mdp = MDP(thirds, 0)
    assert mdp.transitions.to_dense()[0, 0].tolist() == [0.5, 0.25, 0.25]
    np.testing.assert_allclose(mdp.transitions.row_sums(), 1, rtol=0, atol=1e-15)


def test_start_distribution_of_one_state() -> None:
    assert start_distribution(3, 2).tolist() == [0, 0, 1]
    assert start_distribution(3, np.int64(1)).tolist() == [0, 1, 0]
