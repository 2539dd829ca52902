"""The mean model with a bonus per pair that depends on the values; always solved.

A pair's value with its bonus is the highest mean over rows that are tilted towards good outcomes,
as far as the bonus allows. So the agent solves an MDP in which it also chooses the tilts, by policy
iteration. Each round solves the model with the present policy and its present tilts, which is
Newton's method for the values.
"""

import math
from typing import Any, NamedTuple

from ...kernels import families
from ...kernels.arrays import at, copy_vector
from ...kernels.dispatch import by_type, provide
from ...kernels.jit import cold, inlined, kernel
from ...kernels.loop.trajectory import register
from ...kernels.solving import endless, plans
from ...kernels.solving import model as models
from ...kernels.solving.model import Model
from ...kernels.solving.model_agent import act, worth
from ...kernels.solving.plans import Endless, Episode
from ...kernels.types import Floats, Words

CONVERGED = 1e-11  # greatest residual of values, relative to their scale
_ROUNDS = 50  # of policy iteration
_MAX_SWEEPS = 10_000


class Spread(NamedTuple):
    """The agent's state."""

    rng: Words
    model: Model  # with rewards of entries; its counts have no background
    initial: Model
    size: Floats  # [P]; the bonus of a pair is its size times a standard deviation
    initial_size: Floats  # [P]
    kappa: float
    decay: float


@kernel
def add_bonuses(agent: Spread) -> None:
    """Solve with bonuses, from the solution without them."""
    for pair in range(len(agent.size)):
        set_size(agent, pair)
    solve_with_bonuses(agent)


@inlined
def set_size(agent: Spread, pair: int) -> None:
    """Set the size of a pair's bonus from its count."""
    agent.size[pair] = agent.kappa * (agent.model.counts.total[pair] + 1) ** -agent.decay


@inlined
def solve_with_bonuses(agent: Spread) -> None:
    """Make values and bonuses agree, by the plan."""
    solve_spread(agent.model.plan, agent)


@by_type
def solve_spread(plan: Any, agent: Spread) -> None:
    """`solve_with_bonuses`, by the plan."""


def _solve_episode(plan: Episode, agent: Spread) -> None:
    """By backward induction: bonuses depend on the values with one decision less."""
    model = models.without_belief(agent.model)
    if plans.is_due(plan):
        model.value[:] = 0.0
        for n in range(1, plans.left(plan) + 1):
            models.measure(model)
            set_bonuses(agent)
            models.set_q_values(model)
            plans.store(plan, n, model.q, model.value, model.policy)
    plans.load(plan, model.q, model.value, model.policy)
    models.measure(model)


def _solve_endless(plan: Endless, agent: Spread) -> None:
    """From values that nearly agree with their bonuses.

    Sweep if the model has no inverse, or if policy iteration does not arrive.
    """
    model = models.without_belief(agent.model)
    rounds = _ROUNDS if len(model.inverse) > 0 else 0
    for _ in range(rounds):
        models.measure(model)
        set_bonuses(agent)
        residual, better = endless.find_better_actions(model)
        if not better and residual <= CONVERGED * models.scale(model):
            return
        copy_vector(model.policy, model.pending)
        set_tilted_matrix(agent)
        endless.invert_in_place(model.inverse)
        endless.correct_values(model)
    if rounds > 0:
        model.value[:] = 0.0  # policy iteration may have led anywhere
    sweep(agent)


provide(Endless, {solve_spread: _solve_endless})
provide(Episode, {solve_spread: _solve_episode})


@inlined
def set_tilted_matrix(agent: Spread) -> None:
    """Set `inverse` to I - discount * P, where P is how the policy's values follow all values.

    An outcome that is z standard deviations above the mean has the weight 1 + size * z. Negative
    ones, which large bonuses give to rare bad outcomes, are left out.
    """
    model, counts, inverse = agent.model, agent.model.counts, agent.model.inverse
    for x in range(len(model.policy)):
        pair = x * counts.num_actions + model.policy[x]
        first, end = counts.row_start[pair], counts.row_start[pair] + counts.row_length[pair]
        inverse[x, :] = 0.0
        mean, spread = moments(agent, pair)
        slope = agent.size[pair] / spread if spread > 0 else 0.0
        total = 0.0
        for entry in range(first, end):
            weight = max(0.0, 1 + slope * (worth(agent, entry) - mean)) * counts.entry_count[entry]
            inverse[x, counts.entry_next[entry]] -= weight
            total += weight
        for y in range(len(inverse)):
            inverse[x, y] *= model.discount / total
        inverse[x, x] += 1.0


@inlined
def set_bonuses(agent: Spread) -> None:
    """Set all bonuses from the values."""
    for pair in range(len(agent.size)):
        agent.model.bonus[at(pair)] = agent.size[at(pair)] * moments(agent, pair)[1]


@inlined
def moments(agent: Spread, pair: int) -> tuple[float, float]:
    """The mean and the standard deviation of what a pair's transitions are worth, by its counts."""
    counts, row = agent.model.counts, at(pair)
    first = counts.row_start[row]
    mean = 0.0
    for entry in range(first, first + counts.row_length[row]):
        mean += counts.entry_count[at(entry)] * worth(agent, entry)
    mean /= counts.total[row]
    squares = 0.0
    for entry in range(first, first + counts.row_length[row]):
        squares += counts.entry_count[at(entry)] * (worth(agent, entry) - mean) ** 2
    unseen = families.reward_variance(agent.model.belief, pair)
    return mean, math.sqrt(squares / counts.total[row] + unseen)


@cold
def sweep(agent: Spread) -> None:
    """Gauss-Seidel sweeps over all states, until none changes much."""
    model = models.without_belief(agent.model)
    actions = model.counts.num_actions
    for _ in range(_MAX_SWEEPS):
        models.measure(model)
        set_bonuses(agent)
        change = 0.0
        for x in range(len(model.policy)):
            before, best = model.value[x], x * actions
            for pair in range(x * actions, (x + 1) * actions):
                model.q[pair] = models.q_value(model, pair)
                if model.q[pair] > model.q[best]:
                    best = pair
            model.policy[x], model.value[x] = best - x * actions, model.q[best]
            change = max(change, abs(model.q[best] - before))
        if change <= CONVERGED * (1 - model.discount) * models.scale(model):
            return


def reset(agent: Spread, x: int) -> None:
    """Back to the prior."""
    number = models.reset(agent.model, agent.initial, x)
    copy_vector(agent.size, agent.initial_size)
    if number > 0:
        change_sizes(agent, 0, number)
        solve_with_bonuses(agent)


@inlined
def change_sizes(agent: Spread, pair: int, number: int) -> None:
    """Set the bonuses' sizes of the `number` pairs that a transition of `pair` has changed."""
    for i in range(number):
        set_size(agent, models.changed(agent.model, pair, i))


@inlined
def count(agent: Spread, x: int, u: int, y: int, r: float) -> None:
    """Count the transition."""
    model = agent.model
    pair = x * model.counts.num_actions + u
    change_sizes(agent, pair, models.count_rewarded(model, pair, y, r))


def observe(agent: Spread, x: int, u: int, y: int, r: float) -> None:
    """Count the transition, and solve again."""
    count(agent, x, u, y, r)
    models.skip(agent.model)
    solve_with_bonuses(agent)


register(Spread, reset=reset, act=act, observe=observe)
