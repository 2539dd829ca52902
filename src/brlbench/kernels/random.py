"""Uniformly random actions."""

from typing import NamedTuple

from .rng import Words, below
from .trajectory import register


class Random(NamedTuple):
    """The agent's state."""

    rng: Words
    num_actions: int


def start(agent: Random, x: int) -> None:
    """Nothing to forget."""


def act(agent: Random, x: int) -> int:
    """Draw an action."""
    return below(agent.rng, agent.num_actions)


def observe(agent: Random, x: int, u: int, y: int, r: float) -> None:
    """Nothing to learn."""


register(Random, start=start, act=act, observe=observe)
