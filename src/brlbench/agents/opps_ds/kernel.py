"""UCB1 over formulas that are tried on MDPs of the prior."""

import math
from typing import NamedTuple

import numpy as np

from ...kernels.arrays import copy_vector
from ...kernels.jit import inlined, kernel
from ...kernels.practice import Practice, simulate
from ...kernels.types import Booleans, Floats, Integers
from ..formula.kernel import Formula

DISCARDED = -np.inf  # the mean of an arm whose formula was undefined


class Arms(NamedTuple):
    """UCB1's arms: k formulas, with M models."""

    codes: Integers  # [k, instructions]
    numbers: Floats  # [k, instructions]; see `Program`
    length: Integers  # [k]
    used: Booleans  # [k, M]
    draws: Integers  # [k]; draws of the arm
    returns: Integers  # [k]; number of its known returns
    mean: Floats  # [k]; mean of the known returns, or DISCARDED
    width: Floats  # [k]; 1 / sqrt(draws)


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
    """Choose the arms [n] of the draws after the first `done`, before any of them is made."""
    for i in range(len(chosen)):
        chosen[i] = choose(arms, exploration, done + i + 1)


@kernel
def learn_all(arms: Arms, chosen: Integers, results: Floats) -> None:
    """Count the returns [n] of all chosen arms [n], in the order of the draws."""
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
