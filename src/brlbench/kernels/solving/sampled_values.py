"""MDPs sampled from a posterior and solved exactly: the Q-values of the present state in each.

Hooks of agents that decide by them, in the field `samples`.
"""

from typing import Any, NamedTuple

from ..jit import cold
from ..types import Floats, Words
from . import sampled
from .sampled import Initial, Sampled


class SampledValues(NamedTuple):
    """The Q-values of K MDPs, which are sampled and solved one after the other."""

    mdp: Sampled  # the MDP sampled last
    initial: Initial
    q: Floats  # [K, A]
    mean: Floats  # [A]; over the MDPs


@cold
def sample(samples: SampledValues, x: int, rng: Words) -> float:
    """Sample and solve all MDPs; set the Q-values of x and their means; return their scale."""
    mdp, q, mean = samples.mdp, samples.q, samples.mean
    actions = len(mean)
    scale = 0.0
    mean[:] = 0.0
    for i in range(len(q)):
        sampled.resample(mdp, rng)
        scale = max(scale, mdp.optimum.scale[0])
        for u in range(actions):
            q[i, u] = mdp.optimum.q[x * actions + u]
            mean[u] += (q[i, u] - mean[u]) / (i + 1)
    return scale


def reset(agent: Any, x: int) -> None:
    """Back to the prior."""
    sampled.reset(agent.samples.mdp, agent.samples.initial, x)


def observe(agent: Any, x: int, u: int, y: int, r: float) -> None:
    """Learn from the transition."""
    mdp = agent.samples.mdp
    sampled.learn(mdp, x * mdp.posterior.num_actions + u, y, r)
