"""The best action of the mean model or, with probability epsilon, a random one."""

from typing import NamedTuple

from ...kernels.loop.trajectory import register
from ...kernels.random.rng import below, uniform
from ...kernels.solving import model as models
from ...kernels.solving.model import Model
from ...kernels.solving.model_agent import learn, reset
from ...kernels.types import Words


class EpsilonGreedy(NamedTuple):
    """The agent's state."""

    rng: Words
    model: Model
    initial: Model
    epsilon: float


def act(agent: EpsilonGreedy, x: int) -> int:
    """Take a random action with probability epsilon, and else a best one."""
    if uniform(agent.rng) < agent.epsilon:
        return below(agent.rng, agent.model.counts.num_actions)
    return models.best_action(agent.model, x, agent.rng)


register(EpsilonGreedy, reset=reset, act=act, observe=learn)
