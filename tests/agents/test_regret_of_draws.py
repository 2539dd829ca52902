"""Regret grows as the authors of posterior sampling, RLSVI and IDS say: log-log slopes.

Regret is the sum of V*(x) - Q*(x, u) over decisions, with as many of the episode left.
"""

from typing import Any

import numpy as np
import pytest

from brlbench.agents import make_agent
from brlbench.mdps.sparse import Floats, Integers
from brlbench.protocol.evaluate import evaluate
from brlbench.protocol.experiment import Experiment
from helpers.sizes import sizes

AGENTS: dict[str, dict[str, Any]] = {
    "psrl": {},
    "opsrl": {"samples": 3},
    "rlsvi": {"sigma": 0.5},
    "ids": {"samples": 5},
}


def regrets(name: str, problem: str, length: int, episodes: int, trajectories: int) -> Floats:
    """The cumulative regret [trajectories, episodes] in one MDP."""
    where = Experiment(
        problem,
        num_mdps=1,
        trajectories_per_mdp=trajectories,
        horizon=length * episodes,
        episode=length,
        discount=1,
        seed=1,
    )
    result = evaluate(make_agent(name, **AGENTS.get(name, {})), where, keep_paths=True)
    mdp = where.mdp(0)
    transitions = mdp.transitions.to_dense()
    rewards = (transitions * mdp.rewards.mean.to_dense()).sum(axis=2)
    loss = np.zeros((length + 1, *rewards.shape))  # by decisions left
    value = np.zeros(mdp.num_states)
    for n in range(1, length + 1):
        q = rewards + transitions @ value
        value = q.max(axis=1)
        loss[n] = value[:, None] - q
    assert result.states is not None
    assert result.actions is not None
    left = length - np.arange(length * episodes) % length
    lost = loss[left, result.states[0, :, :-1], result.actions[0]]
    return np.asarray(lost.reshape(trajectories, episodes, length).sum(axis=2).cumsum(axis=1))


def slope(x: Integers, y: Floats) -> tuple[float, float]:
    """The log-log slope of mean rows of y [n, m] against x [m], and its jackknife error."""
    logs = np.log(x) - np.log(x).mean()
    slopes = np.array(
        [np.log(np.delete(y, i, axis=0).mean(axis=0)) @ logs / (logs @ logs) for i in range(len(y))]
    )
    error = np.sqrt((len(y) - 1) * slopes.var())
    return float(np.log(y.mean(axis=0)) @ logs / (logs @ logs)), float(error)


@pytest.mark.slow
@pytest.mark.parametrize("episodes", sizes(256, 2048))
@pytest.mark.parametrize("name", [*AGENTS, "random"])
def test_with_time_on_river_swim(name: str, episodes: int) -> None:
    """Regret grows at most with the root of time; that of random actions grows with time."""
    lost = regrets(name, "RiverSwim", 20, episodes, trajectories=12)
    times = 2 ** np.arange(5, int(np.log2(episodes)) + 1)
    exponent, error = slope(times, lost[:, times - 1])
    print(f"{name}: {exponent:.3f} ± {2 * error:.3f}")
    if name == "random":
        assert abs(exponent - 1) < 4 * error + 0.01
    else:
        assert exponent + 2 * error < 0.5


@pytest.mark.slow
@pytest.mark.parametrize("widths", sizes((4, 6, 8), (4, 6, 8, 10, 12)))
@pytest.mark.parametrize("name", AGENTS)
def test_with_size_in_deep_sea(name: str, widths: tuple[int, ...]) -> None:
    """Regret grows at most with the cube of the size, not with two to the power of it."""
    episodes = 5 * max(widths) ** 2
    lost = [regrets(name, f"DeepSea:size={n}", n, episodes, trajectories=12) for n in widths]
    exponent, error = slope(np.array(widths), np.stack([each[:, -1] for each in lost], axis=1))
    print(f"{name}: {exponent:.3f} ± {2 * error:.3f}")
    assert exponent + 2 * error < 3
