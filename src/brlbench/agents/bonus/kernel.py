"""The best action of the mean model with bonuses that have free exponents."""

from typing import NamedTuple

from ...kernels import families
from ...kernels.jit import inlined, kernel
from ...kernels.loop.trajectory import register
from ...kernels.solving import model as models
from ...kernels.solving.model import Model
from ...kernels.solving.model_agent import act
from ...kernels.types import Words


class Bonus(NamedTuple):
    """The agent's state."""

    rng: Words
    model: Model
    initial: Model
    beta: float
    spread: float
    decay: float
    shift: float


@inlined
def set_bonus(agent: Bonus, pair: int) -> None:
    """Set the bonus of a pair."""
    counts = agent.model.counts
    size = agent.beta * (counts.total[pair] + agent.shift) ** -agent.decay
    if agent.spread > 0:
        size *= families.spread(agent.model.belief, counts, pair) ** agent.spread
    agent.model.bonus[pair] = size


@inlined
def change_bonuses(agent: Bonus, pair: int, number: int) -> None:
    """Set the bonuses of the `number` pairs that a transition of `pair` has changed."""
    for i in range(number):
        set_bonus(agent, models.changed(agent.model, pair, i))


@kernel
def set_bonuses(agent: Bonus) -> None:
    """Set the bonuses of all pairs."""
    for pair in range(len(agent.model.bonus)):
        set_bonus(agent, pair)


def reset(agent: Bonus, x: int) -> None:
    """Back to the prior; change the bonuses of pairs of which the start state tells."""
    number = models.reset(agent.model, agent.initial, x)
    change_bonuses(agent, 0, number)
    models.update_start(agent.model, number)


def observe(agent: Bonus, x: int, u: int, y: int, r: float) -> None:
    """Count the transition, change the bonuses of changed pairs, and solve again."""
    model = agent.model
    pair = x * model.counts.num_actions + u
    number = models.count(model, pair, y, r)
    change_bonuses(agent, pair, number)
    models.update(model, x, u, y, number)


register(Bonus, reset=reset, act=act, observe=observe)
