"""Hooks of agents that keep one solved model, in the fields `model` and `initial`."""

from typing import Any

from . import model as models


def reset(agent: Any, x: int) -> None:
    """Back to the prior's model."""
    models.reset(agent.model, agent.initial)


def learn(agent: Any, x: int, u: int, y: int, r: float) -> None:
    """Count the transition and solve again."""
    models.learn(agent.model, x, u, y)


def act(agent: Any, x: int) -> int:
    """Choose a best action; ties are broken at random."""
    return models.best_action(agent.model, x, agent.rng)
