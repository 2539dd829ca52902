"""BFS3 agents for tests."""

from typing import Any

import numpy as np

from brlbench.agents.base import Task
from brlbench.agents.bfs3 import Bfs3
from brlbench.prior import FlatDirichlet

LONG = 1e9  # seconds, a deadline with which all actions are searched to the end


def trained(
    prior: FlatDirichlet, discount: float = 0.8, deadline: float | None = None, **parameters: Any
) -> Bfs3:
    agent = Bfs3(**parameters)
    agent.train(prior, Task(discount, 50, deadline), np.random.default_rng(0))
    agent.start(0, np.random.default_rng(1))
    return agent


def show(agent: Bfs3, prior: FlatDirichlet, observed: list[tuple[int, int, int]]) -> None:
    rewards = prior.rewards.mean.to_dense()
    for x, u, y in observed:
        agent.observe(x, u, y, rewards[x, u, y])
