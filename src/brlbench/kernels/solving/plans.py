"""How far ahead a solution plans: without end, to the end of the episode, or to the horizon.

A solution has a plan among its fields, and its functions are chosen by the plan's type. In
episodes, the solution shown is that of the present decision: its Q-values, values and policy are
those with as many decisions left as the episode still has.
"""

from typing import NamedTuple

from ..arrays import copy_vector
from ..jit import inlined
from ..types import Floats, Integers


class Endless(NamedTuple):
    """Values are discounted sums without end."""


class Episode(NamedTuple):
    """Values are sums to the end of an episode of L decisions, by backward induction."""

    length: int  # L
    every_step: bool  # whether each decision has a plan of its own, or all of an episode share one
    step: Integers  # [1]; decisions made in the present episode
    q: Floats  # [L + 1, P]; the plan, by decisions left


class Horizon(NamedTuple):
    """Values are sums to the horizon T, over all episodes of L decisions with K start states."""

    length: int  # L
    horizon: int  # T, a multiple of L
    step: Integers  # [1]; decisions made
    state: Integers  # [K]; the start states
    probability: Floats  # [K]
    power: Floats  # [L + 1]; powers of the discount
    weight: Floats  # [T / L + 1]; sums of the discounts at which so many episodes begin
    q: Floats  # [P]; work space


@inlined
def rest(plan: Horizon) -> int:
    """The decisions left, with the present one; none after the horizon."""
    return max(0, plan.horizon - int(plan.step[0]))


@inlined
def is_border(plan: Horizon) -> bool:
    """Whether another episode follows the present decision."""
    made = int(plan.step[0]) + 1
    return made % plan.length == 0 and made < plan.horizon


@inlined
def begin(plan: Episode) -> None:
    """The first episode begins."""
    plan.step[0] = 0


@inlined
def advance(plan: Episode) -> None:
    """A decision was made; after the last one of an episode, the next one begins."""
    plan.step[0] = (plan.step[0] + 1) % plan.length


@inlined
def left(plan: Episode) -> int:
    """The decisions left in the episode, with the present one."""
    return plan.length - int(plan.step[0])


@inlined
def is_due(plan: Episode) -> bool:
    """Whether the present decision has a plan of its own."""
    return plan.every_step or plan.step[0] == 0


@inlined
def store(plan: Episode, n: int, q: Floats, value: Floats, policy: Integers) -> None:
    """Store the Q-values with n decisions left, and set values and the policy to their best."""
    copy_vector(plan.q[n], q)
    take_best(q, value, policy)


@inlined
def load(plan: Episode, q: Floats, value: Floats, policy: Integers) -> None:
    """Set the Q-values, values and policy to those of the present decision."""
    copy_vector(q, plan.q[left(plan)])
    take_best(q, value, policy)


@inlined
def take_best(q: Floats, value: Floats, policy: Integers) -> None:
    """Set values [S] and the policy [S] to the first best Q-values [P]."""
    actions = len(q) // len(value)
    for x in range(len(value)):
        best = x * actions
        for pair in range(best, best + actions):
            if q[pair] > q[best]:
                best = pair
        value[x], policy[x] = q[best], best - x * actions
