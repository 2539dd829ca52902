"""The environment's step, and its noise.

The noise of a step depends on the trajectory's key, on the pair and on the number of earlier visits
to it. So all agents meet the same outcome at their n-th visit to a pair, whatever they did in
between. This makes comparisons paired.
"""

import math
from typing import NamedTuple

import numpy as np

from ..arrays import copy_vector
from ..jit import inlined, kernel
from ..random.rng import keyed_word, unit
from ..types import Floats, Integers, Words
from .clock import cpu_time, wall_time

# A visit uses up to three random numbers: one for the next state, two for a Gaussian reward.
_NUMBERS_PER_VISIT = 3


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
def first_state(env: Environment, key: np.uint64) -> int:
    """Forget all visits and draw the first state."""
    env.visits[:] = 0
    return scan(env.start, 0, len(env.start), unit(keyed_word(key, len(env.visits), 0)))


@inlined
def step(env: Environment, key: np.uint64, x: int, u: int) -> tuple[int, float]:
    """Draw the next state and the reward."""
    pair = x * env.num_actions + u
    number = env.visits[pair] * _NUMBERS_PER_VISIT
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
    """The entry in which a uniform number falls; despite rounding, always a possible one."""
    last = first
    for entry in range(first, end):
        if probability[entry] > 0:
            if chance < probability[entry]:
                return entry
            chance -= probability[entry]
            last = entry
    return last


@kernel
def replay(
    env: Environment,
    probabilities: Floats,  # [M, E]
    mdps: Integers,  # [n]; which of the M
    noise: Words,  # [n]; keys of the noise
    actions: Integers,  # [n, T]; that were taken
    nanoseconds: Integers,  # [n]; set to the processor time of each trajectory
) -> int:
    """Repeat the steps of trajectories without an agent; returns the sum of their last states.

    The clock is read as often as when they were played, so that its cost counts here.
    """
    total = 0
    for i in range(len(mdps)):
        copy_vector(env.probability, probabilities[mdps[i]])
        x = first_state(env, noise[i])
        processor = cpu_time()
        wall_time()
        for t in range(actions.shape[1]):
            wall_time()
            x, _ = step(env, noise[i], x, actions[i, t])
            wall_time()
            wall_time()
        nanoseconds[i] = cpu_time() - processor
        total += x
    return total


@kernel
def retrace(
    env: Environment,
    probabilities: Floats,  # [M, E]
    mdps: Integers,  # [n]; which of the M
    noise: Words,  # [n]; keys of the noise
    states: Integers,  # [n, T + 1]
    actions: Integers,  # [n, T]
    rewards: Floats,  # [n, T]
) -> int:
    """The first trajectory whose actions don't lead to its states and rewards; -1 if all do."""
    for i in range(len(mdps)):
        copy_vector(env.probability, probabilities[mdps[i]])
        x = first_state(env, noise[i])
        for t in range(actions.shape[1]):
            y, r = step(env, noise[i], x, actions[i, t])
            if states[i, t] != x or states[i, t + 1] != y or rewards[i, t] != r:
                return i
            x = y
    return -1


@kernel
def first_state_once(env: Environment, key: np.uint64) -> int:
    """`first_state`, for callers in Python."""
    return first_state(env, key)


@kernel
def step_once(env: Environment, key: np.uint64, x: int, u: int) -> tuple[int, float]:
    """`step`, for callers in Python."""
    return step(env, key, x, u)
