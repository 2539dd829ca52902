"""What agents have in common that keep one solved model: fields `model` and `initial`."""

from typing import Any

from ..counts import add
from . import model as models


def back_to_prior(agent: Any, x: int) -> None:
    """A new MDP: the model is the prior's again."""
    models.reset(agent.model, agent.initial)


def learn(agent: Any, x: int, u: int, y: int, r: float) -> None:
    """Count the transition and solve again."""
    add(agent.model.counts, x * agent.model.counts.num_actions + u, y)
    models.update(agent.model, x, u, y)
