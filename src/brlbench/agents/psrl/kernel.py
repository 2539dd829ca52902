"""The optimal policy of an MDP drawn from the posterior, which is drawn anew now and then."""

from typing import NamedTuple

from ...kernels.choice import first_greedy
from ...kernels.loop.trajectory import register
from ...kernels.random.rng import uniform
from ...kernels.solving import merged as sampled
from ...kernels.solving.merged_state import Initial, Merged
from ...kernels.types import Integers, Words


class Psrl(NamedTuple):
    """The agent's state."""

    rng: Words
    merged: Merged  # one row a pair: it is the sampled MDP
    initial: Initial
    chance: float  # of a new draw at a step
    every: int  # steps from draw to draw; 0: by chance
    age: Integers  # [1]; steps since the last draw; -1: none yet


def start(agent: Psrl, x: int) -> None:
    """Back to the prior; the first act draws."""
    sampled.start(agent.merged, agent.initial)
    agent.age[0] = -1


def act(agent: Psrl, x: int) -> int:
    """Draw an MDP if it is time, and take its best action."""
    age = agent.age[0]
    due = age == agent.every if agent.every > 0 else uniform(agent.rng) < agent.chance
    if age < 0 or due:
        sampled.resample(agent.merged, agent.rng)
        agent.age[0] = 0
    agent.age[0] += 1
    merged = agent.merged
    actions = merged.posterior.num_actions
    return first_greedy(merged.q, x * actions, actions, merged.scale[0])


def observe(agent: Psrl, x: int, u: int, y: int, r: float) -> None:
    """Count the transition."""
    sampled.learn(agent.merged, x * agent.merged.posterior.num_actions + u, y)


register(Psrl, start=start, act=act, observe=observe)
