import math

import numpy as np
from reproduction.selection import false_alarms, optimism, simulate


def normal_returns(agents: int, mdps: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(agents, mdps))


def test_one_agent_is_not_flattered() -> None:
    assert optimism(normal_returns(1, 100, 0), np.random.default_rng(0)) == 0


def test_equal_agents_are_flattered_as_order_statistics_say() -> None:
    """Resampling finds between half and all of what the largest of normal numbers exceeds by."""
    agents, mdps = 10, 400
    draws = np.random.default_rng(1).normal(size=(100_000, agents))
    expected = draws.max(axis=1).mean() / math.sqrt(mdps)
    found = [optimism(normal_returns(agents, mdps, i), np.random.default_rng(i)) for i in range(5)]
    assert 0.4 * expected < np.mean(found) < expected


def test_a_clear_winner_is_not_flattered() -> None:
    returns = normal_returns(10, 400, 2)
    returns[3] += 5
    error = 1 / math.sqrt(400 * 2000)
    assert abs(optimism(returns, np.random.default_rng(0))) < 4 * error


def test_choosing_on_other_mdps_than_testing_repairs_the_tests() -> None:
    """Eight agents of one algorithm against one of another: all equal, as simulated."""
    returns, names = normal_returns(9, 400, 3), ["grid"] * 8 + ["single"]
    flattering, fair = (
        simulate(returns, names, choosing, np.random.default_rng(4), resamples=400)
        for choosing in (0, 100)
    )
    error = math.sqrt(0.05 * 0.95 / 400)
    assert flattering.single > 0.2
    assert flattering.covered < 0.9
    assert fair.single < 0.05 + 4 * error
    assert fair.any_alarm < 0.05 + 4 * error
    assert fair.covered > 0.95 - 4 * error


def test_false_alarms_of_skewed_differences() -> None:
    """Rare large losses make Student's test err, and the cautious one less."""
    rng = np.random.default_rng(5)
    losses = -rng.lognormal(0, 1, 100_000)
    few, many = (false_alarms(losses, number, rng, resamples=2000) for number in (10, 400))
    assert few.skew < -0.5 < many.skew < 0
    assert few.student > 0.1
    assert few.cautious < 0.05
    assert many.student < 0.1
