"""Exact solutions in episodes, by backward induction: of the mean MDP, and of sampled ones.

Every Q-value is computed by the formula that solutions without end use, so that values which are
equal by symmetry stay equal.
"""

from ..arrays import copy_vector
from ..dispatch import provide
from ..jit import cold, inlined
from ..types import Words
from . import merged, merged_models, plans, sampled
from . import model as models
from .merged import take_best_rows
from .merged_models import MergedModels, take_best_models
from .merged_rows import Merged
from .model import Model, measure, set_q_values, without_belief
from .plans import Episode
from .sampled import Sampled


@cold
def plan_model(plan: Episode, model: Model, layers: int) -> None:
    """Solve the mean MDP with up to `layers` decisions left."""
    model.value[:] = 0.0
    for n in range(1, layers + 1):
        measure(model)
        set_q_values(model)
        plans.store(plan, n, model.q, model.value, model.policy)


@inlined
def show(plan: Episode, model: Model) -> None:
    """Make the solution that of the present decision."""
    plans.load(plan, model.q, model.value, model.policy)
    measure(model)


def reset_plan(plan: Episode, initial: Episode) -> None:
    """Back to the first episode, and to the prior's plan."""
    plans.begin(plan)
    if not plan.every_step:
        for n in range(1, plan.length + 1):
            copy_vector(plan.q[n], initial.q[n])


def solve_plan(plan: Episode, model: Model) -> None:
    """Solve from scratch, at the start of an episode."""
    plans.begin(plan)
    plan_model(plan, model, plan.length)
    show(plan, model)


def update_start_plan(plan: Episode, model: Model, number: int) -> None:
    """Plan again at the start of the first episode."""
    solved = without_belief(model)
    plan_model(plan, solved, plan.length)
    show(plan, solved)


def update_plan(plan: Episode, model: Model, x: int, u: int, y: int, number: int) -> None:
    """Go on to the next decision, with a new plan if it is due.

    It has the decision that was made too, so that its new Q-values can be compared with the old.
    """
    layers, solved = plans.left(plan), without_belief(model)
    plans.advance(plan)
    if plans.is_due(plan):
        plan_model(plan, solved, max(layers, plans.left(plan)))
    show(plan, solved)


def skip_plan(plan: Episode, model: Model) -> None:
    """Go on to the next decision; the plan stays."""
    plans.advance(plan)
    show(plan, model)


def solve_again_plan(plan: Episode, model: Model) -> None:
    """Plan again, if a plan is due."""
    if plans.is_due(plan):
        plan_model(plan, model, plans.left(plan))
        show(plan, model)


def last_q_plan(plan: Episode, model: Model, pair: int) -> float:
    """The new Q-value of the decision that was made, in plans of every step."""
    step = (plan.step[0] - 1) % plan.length
    return plan.q[plan.length - step, pair]


provide(
    Episode,
    {
        models.reset_plan: reset_plan,
        models.solve_plan: solve_plan,
        models.update_start_plan: update_start_plan,
        models.update_plan: update_plan,
        models.skip_plan: skip_plan,
        models.solve_again_plan: solve_again_plan,
        models.last_q_plan: last_q_plan,
    },
)


def solve_sampled(plan: Episode, mdp: Sampled) -> None:
    """Solve a sampled MDP: for the rest of the episode, or for all decisions of one."""
    optimum = mdp.optimum
    optimum.value[:] = 0.0
    for n in range(1, _num_layers(plan) + 1):
        for pair in range(len(optimum.q)):
            optimum.q[pair] = sampled.q_value(mdp, pair)
        plans.store(plan, n, optimum.q, optimum.value, optimum.policy)
    show_sampled(plan, mdp)


def solve_models(plan: Episode, merged: MergedModels) -> None:
    """Solve a merged MDP; each pair has its best model, by decisions left."""
    optimum = merged.mdp.optimum
    optimum.value[:] = 0.0
    for n in range(1, _num_layers(plan) + 1):
        take_best_models(merged)
        plans.store(plan, n, optimum.q, optimum.value, optimum.policy)
    show_sampled(plan, merged.mdp)


def solve_rows(plan: Episode, merged: Merged, rng: Words) -> None:
    """Solve a merged MDP, all of whose rows are drawn; each pair has its best one, by layers."""
    optimum = merged.mdp.optimum
    optimum.value[:] = 0.0
    for n in range(1, _num_layers(plan) + 1):
        take_best_rows(merged)
        plans.store(plan, n, optimum.q, optimum.value, optimum.policy)
    show_sampled(plan, merged.mdp)


@inlined
def _num_layers(plan: Episode) -> int:
    return plans.left(plan) if plan.every_step else plan.length


@inlined
def show_sampled(plan: Episode, mdp: Sampled) -> None:
    """Make the solution that of the present decision."""
    optimum, largest = mdp.optimum, 0.0
    plans.load(plan, optimum.q, optimum.value, optimum.policy)
    for value in optimum.value:
        largest = max(largest, abs(value))
    optimum.scale[0] = largest


def begin_sampled(plan: Episode, mdp: Sampled) -> None:
    """The first episode begins."""
    plans.begin(plan)


def skip_sampled(plan: Episode, mdp: Sampled) -> None:
    """Go on to the next decision, with the same MDP unless each one has its own."""
    plans.advance(plan)
    if not plan.every_step:
        show_sampled(plan, mdp)


provide(
    Episode,
    {
        sampled.solve_sampled: solve_sampled,
        merged_models.solve_models: solve_models,
        merged.solve_rows: solve_rows,
        sampled.begin_sampled: begin_sampled,
        sampled.skip_sampled: skip_sampled,
    },
)
