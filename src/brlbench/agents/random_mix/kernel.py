"""The base's action or, with probability epsilon, a random one."""

from typing import Any, NamedTuple

from ...kernels.jit import inlined
from ...kernels.loop import trajectory
from ...kernels.loop.environment import Environment
from ...kernels.loop.trajectory import register
from ...kernels.random.rng import below, keyed_word, uniform
from ...kernels.types import Words


class RandomMix(NamedTuple):
    """The agent's state. Numba makes one type, and so one copy of the loop, per type of base."""

    rng: Words  # for random actions
    base: Any  # the base's state, with a generator of its own
    num_actions: int
    epsilon: float


@inlined
def part_streams(agent: RandomMix) -> None:
    """Give the base the seed of the trajectory; random actions get another."""
    for i in range(len(agent.rng)):
        agent.base.rng[i] = agent.rng[i]
        agent.rng[i] = keyed_word(agent.rng[i], i, 0)


def reset(agent: RandomMix, x: int) -> None:
    """Back to the prior."""
    part_streams(agent)
    trajectory.reset(agent.base, x)


def reset_known(agent: RandomMix, env: Environment, x: int) -> None:
    """Back to the prior; a base that asks for it is shown the MDP."""
    part_streams(agent)
    trajectory.reset_known(agent.base, env, x)


def act(agent: RandomMix, x: int) -> int:
    """Take a random action with probability epsilon, and else the base's."""
    if uniform(agent.rng) < agent.epsilon:
        return below(agent.rng, agent.num_actions)
    return trajectory.act(agent.base, x)


def observe(agent: RandomMix, x: int, u: int, y: int, r: float) -> None:
    """Let the base learn."""
    trajectory.observe(agent.base, x, u, y, r)


register(RandomMix, reset=reset, reset_known=reset_known, act=act, observe=observe)
