"""Agents that plan optimistically now and then, from their visits to each pair alone.

Such an agent has a model whose counts are hardly more than its visits (see `builders.visits`), and
a `pace` that says when it plans. It provides two functions by its type: `set_widths` says how far
its estimates may be wrong when a plan is made, `optimistic_q` values a pair within these limits.

Without episodes, it plans when it is about to take a pair whose visits have doubled since the last
plan, or that was new then. In episodes, it plans at each step or once per episode, for the
decisions that are left.
"""

from typing import Any, NamedTuple

from ..arrays import copy_vector
from ..dispatch import by_type, provide
from ..jit import cold, inlined, kernel
from ..types import Integers
from . import model as models
from . import plans
from .model import Model
from .plans import Endless, Episode

_CONVERGED = 1e-11  # largest error of values, relative to their scale
_POLICY_SWEEPS = 8
_MAX_ROUNDS = 10_000
FOREVER = 0  # instead of a number of decisions that are left


class Pace(NamedTuple):
    """Visits so far, and at the last plan."""

    visits: Integers  # [P]
    planned: Integers  # [P]
    decisions: Integers  # [1]; made so far


@by_type
def set_widths(agent: Any) -> None:
    """Set all that depends on visits and on the time, when a plan is made."""


@by_type
def optimistic_q(agent: Any, pair: int, left: int) -> float:  # type: ignore[empty-body]
    """The optimistic Q-value of a pair with so many decisions left, or FOREVER.

    The model's values are those with one decision less.
    """


@kernel
def solve(agent: Any) -> None:
    """Plan from scratch."""
    copy_vector(agent.pace.planned, agent.pace.visits)
    set_widths(agent)
    make_plan(agent.model.plan, agent)


@by_type
def make_plan(plan: Any, agent: Any) -> None:
    """Solve for the present widths, by the plan."""


@by_type
def is_outdated(plan: Any, pace: Pace, pair: int) -> bool:  # type: ignore[empty-body]
    """Whether a new plan is due before a pair is taken."""


@by_type
def time_of_plan(plan: Any, pace: Pace) -> int:  # type: ignore[empty-body]
    """The time on which widths depend: decisions from 1 on or, in episodes, episodes from 1 on."""


@by_type
def go_on(plan: Any, agent: Any) -> None:
    """Go on to the next decision."""


@cold
def back_up(agent: Any, x: int, left: int) -> float:
    """Set the Q-values of a state, and its policy; return the best."""
    model = agent.model
    actions = model.counts.num_actions
    best = x * actions
    for pair in range(best, best + actions):
        model.q[pair] = optimistic_q(agent, pair, left)
        if model.q[pair] > model.q[best]:
            best = pair
    model.policy[x] = best - x * actions
    return float(model.q[best])


def _plan_endless(plan: Endless, agent: Any) -> None:
    """Sweeps over all actions, and some over the policy after each, from the last values."""
    model: Model = agent.model
    for _ in range(_MAX_ROUNDS):
        change = 0.0
        for x in range(len(model.value)):
            best = back_up(agent, x, FOREVER)
            change = max(change, abs(best - model.value[x]))
            model.value[x] = best
        models.measure(model)
        if change <= _CONVERGED * (1 - model.discount) * models.scale(model):
            return
        follow_policy(agent)


@cold
def follow_policy(agent: Any) -> None:
    """Sweep over the policy's actions; the next sweep over all of them ends near its values."""
    model: Model = agent.model
    for _ in range(_POLICY_SWEEPS):
        for x in range(len(model.value)):
            pair = x * model.counts.num_actions + model.policy[x]
            model.value[x] = optimistic_q(agent, pair, FOREVER)


def _plan_episode(plan: Episode, agent: Any) -> None:
    """By backward induction, if a plan is due."""
    model: Model = agent.model
    if plans.is_due(plan):
        model.value[:] = 0.0
        for n in range(1, plans.left(plan) + 1):
            for x in range(len(model.value)):
                back_up(agent, x, n)
            plans.store(plan, n, model.q, model.value, model.policy)
    plans.load(plan, model.q, model.value, model.policy)
    models.measure(model)


def _is_outdated_endless(plan: Endless, pace: Pace, pair: int) -> bool:
    before = pace.planned[pair]
    return bool(pace.visits[pair] - before >= max(1, before))


def _is_outdated_episode(plan: Episode, pace: Pace, pair: int) -> bool:
    return False


def _time_endless(plan: Endless, pace: Pace) -> int:
    return int(pace.decisions[0]) + 1


def _time_episode(plan: Episode, pace: Pace) -> int:
    return int(pace.decisions[0]) // plan.length + 1


def _go_on_endless(plan: Endless, agent: Any) -> None:
    pass


def _go_on_episode(plan: Episode, agent: Any) -> None:
    plans.advance(plan)
    if plans.is_due(plan):
        solve(agent)
    else:
        make_plan(plan, agent)


provide(
    Endless,
    {
        make_plan: _plan_endless,
        is_outdated: _is_outdated_endless,
        time_of_plan: _time_endless,
        go_on: _go_on_endless,
    },
)
provide(
    Episode,
    {
        make_plan: _plan_episode,
        is_outdated: _is_outdated_episode,
        time_of_plan: _time_episode,
        go_on: _go_on_episode,
    },
)


@inlined
def visits_of(agent: Any, pair: int) -> int:
    """The visits of a pair when the present plan was made."""
    return int(agent.pace.planned[pair])


@inlined
def reset(agent: Any, x: int) -> None:
    """Back to the plan without any visits."""
    models.reset(agent.model, agent.initial, x)
    agent.pace.visits[:] = 0
    agent.pace.planned[:] = 0
    agent.pace.decisions[0] = 0


def act(agent: Any, x: int) -> int:
    """Take a best action, with a new plan if it is due; ties are broken at random."""
    u = models.best_action(agent.model, x, agent.rng)
    if is_outdated(agent.model.plan, agent.pace, x * agent.model.counts.num_actions + u):
        solve(agent)
        u = models.best_action(agent.model, x, agent.rng)
    return u


def observe(agent: Any, x: int, u: int, y: int, r: float) -> None:
    """Count the visit; plan again if that is due."""
    model: Model = agent.model
    pair = x * model.counts.num_actions + u
    models.count_rewarded(model, pair, y, r)
    agent.pace.visits[pair] += 1
    agent.pace.decisions[0] += 1
    go_on(model.plan, agent)
