"""The best action of the mean model, where uncertainty takes the place of rewards."""

import math
from typing import NamedTuple

from ...kernels import families
from ...kernels.jit import cold, inlined, kernel
from ...kernels.loop.trajectory import register
from ...kernels.solving import model as models
from ...kernels.solving.model import Model
from ...kernels.solving.model_agent import act
from ...kernels.types import Floats, Words


class Eubrl(NamedTuple):
    """The agent's state."""

    rng: Words
    model: Model
    initial: Model
    eta: float
    largest: Floats  # [1]; the largest uncertainty so far
    initial_largest: Floats  # [1]


@inlined
def uncertainty(model: Model, pair: int) -> float:
    """The root of the summed posterior variances of the pair's probabilities."""
    return math.sqrt(
        families.spread(model.belief, model.counts, pair) / (model.counts.total[pair] + 1)
    )


@inlined
def set_bonus(agent: Eubrl, pair: int, unknown: float) -> None:
    """Set what a pair's uncertainty adds to its reward, and takes from it."""
    counts = agent.model.counts
    chance = unknown / agent.largest[0] if agent.largest[0] > 0 else 0.0
    reward = counts.reward_sum[pair] / counts.total[pair]
    agent.model.bonus[pair] = chance * (agent.eta * unknown - reward)


@kernel
def measure(agent: Eubrl) -> None:
    """`measure_all`, for callers in Python."""
    measure_all(agent)


@inlined
def measure_all(agent: Eubrl) -> None:
    """Find the largest uncertainty, and set the bonuses of all pairs."""
    agent.largest[0] = 0.0
    for pair in range(len(agent.model.bonus)):
        agent.largest[0] = max(agent.largest[0], uncertainty(agent.model, pair))
    set_all_bonuses(agent)


@inlined
def set_all_bonuses(agent: Eubrl) -> None:
    """Set the bonuses of all pairs."""
    for pair in range(len(agent.model.bonus)):
        set_bonus(agent, pair, uncertainty(agent.model, pair))


def reset(agent: Eubrl, x: int) -> None:
    """Back to the prior."""
    number = models.reset(agent.model, agent.initial, x)
    agent.largest[0] = agent.initial_largest[0]
    if number > 0:
        measure_all(agent)
        models.update_start(agent.model, number)


def observe(agent: Eubrl, x: int, u: int, y: int, r: float) -> None:
    """Count the transition, change the rewards of changed pairs, and solve again."""
    model = agent.model
    pair = x * model.counts.num_actions + u
    number = models.count(model, pair, y, r)
    is_larger = change_bonuses(agent, pair, number)
    models.update(model, x, u, y, number)
    if is_larger:
        change_all_rewards(agent)


@inlined
def change_bonuses(agent: Eubrl, pair: int, number: int) -> bool:
    """Set the bonuses of the `number` pairs that a transition of `pair` has changed.

    Return whether the largest uncertainty has grown.
    """
    model, largest = agent.model, agent.largest[0]
    for i in range(number):
        unknown = uncertainty(model, models.changed(model, pair, i))
        agent.largest[0] = max(agent.largest[0], unknown)
    for i in range(number):
        other = models.changed(model, pair, i)
        set_bonus(agent, other, uncertainty(model, other))
    return bool(agent.largest[0] > largest)


@cold
def change_all_rewards(agent: Eubrl) -> None:
    """Solve again with another largest uncertainty, by which all pairs are measured."""
    set_all_bonuses(agent)
    models.solve_again(agent.model)


register(Eubrl, reset=reset, act=act, observe=observe)
