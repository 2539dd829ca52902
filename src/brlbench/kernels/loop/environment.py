"""The environment's step, and its noise.

The noise of a step depends on the trajectory's key, on the pair and on the number of earlier visits
to it. So all agents meet the same outcome at their n-th visit to a pair, whatever they did in
between. This makes comparisons paired. The start state of an episode depends on the trajectory's
key and on the episode's number alone.
"""

import math
from typing import NamedTuple

import numpy as np

from ..arrays import copy_vector
from ..jit import inlined, kernel
from ..random.rng import keyed_word, unit
from ..types import Floats, Integers, Words
from .clock import cpu_time, wall_time

NO_EPISODE = 2**62  # more decisions than a trajectory can have
# A visit uses up to three random numbers: one for the next state, and for the reward two if it is
# Gaussian, or one if it is binary.
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
    is_binary: bool  # whether rewards are 1 or 0, with `reward` as the probability of 1
    episode: int  # decisions from one start state to the next, or NO_EPISODE


class Tables(NamedTuple):
    """M MDPs with the next states of an environment; what all of them share has one row."""

    probability: Floats  # [M, E]
    reward: Floats  # [M or 1, E]
    deviation: Floats  # [M or 1, E]
    start: Floats  # [M or 1, S]


@inlined
def enter(env: Environment, tables: Tables, mdp: int) -> None:
    """Make an MDP of the tables the environment's; what they share is there already."""
    copy_vector(env.probability, tables.probability[mdp])
    if len(tables.reward) > 1:
        copy_vector(env.reward, tables.reward[mdp])
    if len(tables.deviation) > 1:
        copy_vector(env.deviation, tables.deviation[mdp])
    if len(tables.start) > 1:
        copy_vector(env.start, tables.start[mdp])


@inlined
def first_state(env: Environment, key: np.uint64) -> int:
    """Forget all visits and draw the first state."""
    env.visits[:] = 0
    return start_state(env, key, 0)


@inlined
def start_state(env: Environment, key: np.uint64, number: int) -> int:
    """Draw the start state of an episode, by its number."""
    chance = unit(keyed_word(key, len(env.visits), number))
    return scan(env.start, 0, len(env.start), chance)


@inlined
def state_after(env: Environment, key: np.uint64, y: int, t: int, horizon: int) -> int:
    """The state to act in after decision t led to y: a start state if another episode begins."""
    if (t + 1) % env.episode == 0 and t + 1 < horizon:
        return start_state(env, key, (t + 1) // env.episode)
    return y


@inlined
def step(env: Environment, key: np.uint64, x: int, u: int) -> tuple[int, float]:
    """Draw the next state and the reward."""
    pair = x * env.num_actions + u
    number = env.visits[pair] * _NUMBERS_PER_VISIT
    env.visits[pair] += 1
    chance = unit(keyed_word(key, pair, number))
    entry = scan(env.probability, env.row_start[pair], env.row_start[pair + 1], chance)
    reward = env.reward[entry]
    if env.is_binary:
        reward = 1.0 if unit(keyed_word(key, pair, number + 1)) < reward else 0.0
    elif env.deviation[entry] > 0:
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
    tables: Tables,
    mdps: Integers,  # [n]; which of the tables' MDPs
    noise: Words,  # [n]; keys of the noise
    actions: Integers,  # [n, T]; that were taken
    nanoseconds: Integers,  # [n]; set to the processor time of each trajectory
) -> int:
    """Repeat the steps of trajectories without an agent; returns the sum of their last states.

    The clock is read as often as when they were played, so that its cost counts here.
    """
    total = 0
    for i in range(len(mdps)):
        enter(env, tables, mdps[i])
        x = first_state(env, noise[i])
        processor = cpu_time()
        wall_time()
        for t in range(actions.shape[1]):
            wall_time()
            y, _ = step(env, noise[i], x, actions[i, t])
            wall_time()
            wall_time()
            x = state_after(env, noise[i], y, t, actions.shape[1])
        nanoseconds[i] = cpu_time() - processor
        total += x
    return total


@kernel
def retrace(
    env: Environment,
    tables: Tables,
    mdps: Integers,  # [n]; which of the tables' MDPs
    noise: Words,  # [n]; keys of the noise
    actions: Integers,  # [n, T]; that were taken
    states: Integers,  # [n, T + 1]; set to those that the actions lead to
    rewards: Floats,  # [n, T]; likewise
) -> None:
    """Repeat the steps of trajectories, and record them."""
    for i in range(len(mdps)):
        enter(env, tables, mdps[i])
        x = first_state(env, noise[i])
        states[i, 0] = x
        for t in range(actions.shape[1]):
            y, rewards[i, t] = step(env, noise[i], x, actions[i, t])
            x = state_after(env, noise[i], y, t, actions.shape[1])
            states[i, t + 1] = x


@kernel
def follow(
    env: Environment,
    tables: Tables,
    mdps: Integers,  # [n]; which of the tables' MDPs
    noise: Words,  # [n]; keys of the noise
    states: Integers,  # [n, T + 1]
    actions: Integers,  # [n, T]
    following: Integers,  # [n, T]; set to the states that decisions led to, at borders too
) -> None:
    """Take the actions of trajectories again, to see what followed the last ones of episodes."""
    for i in range(len(mdps)):
        enter(env, tables, mdps[i])
        first_state(env, noise[i])
        for t in range(actions.shape[1]):
            following[i, t], _ = step(env, noise[i], states[i, t], actions[i, t])


@kernel
def enter_once(env: Environment, tables: Tables, mdp: int) -> None:
    """`enter`, for callers in Python."""
    enter(env, tables, mdp)


@kernel
def first_state_once(env: Environment, key: np.uint64) -> int:
    """`first_state`, for callers in Python."""
    return first_state(env, key)


@kernel
def state_after_once(env: Environment, key: np.uint64, y: int, t: int, horizon: int) -> int:
    """`state_after`, for callers in Python."""
    return state_after(env, key, y, t, horizon)


@kernel
def step_once(env: Environment, key: np.uint64, x: int, u: int) -> tuple[int, float]:
    """`step`, for callers in Python."""
    return step(env, key, x, u)
