"""What agents without a prior are told: its mean, which one visit outweighs, and its limits."""

from typing import Any

import numpy as np
import pytest

from brlbench.beliefs.hypotheses import Hypotheses
from brlbench.beliefs.rewards import BernoulliRewards, NormalRewards
from brlbench.builders.visits import from_visits, reward_limits
from brlbench.mdps.mdp import MDP
from brlbench.problems import distribution
from helpers.families import FAMILIES

PRIORS = {**FAMILIES, "flat": distribution("GC"), "Gaussian": distribution("RandomMDP:states=3")}


@pytest.mark.parametrize("name", PRIORS)
def test_one_visit_outweighs_the_prior(name: str) -> None:
    prior: Any = PRIORS[name]
    known = from_visits(prior)
    rows = prior.mean().transitions.to_dense()
    np.testing.assert_allclose(known.mean().transitions.to_dense(), rows, rtol=1e-15)
    y = int(np.flatnonzero(rows[1, 0])[-1])
    after = known.posterior([[1, 0, y, 0.25], [1, 0, y, 0.75]])
    expected = np.eye(prior.num_states)[y]
    np.testing.assert_allclose(after.mean().transitions.to_dense()[1, 0], expected, atol=1e-15)
    rows[1, 0] = expected
    np.testing.assert_allclose(after.mean().transitions.to_dense(), rows, atol=1e-15)
    paid = after.mean().rewards.mean.to_dense()[1, 0, y]
    if prior.known_rewards is None:
        assert paid == pytest.approx(0.5)
        assert after.reward_prior.expected[0, 1] == pytest.approx(expected_reward(prior))
    else:
        assert paid == prior.known_rewards.mean.to_dense()[1, 0, y]


def expected_reward(prior: Any) -> float:
    """The expected reward of the first state's second action."""
    mean = prior.mean()
    return float((mean.transitions.to_dense() * mean.rewards.mean.to_dense())[0, 1].sum())


def test_limits_of_rewards() -> None:
    binary: Any = FAMILIES["binary"]
    assert reward_limits(binary) == (0.0, 1.0)
    assert reward_limits(FAMILIES["goal"]) == reward_limits(FAMILIES["constant"]) == (0.0, 1.0)
    assert reward_limits(FAMILIES["chain"]) == (0.0, 10.0)
    wide = distribution("RandomMDP").with_rewards(NormalRewards(2.0, 4.0, 1.0))
    assert reward_limits(wide) == (0.5, 3.5)


def test_rewards_keep_their_kind() -> None:
    assert isinstance(from_visits(FAMILIES["binary"]).reward_prior, BernoulliRewards)
    kept = from_visits(FAMILIES["normal"]).reward_prior
    assert isinstance(kept, NormalRewards)
    np.testing.assert_array_equal(kept.noise, 0.7)
    differing = from_visits(FAMILIES["goal"]).reward_prior
    assert isinstance(differing, NormalRewards)
    np.testing.assert_array_equal(differing.noise, 1.0)


def test_rewards_that_differ_where_nothing_can_happen_are_known() -> None:
    rows = np.array([np.tile([1.0, 0.0], (2, 2, 1)), np.tile([0.5, 0.5], (2, 2, 1))])
    paid = np.ones((2, 2, 2, 2))
    paid[0, :, :, 1] = 0.0  # impossible there
    mdps = [MDP(row, reward, 0) for row, reward in zip(rows, paid, strict=True)]
    known = from_visits(Hypotheses(mdps))
    assert known.reward_prior is None
    assert (known.rewards.mean.to_dense() == 1).all()
