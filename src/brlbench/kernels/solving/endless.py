"""The mean MDP's values without end, kept solved exactly while the posterior learns.

One transition changes one row of the model. With N = (I - discount * P_policy)^-1 at hand, a change
of one row of P_policy, by learning or by a switch of policy, is a Sherman-Morrison update of N and
of the values: O(S^2), and exact. Then one pass over all entries checks that no action has become
better.

The same pass finds the residual of the values. If rounding has raised it above RESIDUAL of their
scale, a fresh inverse is made; when this happens depends on the trajectory alone.

Beliefs of other families change several rows at once (see `families`): the rows of the policy among
them are exchanged one by one, each by such an update.

With too many states for an inverse (`inverse` is then empty), Gauss-Seidel sweeps start from the
last values and end within SWEEP_TOLERANCE of the values' scale.
"""

from typing import Any

import numpy as np

from ..arrays import at
from ..dispatch import by_type, provide
from ..families import Flat
from ..jit import cold, inlined
from ..types import Floats
from . import model as models
from .model import SUM, Model, changed, measure, q_value, scale, set_q_values, without_belief
from .plans import Endless
from .tolerances import SWEEP_TOLERANCE, SWITCH

RESIDUAL = 1e-13
_POLICY_SWEEPS = 8
_MAX_ROUNDS = 10_000


def _solve_endless(plan: Endless, model: Model) -> None:
    model.value[:] = 0.0
    measure(model)
    actions = model.counts.num_actions
    for x in range(len(model.policy)):
        best = x * actions
        for pair in range(x * actions, (x + 1) * actions):
            if q_value(model, pair) > q_value(model, best):
                best = pair
        model.policy[x] = best - x * actions
    if len(model.inverse) > 0:
        invert(model)
    improve(model)


def _reset_endless(plan: Endless, initial: Endless) -> None:
    pass


def _update_start_endless(plan: Endless, model: Model, number: int) -> None:
    update_rows(model, 0, number)


def _update_endless(plan: Endless, model: Model, x: int, u: int, y: int, number: int) -> None:
    update_solution(model.belief, model, x, u, y, number)


def _solve_again_endless(plan: Endless, model: Model) -> None:
    improve(model)


def _skip_endless(plan: Endless, model: Model) -> None:
    pass


def _last_q_endless(plan: Endless, model: Model, pair: int) -> float:
    return float(model.q[pair])


provide(
    Endless,
    {
        models.reset_plan: _reset_endless,
        models.update_start_plan: _update_start_endless,
        models.solve_plan: _solve_endless,
        models.update_plan: _update_endless,
        models.solve_again_plan: _solve_again_endless,
        models.skip_plan: _skip_endless,
        models.last_q_plan: _last_q_endless,
    },
)


@by_type
def update_solution(belief: Any, model: Model, x: int, u: int, y: int, number: int) -> None:
    """`update`, by the belief's family."""


def _update_flat(belief: Flat, model: Model, x: int, u: int, y: int, number: int) -> None:
    update_one(model, x, u, y)


provide(Flat, {update_solution: _update_flat})


@inlined
def update_one(model: Model, x: int, u: int, y: int) -> None:
    """Bring the solution up to date after one count was added to the row of (x, u), for y."""
    pair = x * model.counts.num_actions + u
    if len(model.inverse) == 0:
        sweep(model)
    elif model.policy[x] == u:
        observed_row(model, x, y)
        improve(model)
    else:
        model.q[pair] = q_value(model, pair)
        if model.q[pair] > model.value[x] + SWITCH * scale(model):
            improve(model)


