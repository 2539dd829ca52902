"""The best action of the mean model with bonuses that have free exponents."""

from typing import NamedTuple

from ...kernels.counts import add, spread
from ...kernels.jit import inlined, kernel
from ...kernels.loop.trajectory import register
from ...kernels.solving import model as models
from ...kernels.solving.model import Model
from ...kernels.solving.model_agent import act, reset
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
        size *= spread(counts, pair) ** agent.spread
    agent.model.bonus[pair] = size


@kernel
def solve(agent: Bonus) -> None:
    """Set the bonuses of all pairs, and solve from scratch."""
    for pair in range(len(agent.model.bonus)):
        set_bonus(agent, pair)
    models.solve(agent.model)


def observe(agent: Bonus, x: int, u: int, y: int, r: float) -> None:
    """Count the transition, change the bonus of the pair, and solve again."""
    pair = x * agent.model.counts.num_actions + u
    add(agent.model.counts, pair, y)
    set_bonus(agent, pair)
    models.update(agent.model, x, u, y)


register(Bonus, reset=reset, act=act, observe=observe)
