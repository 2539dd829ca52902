import math

import numpy as np
from reproduction.selection import optimism


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
