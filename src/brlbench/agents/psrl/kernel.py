"""The optimal policy of an MDP sampled from the posterior, which is resampled now and then."""

from typing import Any, NamedTuple

from ...kernels.jit import inlined
from ...kernels.loop.trajectory import register
from ...kernels.random.rng import uniform
from ...kernels.solving import sampled
from ...kernels.solving.sampled import Initial, Sampled
from ...kernels.types import Integers, Words

NOT_SAMPLED = -1  # instead of an age
BY_CHANCE = 0  # instead of a number of steps


class Psrl(NamedTuple):
    """The agent's state."""

    rng: Words
    mdp: Sampled
    initial: Initial
    chance: float  # probability of resampling at a step
    every: int  # steps from one sampling to the next, or BY_CHANCE
    age: Integers  # [1]; steps since the last sampling, or NOT_SAMPLED


def reset(agent: Psrl, x: int) -> None:
    """Back to the prior; the first act samples."""
    sampled.reset(agent.mdp, agent.initial, x)
    agent.age[0] = NOT_SAMPLED


@inlined
def is_due(agent: Any) -> bool:
    """Count a decision of an agent with a schedule; return whether it begins with a draw."""
    age = agent.age[0]
    due: bool = (
        age == agent.every if agent.every != BY_CHANCE else uniform(agent.rng) < agent.chance
    )
    due = due or age == NOT_SAMPLED
    agent.age[0] = 1 if due else age + 1
    return due


def act(agent: Psrl, x: int) -> int:
    """Sample an MDP if one is due, and take its first best action."""
    if is_due(agent):
        sampled.resample(agent.mdp, agent.rng)
    return sampled.first_best_action(agent.mdp, x)


def observe(agent: Psrl, x: int, u: int, y: int, r: float) -> None:
    """Learn from the transition."""
    sampled.learn(agent.mdp, x * agent.mdp.posterior.num_actions + u, y, r)


register(Psrl, reset=reset, act=act, observe=observe)
