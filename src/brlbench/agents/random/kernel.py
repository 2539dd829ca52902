"""Uniformly random actions."""

from typing import NamedTuple

from ...kernels.loop.trajectory import register
from ...kernels.random.rng import below
from ...kernels.types import Words


class Random(NamedTuple):
    """The agent's state."""

    rng: Words
    num_actions: int


def reset(agent: Random, x: int) -> None:
    """Nothing to forget."""


def act(agent: Random, x: int) -> int:
    """Draw an action."""
    return below(agent.rng, agent.num_actions)


def observe(agent: Random, x: int, u: int, y: int, r: float) -> None:
    """Nothing to learn."""


register(Random, reset=reset, act=act, observe=observe)
