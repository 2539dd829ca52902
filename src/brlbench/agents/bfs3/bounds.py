"""Bounds of values in BFS3's trees, and the choices that they guide.

A node's upper bound is that of its best arm. An arm's bounds come from its outcomes, each weighted
by how often it was drawn. A roll-out takes the best arm, and follows the outcome that is widest:
with the largest gap between its bounds, times its draws.
"""

from typing import Any, NamedTuple

import numpy as np

from ...kernels.arrays import at
from ...kernels.jit import inlined
from ...kernels.types import Floats
from .belief import PathBelief
from .outcomes import Added
from .tree import IS_SKETCH, NO_EDGE, NO_OUTCOME, NOT_FOLLOWED, Trees, arm_of


class Constants(NamedTuple):
    """Constants of all searches; D is the depth and C the branching."""

    depth: int
    branching: int
    discount: float
    value_min: float  # bounds of any value
    value_max: float
    per_draw: float  # 1 / C
    share: float  # of one draw's value in its arm's: discount / C
    stretch: Floats  # [C + 1]; one over an outcome's share, by its number of draws
    scale: float  # the largest absolute value, to which ties are relative
    rounding: float  # more than rounding can change a bound
    complete: Floats  # [D + 1]; per level, the gap when only the leaves' gaps are left
    skipped: Floats  # [D + 1]; outcomes up to this gap are passed over; -inf: none are


@inlined
def first_bounds(constants: Constants, reward: float) -> tuple[float, float]:
    """The bounds of an arm if only its mean reward is known."""
    lower = reward + constants.discount * constants.value_min
    return lower, reward + constants.discount * constants.value_max


@inlined
def set_reward(constants: Constants, edge: Any, reward: float) -> None:
    """Set the mean reward of a new edge, and the bounds that follow from it."""
    edge.reward = reward
    edge.lower, edge.upper = first_bounds(constants, reward)


@inlined
def make_arms(tree: Trees, belief: PathBelief, n: int) -> None:
    """Bring a node's arms up to date; make them from the common rewards if it has none."""
    node, actions = tree.node[at(n)], tree.num_actions
    if not node.has_arms:
        node.has_arms = 1
        for u in range(actions):
            arm, pair = arm_of(tree, n, u), belief.pair[at(node.state * actions + u)]
            arm.edge, arm.reward = NO_EDGE, pair.common_reward
    arm_of(tree, n, node.best).edge = node.edge


@inlined
def choose_arm(tree: Trees, belief: PathBelief, constants: Constants, n: int) -> None:
    """Bring a node's arms up to date, and choose the best one."""
    make_arms(tree, belief, n)
    compare_arms(tree, constants, n)


@inlined
def compare_arms(tree: Trees, constants: Constants, n: int) -> None:
    """Choose the first arm with the highest upper bound, up to rounding; keep its rivals' bounds.

    The node's own bounds stay as they are.
    """
    best, lower, upper, rival_lower, rival_upper = 0, -np.inf, -np.inf, -np.inf, -np.inf
    for u in range(tree.num_actions):
        arm = arm_of(tree, n, u)
        low, high = first_bounds(constants, arm.reward)
        if arm.edge != NO_EDGE:
            edge = tree.edge[at(arm.edge)]
            low, high = edge.lower, edge.upper
        rival_upper = max(rival_upper, min(upper, high))
        if high > upper + constants.rounding:
            best, lower, low = u, low, lower
        rival_lower = max(rival_lower, low)
        upper = max(upper, high)
    node = tree.node[at(n)]
    node.rival_lower, node.rival_upper = rival_lower, rival_upper
    node.best, node.edge, node.is_stale = best, arm_of(tree, n, best).edge, 0


@inlined
def bounds_of(tree: Trees, constants: Constants, outcome: Any) -> tuple[float, float]:
    """The bounds of the value below an outcome."""
    if outcome.child_kind == NOT_FOLLOWED:
        return constants.value_min, constants.value_max
    if outcome.child_kind == IS_SKETCH:
        sketch = tree.sketch[at(outcome.child)]
        return sketch.lower, sketch.upper
    child = tree.node[at(outcome.child)]
    return child.lower, child.upper


@inlined
def choose_outcome(tree: Trees, constants: Constants, edge: Any, level: int) -> None:
    """Choose the outcome to follow, and keep what is needed while it stays the widest.

    It is the widest of those not passed over. Among equals, up to rounding, it is the lowest next
    state.
    """
    lower, upper, skipped = 0.0, 0.0, constants.skipped[at(level + 1)]
    best, best_state = edge.first, 0
    widest, rival, tie = -np.inf, -np.inf, constants.rounding * constants.branching
    for i in range(edge.first, edge.end):
        outcome = tree.outcome[at(i)]
        low, high = bounds_of(tree, constants, outcome)
        lower += outcome.times * low
        upper += outcome.times * high
        width = outcome.times * (high - low)
        if high - low > skipped:
            rival = max(rival, min(widest, width))
            lead = width - widest
            if lead > tie or (lead >= -tie and outcome.next_state < best_state):
                best, best_state, widest = i, outcome.next_state, width
    outcome = tree.outcome[at(best)]
    low, high = bounds_of(tree, constants, outcome)
    edge.rest_lower = edge.reward + constants.share * (lower - outcome.times * low)
    edge.rest_upper = edge.reward + constants.share * (upper - outcome.times * high)
    edge.rival_gap = max(skipped, (rival + tie) / outcome.times)
    edge.widest = best


@inlined
def choose_first(constants: Constants, edge: Any, added: Added, level: int) -> None:
    """`choose_outcome` for a new edge, where the outcome drawn most often is the widest."""
    weight, gap = constants.share * added.times, constants.value_max - constants.value_min
    edge.rest_lower = edge.lower - weight * constants.value_min
    edge.rest_upper = edge.upper - weight * constants.value_max
    rival_share = constants.share * added.rival_times
    rival_gap = rival_share * constants.stretch[at(added.times)] * gap + constants.rounding
    edge.rival_gap = max(constants.skipped[at(level + 1)], rival_gap)
    edge.widest = added.widest


@inlined
def back_up(
    constants: Constants, node: Any, edge: Any, outcome: Any, lower: float, upper: float
) -> None:
    """Pass the bounds below an outcome on to the edge of a node's best arm, and to the node."""
    edge.lower = edge.rest_lower + constants.share * outcome.times * lower
    edge.upper = edge.rest_upper + constants.share * outcome.times * upper
    if upper - lower <= edge.rival_gap:
        edge.widest = NO_OUTCOME
    node.lower = max(edge.lower, node.rival_lower)
    node.upper = max(edge.upper, node.rival_upper)
    if edge.upper <= node.rival_upper + constants.rounding:
        node.is_stale = 1
