"""The best action of the merged MDP, which is resampled whenever a pair becomes known."""

from typing import Any, NamedTuple

from ...kernels.loop.trajectory import register
from ...kernels.solving import merged as merging
from ...kernels.solving.sampled import Initial, first_best_action, learn
from ...kernels.types import Booleans, Integers, Words


class Boss(NamedTuple):
    """The agent's state."""

    rng: Words
    merged: Any  # Merged or MergedModels
    initial: Initial
    known: int  # visits that make a pair known, B
    visits: Integers  # [P]
    due: Booleans  # [1]; whether the next act samples


def reset(agent: Boss, x: int) -> None:
    """Back to the prior; the first act samples."""
    merging.reset(agent.merged, agent.initial, x)
    agent.visits[:] = 0
    agent.due[0] = True


def act(agent: Boss, x: int) -> int:
    """Sample if it is due, and take the first best action of the merged MDP."""
    if agent.due[0]:
        merging.resample(agent.merged, agent.rng)
        agent.due[0] = False
    return first_best_action(agent.merged.mdp, x)


def observe(agent: Boss, x: int, u: int, y: int, r: float) -> None:
    """Learn from the transition, and count the visit."""
    pair = x * agent.merged.mdp.posterior.num_actions + u
    learn(agent.merged.mdp, pair, y, r)
    agent.visits[pair] += 1
    if agent.visits[pair] == agent.known:
        agent.due[0] = True


register(Boss, reset=reset, act=act, observe=observe)
