"""The best action of the merged MDP, drawn anew whenever a pair becomes known."""

from typing import NamedTuple

from ...kernels.choice import first_greedy
from ...kernels.loop.trajectory import register
from ...kernels.solving import merged as sampled
from ...kernels.solving.merged_state import Initial, Merged
from ...kernels.types import Integers, Words


class Boss(NamedTuple):
    """The agent's state."""

    rng: Words
    merged: Merged
    initial: Initial
    known: int  # visits that make a pair known, B
    visits: Integers  # [P]
    due: Integers  # [1]; 1 if the next act samples


def start(agent: Boss, x: int) -> None:
    """Back to the prior; the first act samples."""
    sampled.start(agent.merged, agent.initial)
    agent.visits[:] = 0
    agent.due[0] = 1


def act(agent: Boss, x: int) -> int:
    """Sample if it is time, and take the first best action of the merged MDP."""
    if agent.due[0] == 1:
        sampled.resample(agent.merged, agent.rng)
        agent.due[0] = 0
    merged = agent.merged
    actions = merged.posterior.num_actions
    return first_greedy(merged.q, x * actions, actions, merged.scale[0])


def observe(agent: Boss, x: int, u: int, y: int, r: float) -> None:
    """Count the transition and the visit."""
    pair = x * agent.merged.posterior.num_actions + u
    sampled.learn(agent.merged, pair, y)
    agent.visits[pair] += 1
    if agent.visits[pair] == agent.known:
        agent.due[0] = 1


register(Boss, start=start, act=act, observe=observe)
