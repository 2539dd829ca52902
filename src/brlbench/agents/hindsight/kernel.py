"""The action with the highest mean of optimal values."""

from typing import NamedTuple

from ...kernels.choice import greedy
from ...kernels.loop.trajectory import register
from ...kernels.solving.sampled_values import SampledValues, observe, reset, sample
from ...kernels.types import Words


class Hindsight(NamedTuple):
    """The agent's state."""

    rng: Words
    samples: SampledValues


def act(agent: Hindsight, x: int) -> int:
    """Sample MDPs and choose an action by its mean value; ties are broken at random."""
    scale = sample(agent.samples, x, agent.rng)
    return greedy(agent.samples.mean, 0, len(agent.samples.mean), scale, agent.rng)


register(Hindsight, reset=reset, act=act, observe=observe)
