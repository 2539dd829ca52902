"""Actions of the mean model with probabilities proportional to exp(Q / tau)."""

from typing import NamedTuple

from ...kernels.choice import soft_max
from ...kernels.loop.trajectory import register
from ...kernels.solving.model import Model
from ...kernels.solving.model_agent import learn, reset
from ...kernels.types import Words


class SoftMax(NamedTuple):
    """The agent's state."""

    rng: Words
    model: Model
    initial: Model
    tau: float


def act(agent: SoftMax, x: int) -> int:
    """Draw an action."""
    actions = agent.model.counts.num_actions
    return soft_max(agent.model.q, x * actions, actions, agent.tau, agent.rng)


register(SoftMax, reset=reset, act=act, observe=learn)