@cold
def update_rows(model: Model, pair: int, number: int) -> None:
    """Bring the solution up to date after a transition of `pair` changed `number` pairs' rows."""
    actions, solved = model.counts.num_actions, without_belief(model)
    if len(model.inverse) > 0:
        for i in range(number):
            other = changed(model, pair, i)
            if model.policy[other // actions] == other % actions:
                switched_row(solved, other // actions)
    improve(solved)


@inlined
def improve(model: Model) -> None:
    """Policy iteration from the present policy, whose values and inverse are at hand."""
    if len(model.inverse) == 0:
        sweep(model)
        return
    fresh = False
    for _ in range(_MAX_ROUNDS):
        measure(model)
        residual, better = find_better_actions(model)
        if residual > RESIDUAL * scale(model) and not fresh:
            invert(model)
            fresh = True
        elif better:
            fresh = False
            for x in range(len(model.policy)):
                if model.pending[x] != model.policy[x]:
                    model.policy[x] = model.pending[x]
                    switched_row(model, x)
        else:
            return


@inlined
def find_better_actions(model: Model) -> tuple[float, bool]:
    """Compute all Q-values, and set `pending` to the best actions.

    Return the largest residual of the values, and whether `pending` is better than the policy.
    """
    set_q_values(model)
    actions, q = model.counts.num_actions, model.q
    margin = SWITCH * scale(model)
    residual, better = 0.0, False
    for x in range(len(model.policy)):
        first = x * actions
        present = q[at(first + model.policy[x])]
        highest = present
        for pair in range(first, first + actions):
            highest = max(highest, q[at(pair)])
        residual = max(residual, abs(present - model.value[x]))
        model.pending[x] = model.policy[x]
        if highest > present + margin:
            better = True
            model.pending[x] = 0
            while q[at(first + model.pending[x])] < highest:
                model.pending[x] += 1
    return residual, better


@inlined
def observed_row(model: Model, x: int, y: int) -> None:
    """Update after the policy's pair in x led to y: its row p became p + (e_y - p) / n.

    The row itself is not needed: discount * p N = N[x] - e_x, because (I - discount * P) N = I.
    """
    n = model.counts.total[x * model.counts.num_actions + model.policy[x]]
    for j in range(len(model.row)):
        model.row[j] = (model.discount * model.inverse[y, j] - model.inverse[x, j]) / n
    model.row[x] += 1 / n
    change_row(model, x)


@cold
def switched_row(model: Model, x: int) -> None:
    """Update after the policy switched to another action in x, or its row changed."""
    counts = model.counts
    pair = x * counts.num_actions + model.policy[x]
    row = model.row
    row[:] = 0.0
    if counts.background[pair] > 0:
        for i in range(len(row)):
            for j in range(len(row)):
                row[j] += model.inverse[i, j]
        for j in range(len(row)):
            row[j] *= counts.background[pair]
    first = counts.row_start[pair]
    for entry in range(first, first + counts.row_length[pair]):
        y, count = counts.entry_next[entry], counts.entry_count[entry]
        for j in range(len(row)):
            row[j] += count * model.inverse[y, j]
    weight = model.discount / counts.total[pair]
    for j in range(len(row)):
        row[j] = weight * row[j] - model.inverse[x, j]
    row[x] += 1.0
    if counts.has_background:
        measure(model)
    change_row(model, x)


@inlined
def change_row(model: Model, x: int) -> None:
    """Sherman-Morrison: row x of P_policy changed by d, and `row` is discount * d N."""
    row = model.row
    pair = x * model.counts.num_actions + model.policy[x]
    gain = q_value(model, pair) - model.value[x]
    factor = 1 / (1 - row[x])
    for i in range(len(row)):
        weight = model.inverse[i, x] * factor
        if weight != 0.0:
            model.value[i] += weight * gain
            for j in range(len(row)):
                model.inverse[i, j] += weight * row[j]


@cold
def invert(model: Model) -> None:
    """Make a fresh inverse and fresh values for the present policy."""
    set_matrix(model)
    invert_in_place(model.inverse)
    model.value[:] = 0.0
    for _ in range(2):  # the second pass corrects the rounding of the first
        correct_values(model)


@inlined
def set_matrix(model: Model) -> None:
    """Set `inverse` to the matrix to invert, I - discount * P_policy."""
    counts, inverse = model.counts, model.inverse
    for x in range(len(model.policy)):
        pair = x * counts.num_actions + model.policy[x]
        weight = model.discount / counts.total[pair]
        inverse[x, :] = -weight * counts.background[pair]
        first = counts.row_start[pair]
        for entry in range(first, first + counts.row_length[pair]):
            inverse[x, counts.entry_next[entry]] -= weight * counts.entry_count[entry]
        inverse[x, x] += 1.0


@inlined
def invert_in_place(inverse: Floats) -> None:
    """Gauss-Jordan; no pivots are needed, because the matrix is diagonally dominant."""
    states = len(inverse)
    for k in range(states):
        pivot = 1 / inverse[k, k]
        inverse[k, k] = 1.0
        for j in range(states):
            inverse[k, j] *= pivot
        for i in range(states):
            factor = inverse[i, k]
            if i != k and factor != 0.0:
                inverse[i, k] = 0.0
                for j in range(states):
                    inverse[i, j] -= factor * inverse[k, j]


@inlined
def correct_values(model: Model) -> None:
    """Correct the values by the inverse times their residual."""
    measure(model)
    states = len(model.policy)
    for x in range(states):
        pair = x * model.counts.num_actions + model.policy[x]
        model.row[x] = q_value(model, pair) - model.value[x]
    for x in range(states):
        correction = 0.0
        for j in range(states):
            correction += model.inverse[x, j] * model.row[j]
        model.value[x] += correction


@cold
def sweep(model: Model) -> None:
    """Solve without an inverse: one Gauss-Seidel sweep over all actions, then some over the policy.

    If a sweep over all actions changes no value by more than c, all are within c / (1 - discount)
    of the exact ones.
    """
    actions = model.counts.num_actions
    for _ in range(_MAX_ROUNDS):
        measure(model)
        change = 0.0
        for x in range(len(model.policy)):
            best, before = -np.inf, model.value[x]
            for u in range(actions):
                q = q_value(model, x * actions + u)
                if q > best:
                    best = q
                    model.policy[x] = u
            change = max(change, abs(best - before))
            model.value[x] = best
            model.norms[SUM] += best - before
        if change <= SWEEP_TOLERANCE * (1 - model.discount) * scale(model):
            break
        for _ in range(_POLICY_SWEEPS):
            for x in range(len(model.policy)):
                before = model.value[x]
                model.value[x] = q_value(model, x * actions + model.policy[x])
                model.norms[SUM] += model.value[x] - before
    measure(model)
    for pair in range(len(model.q)):
        model.q[pair] = q_value(model, pair)
