"""The environment's step, and its noise.

The noise of a step is a function of the trajectory's key, the pair and how often that pair was
taken before. All agents thus meet the same outcome at their n-th visit to a pair, whatever they
did in between, which is what makes comparisons paired.
"""

import math
from typing import NamedTuple

import numpy as np

from ..jit import inlined, kernel
from ..random.rng import keyed_word, unit
from ..types import Floats, Integers

# One visit uses up to three random numbers: the next state, and two for a Gaussian reward.
_NUMBERS_A_VISIT = 3


class Environment(NamedTuple):
    """One MDP, as the trajectory loop sees it."""

    num_actions: int
    row_start: Integers  # [P + 1]
    next_state: Integers  # [E]
    probability: Floats  # [E]
    reward: Floats  # [E]
    deviation: Floats  # [E]; zero where the reward is constant
    start: Floats  # [S]
    visits: Integers  # [P]


@inlined
def reset(env: Environment, key: np.uint64) -> int:
    """Forget the visits and draw a start state."""
    env.visits[:] = 0
    return scan(env.start, 0, len(env.start), unit(keyed_word(key, len(env.visits), 0)))


@inlined
def step(env: Environment, key: np.uint64, x: int, u: int) -> tuple[int, float]:
    """Draw the next state and the reward."""
    pair = x * env.num_actions + u
    number = env.visits[pair] * _NUMBERS_A_VISIT
    env.visits[pair] += 1
    chance = unit(keyed_word(key, pair, number))
    entry = scan(env.probability, env.row_start[pair], env.row_start[pair + 1], chance)
    reward = env.reward[entry]
    if env.deviation[entry] > 0:
        radius = math.sqrt(-2 * math.log(1 - unit(keyed_word(key, pair, number + 1))))
        angle = 2 * math.pi * unit(keyed_word(key, pair, number + 2))
        reward += env.deviation[entry] * radius * math.cos(angle)
    return env.next_state[entry], reward


@inlined
def scan(probability: Floats, first: int, end: int, chance: float) -> int:
    """The entry in which a uniform number falls; rounding can't lead past the last possible one."""
    last = first
    for entry in range(first, end):
        if probability[entry] > 0:
            if chance < probability[entry]:
                return entry
            chance -= probability[entry]
            last = entry
    return last


@kernel
def reset_once(env: Environment, key: np.uint64) -> int:
    """`reset`, for callers in Python."""
    return reset(env, key)


@kernel
def step_once(env: Environment, key: np.uint64, x: int, u: int) -> tuple[int, float]:
    """`step`, for callers in Python."""
    return step(env, key, x, u)
