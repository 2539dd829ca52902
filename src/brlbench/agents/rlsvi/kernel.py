"""The best action of the mean model with Gaussian noise in every backup."""

import math
from typing import Any, NamedTuple

from ...kernels.dispatch import by_type, provide
from ...kernels.jit import cold, inlined
from ...kernels.loop.trajectory import register
from ...kernels.random.gamma import normal
from ...kernels.solving import episodes, plans
from ...kernels.solving import model as models
from ...kernels.solving.model import Model
from ...kernels.solving.plans import Endless, Episode
from ...kernels.types import Integers, Words
from ..psrl.kernel import NOT_SAMPLED, is_due


class Rlsvi(NamedTuple):
    """The agent's state."""

    rng: Words
    model: Model  # its bonuses are the noise
    initial: Model
    sigma: float
    chance: float  # probability of new noise at a step
    every: int  # steps from one noise to the next, or BY_CHANCE
    age: Integers  # [1]; steps since noise was drawn, or NOT_SAMPLED


@inlined
def draw_noise(model: Model, sigma: float, rng: Words) -> None:
    """Draw the noise of all pairs."""
    for pair in range(len(model.bonus)):
        model.bonus[pair] = sigma / math.sqrt(model.counts.total[pair]) * normal(rng)


@by_type
def plan_noisily(plan: Any, model: Model, sigma: float, rng: Words) -> None:
    """Solve the model with new noise."""


def _plan_endless(plan: Endless, model: Model, sigma: float, rng: Words) -> None:
    draw_noise(model, sigma, rng)
    models.solve_plan(plan, model)


def _plan_episode(plan: Episode, model: Model, sigma: float, rng: Words) -> None:
    model.value[:] = 0.0
    for n in range(1, plan.length + 1):
        draw_noise(model, sigma, rng)
        models.measure(model)
        models.set_q_values(model)
        plans.store(plan, n, model.q, model.value, model.policy)
    episodes.show(plan, model)


provide(Endless, {plan_noisily: _plan_endless})
provide(Episode, {plan_noisily: _plan_episode})


@cold
def plan_again(agent: Rlsvi) -> None:
    """Solve the model with new noise."""
    plan_noisily(agent.model.plan, agent.model, agent.sigma, agent.rng)


def reset(agent: Rlsvi, x: int) -> None:
    """Back to the prior; the first act plans."""
    models.reset(agent.model, agent.initial, x)
    agent.age[0] = NOT_SAMPLED


def act(agent: Rlsvi, x: int) -> int:
    """Plan if that is due, and take the first best action."""
    if is_due(agent):
        plan_again(agent)
    return models.first_best_action(agent.model, x)


def observe(agent: Rlsvi, x: int, u: int, y: int, r: float) -> None:
    """Count the transition; the plan stays."""
    models.count(agent.model, x * agent.model.counts.num_actions + u, y, r)
    models.skip(agent.model)


register(Rlsvi, reset=reset, act=act, observe=observe)
