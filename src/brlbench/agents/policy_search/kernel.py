"""Trajectories on MDPs of the prior, and UCB1 over formulas that are tried on them.

A trajectory's MDP is not drawn: each next state is drawn from counts and then counted itself, a
Polya urn. The law is the same.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from ...kernels.arrays import copy_vector
from ...kernels.counts import Counts, add, reward_of
from ...kernels.counts import reset as reset_counts
from ...kernels.jit import inlined, kernel
from ...kernels.loop.environment import scan
from ...kernels.loop.trajectory import act, observe, reset
from ...kernels.random.rng import keyed_word, uniform
from ...kernels.types import Booleans, Floats, Integers, Words
from ..formula.kernel import Formula

DISCARDED = -np.inf  # the mean of an arm whose formula was undefined


class Practice(NamedTuple):
    """Practice on MDPs of the prior."""

    counts: Counts  # the prior's, and those of this trajectory's transitions
    initial: Counts  # the prior's
    start: Floats  # [S]
    discount: float
    horizon: int
    key: np.uint64  # with the trajectory's number, the key of all randomness


class Arms(NamedTuple):
    """UCB1's arms: k formulas, with M models."""

    codes: Integers  # [k, instructions]
    numbers: Floats  # [k, instructions]; see `Program`
    length: Integers  # [k]
    used: Booleans  # [k, M]
    draws: Integers  # [k]; how often the arm was chosen
    returns: Integers  # [k]; number of its known returns
    mean: Floats  # [k]; mean of the known returns, or DISCARDED
    width: Floats  # [k]; 1 / sqrt(draws)


@inlined
def draw_next(counts: Counts, pair: int, rng: Words) -> int:
    """A next state, with probabilities proportional to the counts of the pair."""
    chance = uniform(rng) * counts.total[pair]
    last = counts.num_states - 1
    if counts.background[pair] > 0:
        spread = counts.background[pair] * counts.num_states
        if chance < spread:
            return min(int(chance / counts.background[pair]), last)
        chance -= spread
    first = counts.row_start[pair]
    for entry in range(first, first + counts.row_length[pair]):
        # Rounding may lead past the end: the last possible next state is taken then.
        last = counts.entry_next[entry]
        if chance < counts.entry_count[entry]:
            return last
        chance -= counts.entry_count[entry]
    return last


@inlined
def simulate(agent: Any, practice: Practice, number: int) -> float:
    """Play one trajectory on a fresh MDP; return the discounted sum of rewards."""
    for i in range(len(agent.rng)):
        agent.rng[i] = keyed_word(practice.key, number, i)
    counts, rng = practice.counts, agent.rng
    reset_counts(counts, practice.initial)
    x = scan(practice.start, 0, len(practice.start), uniform(rng))
    reset(agent, x)
    total, weight = 0.0, 1.0
    for _ in range(practice.horizon):
        u = act(agent, x)
        pair = x * counts.num_actions + u
        y = draw_next(counts, pair, rng)
        r = reward_of(counts, pair, y)
        add(counts, pair, y)
        observe(agent, x, u, y, r)
        total += weight * r
        weight *= practice.discount
        x = y
    return total


@kernel
def mean_return(agent: Any, practice: Practice, first: int, trajectories: int) -> float:
    """The mean return of the trajectories numbered from `first`."""
    total = 0.0
    for number in range(first, first + trajectories):
        total += simulate(agent, practice, number)
    return total / trajectories


@inlined
def try_arm(agent: Formula, practice: Practice, arms: Arms, arm: int, number: int) -> float:
    """The return of one trajectory with an arm's formula; NaN if the formula was ever undefined."""
    copy_vector(agent.program.codes, arms.codes[arm])
    copy_vector(agent.program.numbers, arms.numbers[arm])
    copy_vector(agent.used, arms.used[arm])
    agent.program.length[0] = arms.length[arm]
    total = simulate(agent, practice, number)
    return total if agent.undefined[0] == 0 else np.nan


@inlined
def choose(arms: Arms, exploration: float, number: int) -> int:
    """Choose the arm of draw `number`, counted from 1; it counts as drawn from now on.

    Looking at every arm takes a few per cent of a trajectory's time with the largest set.
    """
    spread = exploration * math.sqrt(math.log(number))
    best, highest = 0, -np.inf
    for arm in range(len(arms.mean)):
        bound = arms.mean[arm] + spread * arms.width[arm]
        if bound > highest:
            best, highest = arm, bound
    arms.draws[best] += 1
    arms.width[best] = 1 / math.sqrt(arms.draws[best])
    return best


@inlined
def learn(arms: Arms, arm: int, result: float) -> None:
    """Count a return; an arm whose formula was undefined is discarded."""
    if math.isnan(result) or arms.mean[arm] == DISCARDED:
        arms.mean[arm] = DISCARDED
        return
    arms.returns[arm] += 1
    arms.mean[arm] += (result - arms.mean[arm]) / arms.returns[arm]


@kernel
def choose_all(arms: Arms, exploration: float, done: int, chosen: Integers) -> None:
    """Choose the arms of the draws after the first `done`, before any of them is made."""
    for i in range(len(chosen)):
        chosen[i] = choose(arms, exploration, done + i + 1)


@kernel
def learn_all(arms: Arms, chosen: Integers, results: Floats) -> None:
    """Count all returns, in the order of the draws."""
    for i in range(len(chosen)):
        learn(arms, chosen[i], results[i])


@kernel
def draw(
    agent: Formula,
    practice: Practice,
    arms: Arms,
    done: int,
    chosen: Integers,  # [n]
    results: Floats,  # [n]
    exploration: float,
    proper: bool,
) -> None:
    """Make n draws after the first `done`, of arms chosen before or, if `proper`, by UCB1 now."""
    for i in range(len(chosen)):
        number = done + i + 1
        if proper:
            chosen[i] = choose(arms, exploration, number)
        results[i] = try_arm(agent, practice, arms, chosen[i], number)
        if proper:
            learn(arms, chosen[i], results[i])
