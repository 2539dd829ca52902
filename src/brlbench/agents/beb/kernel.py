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


@kernel
def solve(agent: Beb) -> None:
    """Set the bonuses of all pairs, and solve from scratch."""
    for pair in range(len(agent.model.bonus)):
        set_bonus(agent, pair)
    models.solve(agent.model)


def act(agent: Beb, x: int) -> int:
    """Choose a best action."""
    if agent.random_ties:
        return models.best_action(agent.model, x, agent.rng)
    return models.first_best_action(agent.model, x)


def observe(agent: Beb, x: int, u: int, y: int, r: float) -> None:
    """Count the transition, lower the bonus of the pair, and solve again."""
    pair = x * agent.model.counts.num_actions + u
    add(agent.model.counts, pair, y)
    set_bonus(agent, pair)
    models.update(agent.model, x, u, y)


register(Beb, reset=reset, act=act, observe=observe)
