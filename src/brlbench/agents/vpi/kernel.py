"""The action with the highest mean value plus value of perfect information."""

from typing import NamedTuple

import numpy as np

from ...kernels.choice import greedy
from ...kernels.jit import inlined
from ...kernels.loop.trajectory import register
from ...kernels.solving.sampled_values import SampledValues, observe, reset, sample
from ...kernels.types import Floats, Words


class Vpi(NamedTuple):
    """The agent's state."""

    rng: Words
    samples: SampledValues
    ranking: Floats  # [A]; mean values plus mean gains


@inlined
def set_ranking(mean: Floats, q: Floats, ranking: Floats) -> None:
    """Set `ranking` [A] to means plus mean gains, given drawn values q [K, A]."""
    best, second = 0, -np.inf
    for u in range(1, len(mean)):
        if mean[u] > mean[best]:
            best = u
    for u in range(len(mean)):
        if u != best:
            second = max(second, mean[u])
    for u in range(len(mean)):
        gain = 0.0
        for i in range(len(q)):
            gain += max(0.0, second - q[i, u] if u == best else q[i, u] - mean[best])
        ranking[u] = mean[u] + gain / len(q)


def act(agent: Vpi, x: int) -> int:
    """Sample MDPs and choose an action; ties are broken at random."""
    samples = agent.samples
    scale = sample(samples, x, agent.rng)
    set_ranking(samples.mean, samples.q, agent.ranking)
    return greedy(agent.ranking, 0, len(agent.ranking), scale, agent.rng)


register(Vpi, reset=reset, act=act, observe=observe)
