"""The model of known pairs, always solved; unknown ones are worth the most that can be had.

An unknown pair has an infinite total count, so that what it led to weighs nothing, and the worth of
the fictitious state as its bonus. When it becomes known, it gets its counts, and no bonus.
"""

from typing import Any, NamedTuple

import numpy as np

from ...kernels.dispatch import by_type, provide
from ...kernels.jit import inlined, kernel
from ...kernels.loop.trajectory import register
from ...kernels.solving import endless, episodes, plans
from ...kernels.solving import model as models
from ...kernels.solving.model import Model
from ...kernels.solving.model_agent import act
from ...kernels.solving.plans import Endless, Episode
from ...kernels.types import Integers, Words


class RMax(NamedTuple):
    """The agent's state."""

    rng: Words
    model: Model
    initial: Model
    seen: Integers  # [P]; visits, up to the threshold
    is_stale: Integers  # [1]; whether the plan is older than the model, in episodes
    threshold: int
    largest_reward: float
    weight: float  # of the prior, in visits


@kernel
def solve(agent: RMax) -> None:
    """Make all pairs unknown, and solve from scratch."""
    agent.model.counts.total[:] = np.inf
    solve_r_max(agent.model.plan, agent)


@by_type
def solve_r_max(plan: Any, agent: RMax) -> None:
    """Solve from scratch, by the plan."""


@by_type
def update_r_max(plan: Any, agent: RMax, pair: int, is_new: bool) -> None:
    """Bring the solution up to date, by the plan; `is_new` if the pair has become known."""


@inlined
def set_ceiling(agent: RMax, ceiling: float) -> None:
    """Set the worth of the fictitious state."""
    for pair in range(len(agent.seen)):
        is_known = agent.seen[pair] == agent.threshold
        agent.model.bonus[pair] = 0.0 if is_known else ceiling


def _solve_endless(plan: Endless, agent: RMax) -> None:
    set_ceiling(agent, agent.largest_reward / (1 - agent.model.discount))
    models.solve(agent.model)


def _update_endless(plan: Endless, agent: RMax, pair: int, is_new: bool) -> None:
    if is_new:
        endless.update_rows(agent.model, pair, 1)


def _solve_episode(plan: Episode, agent: RMax) -> None:
    """By backward induction for a whole episode: the plan holds until another pair is known."""
    model, ceiling = agent.model, 0.0
    model.value[:] = 0.0
    for n in range(1, plan.length + 1):
        ceiling = agent.largest_reward + model.discount * ceiling
        set_ceiling(agent, ceiling)
        models.measure(model)
        models.set_q_values(model)
        plans.store(plan, n, model.q, model.value, model.policy)
    episodes.show(plan, model)
    agent.is_stale[0] = 0


def _update_episode(plan: Episode, agent: RMax, pair: int, is_new: bool) -> None:
    if is_new:
        agent.is_stale[0] = 1
    plans.advance(plan)
    if agent.is_stale[0] == 1 and plans.is_due(plan):
        solve_r_max(plan, agent)
    else:
        episodes.show(plan, agent.model)


provide(Endless, {solve_r_max: _solve_endless, update_r_max: _update_endless})
provide(Episode, {solve_r_max: _solve_episode, update_r_max: _update_episode})


def reset(agent: RMax, x: int) -> None:
    """Back to the model without known pairs."""
    models.reset(agent.model, agent.initial, x)
    agent.seen[:] = 0
    agent.is_stale[0] = 1  # models go back to the first decision's values alone


def observe(agent: RMax, x: int, u: int, y: int, r: float) -> None:
    """Count a transition of an unknown pair; known ones have learned enough."""
    model, counts = agent.model, agent.model.counts
    pair = x * counts.num_actions + u
    is_unknown = agent.seen[pair] < agent.threshold
    is_new = False
    if is_unknown:
        counts.total[pair] = agent.seen[pair] + agent.weight
        models.count(model, pair, y, r)
        agent.seen[pair] += 1
        is_new = agent.seen[pair] == agent.threshold
        if is_new:
            model.bonus[pair] = 0.0
        else:
            counts.total[pair] = np.inf
    update_r_max(model.plan, agent, pair, is_new)


register(RMax, reset=reset, act=act, observe=observe)
