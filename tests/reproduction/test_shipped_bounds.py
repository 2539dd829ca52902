import pytest
from reproduction.bounds import goal_grid_bound
from reproduction.page import RESULTS

import brlbench as bb
from brlbench.analysis.bayes_bound import least_reward
from brlbench.analysis.bayes_bound.known import known_bound
from brlbench.problems.frozen import HASHES
from brlbench.report.loading import load
from brlbench.storage import frozen_set


def test_no_agent_of_the_reproduction_is_above_its_bound_beyond_noise() -> None:
    experiments = load(RESULTS).experiments
    assert len(experiments) == 6
    for experiment in experiments:
        assert experiment.upper_bound is not None
        for each in experiment.competitors:
            assert each.score.mean - 2 * each.score.ci95 < experiment.upper_bound  # four sigmas
        optimal = experiment.score_of("optimal")
        assert optimal is None or experiment.upper_bound < optimal


def test_every_frozen_set_has_a_bound() -> None:
    for name in HASHES:
        experiment = frozen_set(name)
        settings = experiment.settings()
        bound = known_bound(settings)
        assert bound is not None
        assert (bound.estimate < bound.upper) == (bound.standard_error > 0)
        # Knowing the distribution, there may be nothing to learn: `upper` is then higher by chance.
        assert bound.estimate <= bound.clairvoyant + 2 * bound.standard_error
        assert known_bound({**settings, "discount": 0.9}) is None
        if experiment.prior.digest != experiment.test.digest:
            assert known_bound({**settings, "test_digest": experiment.prior.digest}) is None


def test_with_negative_rewards_a_bound_has_a_least_horizon() -> None:
    sea = frozen_set("DeepSea-6/unlabelled/v1")
    assert least_reward(sea.test) < 0
    settings = sea.settings()
    assert known_bound(settings) == known_bound({**settings, "horizon": 2000}) is not None
    assert known_bound({**settings, "horizon": 999}) is None


@pytest.mark.parametrize("size", [3, 5])
def test_the_bound_of_goal_grids_is_reached(size: int) -> None:
    """By a walk that looks into a new cell in each step but the first."""
    walk = [(0, 1), (0, 2), (1, 2), (2, 2), (2, 1), (2, 0)]
    if size == 5:
        top = [(0, 2), (1, 2), (1, 3), (0, 3), (0, 4), (1, 4)]
        snake = [(2 + (i if j % 2 == 0 else 2 - i), 4 - j) for j in range(5) for i in range(3)]
        walk = [(0, 1), *top, *snake]
    cells = [size * row + column for row, column in walk]
    grid = bb.distribution(f"GoalGrid:size={size}")
    steps = grid.mean().transitions.to_dense().max(axis=1)
    assert all(steps[x, y] == 1 for x, y in zip([0, *cells[:-1]], cells, strict=True))
    goals = [int(mdp.rewards.mean.next_state[0]) for mdp in grid.mdps]
    assert sorted(cells[1:]) == sorted(goals)
    value = sum(0.9**t / (1 - 0.9) for t in range(1, len(cells))) / len(grid)
    assert goal_grid_bound(grid, 0.9).upper == pytest.approx(value, rel=1e-12)


def test_the_bound_of_goal_grids_is_the_exact_value() -> None:
    """By dynamic programming over what is known; the rest of the rewards comes later."""
    grid, horizon = bb.distribution("GoalGrid:size=3"), 12
    value = bb.bayes_optimal_value(grid, 0.9, horizon)
    later = 0.9**horizon / (1 - 0.9)  # the goal is found, and pays in each step
    assert goal_grid_bound(grid, 0.9).upper == pytest.approx(value + later, rel=1e-9)
