"""The action with the highest mean of optimal values."""

from typing import NamedTuple

from ...kernels.choice import greedy
from ...kernels.loop.trajectory import register
from ...kernels.solving.draws import Draws, draw, observe, reset
from ...kernels.types import Words


class Hindsight(NamedTuple):
    """The agent's state."""

    rng: Words
    draws: Draws


def act(agent: Hindsight, x: int) -> int:
    """Draw MDPs and choose an action by its mean value; ties are broken at random."""
    scale = draw(agent.draws, x, agent.rng)
    return greedy(agent.draws.mean, 0, len(agent.draws.mean), scale, agent.rng)


register(Hindsight, reset=reset, act=act, observe=observe)
