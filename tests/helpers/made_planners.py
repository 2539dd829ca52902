"""Searching agents for tests."""

from typing import TypeVar

import numpy as np

from brlbench.agents.base import CompiledAgent, Task
from brlbench.beliefs.base import Family
from brlbench.beliefs.flat import FlatDirichlet

Planner = TypeVar("Planner", bound=CompiledAgent)


def started(
    agent: Planner, prior: Family, discount: float, deadline: float | None = None
) -> Planner:
    """The agent, trained and at the start of a trajectory."""
    agent.train(prior, Task(discount, 50, deadline), np.random.default_rng(0))
    agent.start(0, np.random.default_rng(1))
    return agent


def show(agent: CompiledAgent, prior: FlatDirichlet, observed: list[tuple[int, int, int]]) -> None:
    """Let it observe transitions."""
    rewards = prior.rewards.mean.to_dense()
    for x, u, y in observed:
        agent.observe(x, u, y, rewards[x, u, y])
