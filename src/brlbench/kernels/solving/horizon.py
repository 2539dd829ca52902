"""The mean MDP's values to the horizon, across the borders of episodes.

An episode that begins later is worth the expected value of its start state, whatever is done
before. So one backward induction over an episode gives the values of all that is left.
"""

from ..arrays import copy_vector
from ..dispatch import provide
from ..jit import cold
from . import model as models
from .model import Model, measure, set_q_values
from .plans import Horizon, rest, take_best


@cold
def plan_horizon(plan: Horizon, model: Model) -> None:
    """Solve the mean MDP for all decisions that are left; without any, all values are zero."""
    model.value[:] = 0.0
    model.q[:] = 0.0
    if rest(plan) > 0:
        left = plan.length - int(plan.step[0]) % plan.length
        episodes = (rest(plan) - left) // plan.length  # after the present one
        for n in range(1, (plan.length if episodes > 0 else left) + 1):
            measure(model)
            set_q_values(model)
            take_best(model.q, model.value, model.policy)
            if n == left:
                copy_vector(plan.q, model.q)
        expected = 0.0
        for k in range(len(plan.state)):
            expected += plan.probability[k] * model.value[plan.state[k]]
        later = plan.power[left] * plan.weight[episodes] * expected
        for pair in range(len(model.q)):
            model.q[pair] = plan.q[pair] + later
        take_best(model.q, model.value, model.policy)
    measure(model)


def reset_plan(plan: Horizon, initial: Horizon) -> None:
    """Back to the first decision."""
    plan.step[0] = 0


def solve_plan(plan: Horizon, model: Model) -> None:
    """Solve from scratch, before the first decision."""
    plan.step[0] = 0
    plan_horizon(plan, model)


def update_start_plan(plan: Horizon, model: Model, number: int) -> None:
    """Solve again."""
    plan_horizon(plan, model)


def update_plan(plan: Horizon, model: Model, x: int, u: int, y: int, number: int) -> None:
    """Go on to the next decision, and solve again."""
    plan.step[0] += 1
    plan_horizon(plan, model)


provide(
    Horizon,
    {
        models.reset_plan: reset_plan,
        models.solve_plan: solve_plan,
        models.update_start_plan: update_start_plan,
        models.update_plan: update_plan,
    },
)
