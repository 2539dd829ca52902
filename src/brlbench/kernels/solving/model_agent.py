"""Functions of agents that keep one solved model, in the fields `model` and `initial`."""

from typing import Any

from ..arrays import at
from ..jit import inlined
from . import model as models


def reset(agent: Any, x: int) -> None:
    """Back to the prior's model."""
    models.start(agent.model, agent.initial, x)


def learn(agent: Any, x: int, u: int, y: int, r: float) -> None:
    """Count the transition and solve again."""
    models.learn(agent.model, x, u, y, r)


def act(agent: Any, x: int) -> int:
    """Choose a best action; ties are broken at random."""
    return models.best_action(agent.model, x, agent.rng)


@inlined
def worth(agent: Any, entry: int) -> float:
    """The reward of an entry plus the discounted next value."""
    model = agent.model
    y = model.counts.entry_next[at(entry)]
    return model.entry_reward[at(entry)] + model.discount * model.value[at(y)]
