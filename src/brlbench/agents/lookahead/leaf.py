"""The optimal value of the mean MDP after one more transition, mostly without solving it again.

Notation: V and Q are the solution before the transition, N = (I - discount * P_policy)^-1. The pair
(x, u) leads to y once more, and its value becomes q. If that is not above V(x), and the policy
takes another action, V stays. Otherwise the policy takes u.

Call reach(p) the discounted mean of N[y, x] over the next states y of a pair p, and reach' that of
(x, u) after the transition. By Sherman-Morrison, V becomes V + c N[:, x], where
c = (q - V(x)) / (N[x, x] - reach'), and the value of any other pair p becomes Q(p) + c reach(p).

The policy stays optimal in other states if c is within limits that depend on x alone. The pairs of
x are looked at one by one. If the policy is not optimal any more, the model is solved again.
"""

from typing import Any, NamedTuple

import numpy as np

from ...kernels.arrays import at
from ...kernels.dispatch import by_type, provide
from ...kernels.families import Flat
from ...kernels.jit import cold, inlined
from ...kernels.solving import model as models
from ...kernels.solving.model import Model
from ...kernels.solving.tolerances import SWITCH
from ...kernels.solving.undo import (
    Saved,
    count,
    learn,
    restore,
    restore_all,
    save,
    save_all,
    uncount,
    update_apart,
)
from ...kernels.types import Floats
from .borders import step_back

LOW, HIGH = 0, 1  # slots of `limits`


class Step(NamedTuple):
    """A hypothetical step: the transition (x, u, y) with reward r, after which z is the state."""

    x: int
    u: int
    y: int
    r: float
    z: int  # y, unless another episode begins


class Leaf(NamedTuple):
    """Work space for transitions from the present state."""

    reach: Floats  # [P]
    limits: Floats  # [2]; the LOW and the HIGH limit of c


@cold
def set_limits(leaf: Leaf, model: Model, x: int) -> None:
    """Prepare for transitions from x; a model without an inverse has to be solved each time."""
    actions, inverse = model.counts.num_actions, model.inverse
    low, high = -np.inf, np.inf
    if len(inverse) > 0:
        margin = SWITCH * models.scale(model)
        set_reach(leaf, model, x)
        for pair in range(len(leaf.reach)):
            z = pair // actions
            if z == x or model.policy[z] == pair % actions:
                continue
            slack = model.value[z] - model.q[pair] + margin
            slope = leaf.reach[pair] - inverse[z, x]
            if slope > 0:
                high = min(high, slack / slope)
            elif slope < 0:
                low = max(low, slack / slope)
    leaf.limits[LOW], leaf.limits[HIGH] = low, high


@inlined
def set_reach(leaf: Leaf, model: Model, x: int) -> None:
    """Compute how much each pair leads to x."""
    counts, inverse = model.counts, model.inverse
    all_states = 0.0
    for y in range(len(inverse)):
        all_states += inverse[y, x]
    for pair in range(len(leaf.reach)):
        first = counts.row_start[at(pair)]
        total = counts.background[at(pair)] * all_states
        for entry in range(first, first + counts.row_length[at(pair)]):
            y = counts.entry_next[at(entry)]
            total += counts.entry_count[at(entry)] * inverse[at(y), at(x)]
        leaf.reach[at(pair)] = model.discount * total / counts.total[at(pair)]


@by_type
def value_after(  # type: ignore[empty-body]
    belief: Any, leaf: Leaf, model: Model, saved: Saved, i: int, step: Step
) -> float:
    """The optimal value of the state that follows a step, once that is counted.

    Slot i of `saved` is free for use.
    """


def _value_after(belief: Any, leaf: Leaf, model: Model, saved: Saved, i: int, step: Step) -> float:
    save_all(model, saved, i)
    learn(model, step.x, step.u, step.y, step.r)
    value: float = model.value[step.z]
    restore_all(model, saved, i)
    step_back(model.plan)
    return value


def _value_after_flat(
    belief: Flat, leaf: Leaf, model: Model, saved: Saved, i: int, step: Step
) -> float:
    x, u, y, r = step.x, step.u, step.y, step.r
    if len(model.inverse) == 0:
        return solved_value(model, saved, i, step)
    pair, inverse = x * model.counts.num_actions + u, model.inverse
    total = model.counts.total[pair]
    q = (model.q[pair] * total + r + model.discount * model.value[y]) / (total + 1)
    gain = q - model.value[x]
    value: float = model.value[y]
    if model.policy[x] != u and gain <= SWITCH * models.scale(model):
        return value
    reach = (leaf.reach[pair] * total + model.discount * inverse[y, x]) / (total + 1)
    change = gain / (inverse[x, x] - reach)
    if is_still_best(leaf, model, x, u, change):
        value += change * inverse[y, x]
        return value
    return solved_value(model, saved, i, step)


provide(tuple, {value_after: _value_after})
provide(Flat, {value_after: _value_after_flat})


@inlined
def is_still_best(leaf: Leaf, model: Model, x: int, u: int, change: float) -> bool:
    """Whether the policy, which takes u in x, is optimal after a change c."""
    if not leaf.limits[LOW] <= change <= leaf.limits[HIGH]:
        return False
    first = x * model.counts.num_actions
    limit = model.value[x] + change * model.inverse[x, x] + SWITCH * models.scale(model)
    best = True
    for v in range(model.counts.num_actions):
        if v != u:
            best &= model.q[first + v] + change * leaf.reach[first + v] <= limit
    return best


@cold
def solved_value(model: Model, saved: Saved, i: int, step: Step) -> float:
    """The value after a step, by solving again and taking the transition back."""
    save(model, saved, i)
    count(model.counts, saved, i, step.x * model.counts.num_actions + step.u, step.y)
    update_apart(model, step.x, step.u, step.y, 1)
    value: float = model.value[step.z]
    uncount(model.counts, saved, i)
    restore(model, saved, i)
    step_back(model.plan)
    return value
