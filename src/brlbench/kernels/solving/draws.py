"""MDPs drawn from a posterior and solved exactly: the Q-values of the present state in each.

Hooks of agents that decide by them, in the field `draws`.
"""

from typing import Any, NamedTuple

from ..jit import cold
from ..types import Floats, Words
from . import merged as sampled
from .merged_state import Initial, Merged


class Draws(NamedTuple):
    """The Q-values of K MDPs, which are drawn and solved one after the other."""

    merged: Merged  # has one row per pair: the MDP drawn last
    initial: Initial
    q: Floats  # [K, A]
    mean: Floats  # [A]; over the MDPs


@cold
def draw(draws: Draws, x: int, rng: Words) -> float:
    """Draw and solve all MDPs; set the Q-values of x and their means; return their scale."""
    merged, q, mean = draws.merged, draws.q, draws.mean
    actions = len(mean)
    scale = 0.0
    mean[:] = 0.0
    for i in range(len(q)):
        sampled.resample(merged, rng)
        scale = max(scale, merged.solution.scale[0])
        for u in range(actions):
            q[i, u] = merged.solution.q[x * actions + u]
            mean[u] += (q[i, u] - mean[u]) / (i + 1)
    return scale


def reset(agent: Any, x: int) -> None:
    """Back to the prior."""
    sampled.reset(agent.draws.merged, agent.draws.initial)


def observe(agent: Any, x: int, u: int, y: int, r: float) -> None:
    """Count the transition."""
    merged = agent.draws.merged
    sampled.learn(merged, x * merged.posterior.num_actions + u, y)
