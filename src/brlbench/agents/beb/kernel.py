"""The best action of the mean model with bonuses on little-known rewards."""

from typing import NamedTuple

from ...kernels.counts import support_size
from ...kernels.jit import inlined, kernel
from ...kernels.loop.trajectory import register
from ...kernels.solving import model as models
from ...kernels.solving.model import Model
from ...kernels.types import Words


class Beb(NamedTuple):
    """The agent's state."""

    rng: Words
    model: Model
    initial: Model
    beta: float
    by_transition: bool
    random_ties: bool


@inlined
def set_bonus(agent: Beb, pair: int) -> None:
    """Set the expected bonus of a pair.

    By pair: beta / (1 + n). By transition: the mean over y of beta / c(y), where y comes with
    probability c(y) / n, is beta / n for each possible y.
    """
    counts, bonus = agent.model.counts, agent.model.bonus
    n = counts.total[pair]
    if agent.by_transition:
        bonus[pair] = agent.beta * support_size(counts, pair) / n
    else:
        bonus[pair] = agent.beta / (1 + n)


@inlined
def change_bonuses(agent: Beb, pair: int, number: int) -> None:
    """Set the bonuses of the `number` pairs that a transition of `pair` has changed."""
    for i in range(number):
        set_bonus(agent, models.changed(agent.model, pair, i))


@kernel
def set_bonuses(agent: Beb) -> None:
    """Set the bonuses of all pairs."""
    for pair in range(len(agent.model.bonus)):
        set_bonus(agent, pair)


def act(agent: Beb, x: int) -> int:
    """Choose a best action."""
    if agent.random_ties:
        return models.best_action(agent.model, x, agent.rng)
    return models.first_best_action(agent.model, x)


def reset(agent: Beb, x: int) -> None:
    """Back to the prior; change the bonuses of pairs of which the start state tells."""
    number = models.reset(agent.model, agent.initial, x)
    change_bonuses(agent, 0, number)
    models.update_start(agent.model, number)


def observe(agent: Beb, x: int, u: int, y: int, r: float) -> None:
    """Count the transition, change the bonuses of changed pairs, and solve again."""
    model = agent.model
    pair = x * model.counts.num_actions + u
    number = models.count(model, pair, y, r)
    change_bonuses(agent, pair, number)
    models.update(model, x, u, y, number)


register(Beb, reset=reset, act=act, observe=observe)
