"""Functions of agents that keep one solved model, in the fields `model` and `initial`."""

from typing import Any

from ..arrays import at
from ..jit import inlined
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


@inlined
def worth(agent: Any, entry: int) -> float:
    """The reward of an entry, agent.entry_reward [pool], plus the discounted next value."""
    y = agent.model.counts.entry_next[at(entry)]
    return agent.entry_reward[at(entry)] + agent.model.discount * agent.model.value[at(y)]
