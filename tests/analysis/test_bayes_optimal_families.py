"""Bayes-optimal values of tied priors and of sets of hypotheses."""

from functools import cache
from typing import Any

import numpy as np
import pytest

from brlbench.analysis.bayes_optimal import bayes_optimal_value
from brlbench.beliefs.base import Belief, Family
from brlbench.beliefs.hypotheses import Hypotheses
from brlbench.beliefs.tied import TiedDirichlet
from brlbench.errors import InvalidInput
from brlbench.mdps.mdp import MDP
from brlbench.mdps.sparse import Floats
from brlbench.problems import distribution


def by_beliefs(prior: Family, discount: float, horizon: int) -> float:
    """The definition, on the belief that users see."""
    belief: Any = prior.belief()

    def value(state: int, left: int) -> float:
        return max(q(state, action, left) for action in range(prior.num_actions)) if left else 0.0

    def q(state: int, action: int, left: int) -> float:
        total = 0.0
        for probability, following, reward in belief.outcomes(state, action):
            mark = belief.mark()
            belief.observe(state, action, following, reward)
            total += probability * (reward + discount * value(following, left - 1))
            belief.undo(mark)
        return total

    return float(sum(p * value(x, horizon) for x, p in enumerate(prior.start) if p > 0))


def as_tied(prior: Any) -> TiedDirichlet:
    """A flat prior as a tied one, with a group per pair."""
    dense = prior.counts.to_dense().reshape(prior.counts.num_pairs, -1)
    shape = (prior.num_states, prior.num_actions)
    group = np.arange(prior.counts.num_pairs).reshape(shape)
    following = np.tile(np.arange(prior.num_states), (*shape, 1))
    return TiedDirichlet(dense, group, following, prior.rewards, prior.start)


def hypotheses(num_mdps: int, seed: int) -> Hypotheses:
    """Random MDPs of two states and two actions, with other rewards in each."""
    rng = np.random.default_rng(seed)
    shape = (2, 2, 2)
    mdps = [
        MDP(rng.dirichlet([1, 1], shape[:2]), rng.integers(0, 3, shape).astype(float))
        for _ in range(num_mdps)
    ]
    return Hypotheses(mdps, rng.random(num_mdps) + 0.1)


@pytest.mark.parametrize(
    "prior",
    [distribution("Chain:prior=tied"), distribution("Chain:prior=semi"), hypotheses(3, 1)],
    ids=["tied", "semi", "hypotheses"],
)
def test_the_definition(prior: Family) -> None:
    for discount, horizon in ((0.9, 1), (0.9, 3), (1.0, 4)):
        expected = by_beliefs(prior, discount, horizon)
        assert bayes_optimal_value(prior, discount, horizon) == pytest.approx(expected, rel=1e-12)


def test_a_flat_prior_as_a_tied_one() -> None:
    gc = distribution("GC")
    for horizon in (2, 6):
        flat, tied = (bayes_optimal_value(each, 0.95, horizon) for each in (gc, as_tied(gc)))
        assert tied == pytest.approx(flat, rel=1e-14)


def test_one_hypothesis_is_a_known_mdp() -> None:
    mdp = distribution("Chain").mean()
    value = np.zeros(5)
    probabilities, rewards = mdp.transitions.to_dense(), mdp.rewards.mean.to_dense()
    for _ in range(20):
        value = (probabilities * (rewards + 0.9 * value)).sum(axis=2).max(axis=1)
    assert bayes_optimal_value(Hypotheses([mdp]), 0.9, 20) == pytest.approx(value[0], rel=1e-12)


def slip_mdp(prior: TiedDirichlet, success: Floats) -> MDP:
    """The chain with known probabilities of success, one per group."""
    rows = np.stack([success, 1 - success], axis=1).ravel()
    return MDP(prior.counts.replace(rows[prior.cell]), prior.rewards, prior.start)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "side"), [("tied", 2000), ("semi", 60)])
def test_chains_beside_a_grid_of_hypotheses(name: str, side: int) -> None:
    """Midpoints of a grid over the slips: the error falls with the square of its step."""
    prior, horizon = distribution(f"Chain:prior={name}"), 6
    ticks = (np.arange(side) + 0.5) / side
    grid = np.stack(np.meshgrid(*[ticks] * len(prior.group_counts)), axis=-1)
    mdps = [slip_mdp(prior, point) for point in grid.reshape(-1, len(prior.group_counts))]
    on_grid = bayes_optimal_value(Hypotheses(mdps), 0.95, horizon)
    assert on_grid == pytest.approx(bayes_optimal_value(prior, 0.95, horizon), rel=2 / side**2)


@pytest.mark.parametrize("horizon", [3, 6, 8])
def test_goal_grid_beside_sets_of_remaining_goals(horizon: int) -> None:
    """Known is the set of cells that can still be the goal, until the goal pays."""
    size = 3
    goals = frozenset(range(size**2)) - {0, 1, 3, 4}

    def moves(cell: int) -> set[int]:
        row, column = divmod(cell, size)
        steps = ((0, 0), (1, 0), (-1, 0), (0, 1), (0, -1))
        places = [(row + down, column + right) for down, right in steps]
        return {size * r + c for r, c in places if 0 <= r < size and 0 <= c < size}

    @cache
    def value(cell: int, left_goals: frozenset[int], left: int) -> float:
        if left == 0:
            return 0.0
        best = 0.0
        for target in moves(cell):
            if target in left_goals:
                chance = 1 / len(left_goals)  # found: stay there until the end
                others = value(target, left_goals - {target}, left - 1) if chance < 1 else 0.0
                best = max(best, chance * left + (1 - chance) * others)
            else:
                best = max(best, value(target, left_goals, left - 1))
        return best

    grid = distribution(f"GoalGrid:size={size}")
    expected = value(0, goals, horizon)
    assert bayes_optimal_value(grid, 1.0, horizon) == pytest.approx(expected, rel=1e-11)


def test_where_an_mdp_starts_tells_which_it_is() -> None:
    """Two MDPs pay for opposite actions; each has a start of its own."""
    stay = np.eye(2)[:, None, :].repeat(2, axis=1)
    paying = [np.zeros((2, 2, 2)), np.zeros((2, 2, 2))]
    paying[0][:, 0], paying[1][:, 1] = 1.0, 1.0
    told = Hypotheses([MDP(stay, paying[i], start=i) for i in (0, 1)])
    untold = Hypotheses([MDP(stay, paying[i], start=0) for i in (0, 1)])
    assert bayes_optimal_value(told, 1.0, 3) == pytest.approx(3.0)
    assert bayes_optimal_value(untold, 1.0, 3) == pytest.approx(2.5)


def test_gaussian_rewards_that_differ_are_refused() -> None:
    stay = np.ones((1, 1, 1))
    mdps = [MDP(stay, mean, 0, np.ones((1, 1, 1))) for mean in (0.0, 1.0)]
    with pytest.raises(InvalidInput, match="differ in Gaussian rewards"):
        bayes_optimal_value(Hypotheses(mdps), 0.9, 2)
    belief: Belief = Hypotheses(mdps).belief()
    belief.observe(0, 0, 0, 1.0)
    odds = np.exp(-0.5 * (1 - 0.0) ** 2)
    assert belief.predictive(0, 0)[1] == pytest.approx(1 / (1 + odds))
