"""The best action of the mean model with bonuses on little-known rewards."""

from typing import NamedTuple

from ...kernels.counts import add, support_size
from ...kernels.jit import inlined, kernel
from ...kernels.loop.trajectory import register
from ...kernels.solving import model as models
from ...kernels.solving.model import Model
from ...kernels.solving.model_agent import reset
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
def set_bonus(model: Model, pair: int, beta: float, by_transition: bool) -> None:
    """Set the expected bonus of a pair.

    By pair: beta / (1 + n). By transition: the mean over y of beta / c(y), where y comes with
    probability c(y) / n, is beta / n for each possible y.
    """
    n = model.counts.total[pair]
    if by_transition:
        model.bonus[pair] = beta * support_size(model.counts, pair) / n
    else:
        model.bonus[pair] = beta / (1 + n)


@kernel
def set_all_bonuses(model: Model, beta: float, by_transition: bool) -> None:
    """Set the expected bonuses of all pairs."""
    for pair in range(len(model.bonus)):
        set_bonus(model, pair, beta, by_transition)


def act(agent: Beb, x: int) -> int:
    """Choose a best action."""
    if agent.random_ties:
        return models.best_action(agent.model, x, agent.rng)
    return models.first_best_action(agent.model, x)


def observe(agent: Beb, x: int, u: int, y: int, r: float) -> None:
    """Count the transition, lower the bonus of the pair, and solve again."""
    pair = x * agent.model.counts.num_actions + u
    add(agent.model.counts, pair, y)
    set_bonus(agent.model, pair, agent.beta, agent.by_transition)
    models.update(agent.model, x, u, y)


register(Beb, reset=reset, act=act, observe=observe)
