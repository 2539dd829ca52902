"""Bounds for tied priors and sets of hypotheses."""

import numpy as np
import pytest

from brlbench.analysis import bayes_bound
from brlbench.analysis.bayes_bound import bayes_optimal_bound
from brlbench.analysis.bayes_bound.search import draw_stratified
from brlbench.analysis.bayes_optimal import bayes_optimal_value
from brlbench.beliefs.hypotheses import Hypotheses
from brlbench.mdps.mdp import MDP
from brlbench.problems import distribution


def small_set() -> Hypotheses:
    """Three random MDPs of three states and two actions, whose rewards differ."""
    rng, shape = np.random.default_rng(4), (3, 2, 3)
    rewards = rng.integers(0, 3, (3, *shape)).astype(float)
    return Hypotheses([MDP(rng.dirichlet(np.ones(3), shape[:2]), r) for r in rewards], [1, 2, 3])


def test_hypotheses_have_exact_bounds_that_fall_to_the_value() -> None:
    prior, discount = small_set(), 0.4
    bounds = [bayes_optimal_bound(prior, discount, depth=depth) for depth in range(1, 7)]
    estimates = [bound.estimate for bound in bounds]
    assert estimates == sorted(estimates, reverse=True)
    assert all(bound.standard_error == 0 and bound.upper == bound.estimate for bound in bounds)
    value = bayes_optimal_value(prior, discount, 6)
    tail = discount**6 * prior.max_reward / (1 - discount)
    assert value <= bounds[-1].upper <= value + tail
    assert bounds[-1].is_complete and bounds[-1].depth == 6


def test_clairvoyant_value_of_hypotheses() -> None:
    grid = distribution("GoalGrid:size=3")
    goals = [(goal // 3 + goal % 3) for goal in range(9) if goal not in (0, 1, 3, 4)]
    expected = np.mean([0.5 ** (steps - 1) / 0.5 for steps in goals])
    bound = bayes_optimal_bound(grid, 0.5, depth=2)
    assert bound.clairvoyant == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("name", ["tied", "semi"])
def test_tied_chains(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bound of endless decisions is the value of some, up to its error and the tail."""
    monkeypatch.setattr(bayes_bound, "_BLOCKS_OF_VALUES", 32)
    prior, discount, depth = distribution(f"Chain:prior={name}"), 0.5, 9
    bound = bayes_optimal_bound(prior, discount, depth=depth)
    value = bayes_optimal_value(prior, discount, depth)
    error, tail = 4 * bound.standard_error, 10 * discount**depth / (1 - discount)
    assert 0 < bound.standard_error < 0.05
    assert value - error < bound.estimate < value + tail + error
    assert bound.is_complete


def test_mdps_of_tied_priors_are_drawn_evenly() -> None:
    """In a block, each slip is in another interval; pairs of a group have the same."""
    prior = distribution("Chain:prior=semi")
    drawn = draw_stratified(prior, 64, 64, np.random.default_rng(0))
    success = drawn[:, prior.cell == 0][:, 0]
    assert sorted((64 * success).astype(int)) == list(range(64))
    np.testing.assert_array_equal(drawn[:, prior.cell == 0], np.tile(success[:, None], 5))
    pair_sums = np.add.reduceat(drawn, prior.counts.row_start[:-1], axis=1)
    np.testing.assert_allclose(pair_sums, 1, rtol=1e-12)


def test_searches_end_when_they_are_told_to() -> None:
    bound = bayes_optimal_bound(distribution("GoalGrid"), 0.95, beliefs=500)
    assert bound.beliefs <= 500
    assert not bound.is_complete
    assert 0 < bound.depth < 20
    further = bayes_optimal_bound(distribution("GoalGrid"), 0.95, beliefs=2000)
    assert further.upper < bound.upper < bound.clairvoyant


def test_negative_rewards_need_the_horizon() -> None:
    mdp = MDP(np.ones((1, 1, 1)), -1.0)
    endless = bayes_optimal_bound(Hypotheses([mdp]), 0.5, depth=1)
    short = bayes_optimal_bound(Hypotheses([mdp]), 0.5, depth=1, horizon=3)
    assert endless.upper == pytest.approx(-2)
    assert short.upper == pytest.approx(-1.75)
