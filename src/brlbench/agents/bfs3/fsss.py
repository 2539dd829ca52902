"""Forward-search sparse sampling (FSSS) over histories, from one root.

A roll-out goes from the root to the full depth, along the best arms and the widest outcomes, and
then tightens the bounds of all nodes on its path. The next roll-out often begins with the same
steps. On the way down, each node on the path therefore gets floors: as long as its upper bound and
its gap stay above them, all choices above it stay the same. The next roll-out begins at the deepest
node that is above its floors. When the path leaves it, its bounds are passed to the nodes above.

Few nodes are visited twice. So a roll-out makes none: from the first new history on, it only keeps
a sketch per level. A roll-out that comes back to a sketch makes the node, from the same random
numbers.
"""

from typing import Any, NamedTuple

import numpy as np

from ...kernels.arrays import at
from ...kernels.jit import cold, inlined
from ...kernels.loop.deadline import Deadline, is_over
from ...kernels.random.rng import State, load, store
from ...kernels.types import Floats, Integers, Records, Words
from . import bounds
from . import tree as trees
from .belief import PathBelief, count, take_back
from .bounds import Constants, back_up, bounds_of, first_bounds, set_reward
from .outcomes import draw_all, draw_edge, draw_next, draw_special
from .tree import NO_EDGE, NO_OUTCOME, NODES, SKETCHES, Trees, arm_of, copy_size, set_child

ROOT_LEVEL = 0


STEP = np.dtype(
    [
        ("reward", "f8"),
        ("weight", "f8"),  # of the next node's value
        ("rest_lower", "f8"),  # as in EDGE and NODE
        ("rest_upper", "f8"),
        ("rival_lower", "f8"),
        ("rival_upper", "f8"),
        ("pair", "i4"),
        ("entry", "i4"),
    ]
)


class Path(NamedTuple):
    """The nodes from the root to the full depth D, one per level."""

    node: Integers  # [D]
    upper_floor: Floats  # [D]; see `set_floors`
    gap_floor: Floats  # [D]
    step: Records  # [D] of STEP; the steps below the first sketch
    size_before: Integers  # [NUM_SIZES]; the tree's size before them


@inlined
def expand(tree: Trees, belief: PathBelief, constants: Constants, x: int, rng: Words) -> int:
    """Make a node and return it; draw only what the rewards of its arms need."""
    n = tree.size[NODES]
    tree.size[NODES] = n + 1
    node = tree.node[at(n)]
    node.state = x
    best, reward, rival, state = draw_rewards(tree, belief, constants, n, x, load(rng))
    store(rng, state)
    node.has_arms, node.edge = 0, NO_EDGE
    if not belief.state[at(x)].is_plain:
        node.has_arms, node.edge = 1, arm_of(tree, n, best).edge
    node.best, node.is_stale = best, 0
    node.lower, node.upper = first_bounds(constants, reward)
    node.rival_lower, node.rival_upper = first_bounds(constants, rival)
    return n


@inlined
def draw_rewards(
    tree: Trees, belief: PathBelief, constants: Constants, n: int, x: int, state: State
) -> tuple[int, float, float, State]:
    """Return the first best arm of a node, its reward and the next highest; draw all if needed."""
    here = belief.state[at(x)]
    if here.is_plain:
        return here.best, here.reward, here.rival_reward, state
    actions, branching = tree.num_actions, constants.branching
    best, highest, rival = 0, -np.inf, -np.inf
    for u in range(actions):
        arm_index, pair_index = n * actions + u, x * actions + u
        arm, pair = tree.arm[at(arm_index)], belief.pair[at(pair_index)]
        arm.edge, arm.reward = NO_EDGE, pair.common_reward
        if pair.num_special > 0:
            total, state = draw_special(tree, belief, branching, arm_index, pair, state)
            arm.reward = total * constants.per_draw
        elif pair.all_at_once:
            e, total, state = draw_all(tree, belief, branching, arm_index, pair_index, state)
            arm.edge = e
            arm.reward = total * constants.per_draw
            set_reward(constants, tree.edge[at(arm.edge)], arm.reward)
        rival = max(rival, min(highest, arm.reward))
        best = u if arm.reward > highest else best
        highest = max(highest, arm.reward)
    return best, highest, rival, state


@inlined
def take(
    tree: Trees, belief: PathBelief, constants: Constants, n: int, level: int, rng: Words
) -> None:
    """Take the best arm of a node for the first time."""
    node = tree.node[at(n)]
    pair = node.state * tree.num_actions + node.best
    arm = n * tree.num_actions + node.best
    reward = belief.pair[at(pair)].common_reward
    if node.has_arms:
        reward = tree.arm[at(arm)].reward
    e, added, state = draw_edge(tree, belief, constants.branching, arm, pair, load(rng))
    store(rng, state)
    node.edge = e
    edge = tree.edge[at(node.edge)]
    set_reward(constants, edge, reward)
    bounds.choose_first(constants, edge, added, level)


@inlined
def choose_step(
    tree: Trees, belief: PathBelief, constants: Constants, n: int, level: int, rng: Words
) -> Any:
    """Return the edge to follow from a node, with its widest outcome chosen."""
    node = tree.node[at(n)]
    if node.is_stale:
        bounds.choose_arm(tree, belief, constants, n)
    if node.edge == NO_EDGE:
        take(tree, belief, constants, n, level, rng)
    edge = tree.edge[at(node.edge)]
    if edge.widest == NO_OUTCOME:
        bounds.choose_outcome(tree, constants, edge, level)
    return edge


@inlined
def descend(
    tree: Trees, belief: PathBelief, path: Path, constants: Constants, level: int, rng: Words
) -> int:
    """Extend the path from its node at a level, to the full depth or to a new sketch.

    Return the level of its last node.
    """
    n = path.node[at(level)]
    for here in range(level, constants.depth - 1):
        edge = choose_step(tree, belief, constants, n, here, rng)
        node, outcome = tree.node[at(n)], tree.outcome[at(edge.widest)]
        if outcome.child_kind == trees.NOT_FOLLOWED:
            count(belief, edge.pair, outcome.next_state, outcome.entry)
            set_child(outcome, trees.IS_SKETCH, tree.size[SKETCHES])
            lower, upper = sketch(tree, belief, path, constants, outcome.next_state, here + 1, rng)
            take_back(belief, edge.pair, outcome.entry)
            back_up(constants, node, edge, outcome, lower, upper)
            return here
        set_floors(tree, path, constants, here, node, edge, outcome)
        count(belief, edge.pair, outcome.next_state, outcome.entry)
        if outcome.child_kind == trees.IS_SKETCH:
            make_node(tree, belief, constants, outcome, here + 1, rng)
        n = outcome.child
        path.node[at(here + 1)] = n
    return constants.depth - 1


@inlined
def sketch(
    tree: Trees,
    belief: PathBelief,
    path: Path,
    constants: Constants,
    x: int,
    level: int,
    rng: Words,
) -> tuple[float, float]:
    """Roll out from a new history in state x at a level; keep a sketch per level.

    Return the bounds of the first.
    """
    first, last = tree.size[SKETCHES] - level, constants.depth - 1
    copy_size(path.size_before, tree.size)
    lower, upper, n, state = 0.0, 0.0, tree.size[NODES], load(rng)
    for here in range(level, last + 1):
        trees.keep_words(tree.sketch[at(first + here)], state)
        best, reward, rival, state = draw_rewards(tree, belief, constants, n, x, state)
        lower, upper = first_bounds(constants, reward)
        if here < last:
            step = path.step[at(here)]
            step.pair, step.reward = x * tree.num_actions + best, reward
            step.rival_lower, step.rival_upper = first_bounds(constants, rival)
            is_plain = belief.state[at(x)].is_plain
            x, state = first_step(tree, belief, constants, step, is_plain, best, here, state)
            count(belief, step.pair, x, step.entry)
    store(rng, state)
    copy_size(tree.size, path.size_before)
    tree.size[SKETCHES] += last + 1 - level
    for here in range(last, level - 1, -1):
        if here < last:
            step = path.step[at(here)]
            take_back(belief, step.pair, step.entry)
            lower = max(step.rest_lower + step.weight * lower, step.rival_lower)
            upper = max(step.rest_upper + step.weight * upper, step.rival_upper)
        record = tree.sketch[at(first + here)]
        record.lower, record.upper = lower, upper
    return lower, upper


@inlined
def first_step(
    tree: Trees,
    belief: PathBelief,
    constants: Constants,
    step: Any,
    is_plain: bool,
    best: int,
    level: int,
    state: State,
) -> tuple[int, State]:
    """Follow the best arm of a sketch, whose rewards are drawn; return the next state.

    The arm has an edge only if all its next states were drawn at once.
    """
    arm = tree.size[NODES] * tree.num_actions + best
    if not is_plain and tree.arm[at(arm)].edge != NO_EDGE:
        edge = tree.edge[at(tree.arm[at(arm)].edge)]
        bounds.choose_outcome(tree, constants, edge, level)
        outcome = tree.outcome[at(edge.widest)]
        step.rest_lower, step.rest_upper = edge.rest_lower, edge.rest_upper
        step.weight, step.entry = constants.share * outcome.times, outcome.entry
        return int(outcome.next_state), state
    added, state = draw_next(tree, belief, constants.branching, arm, step.pair, False, state)
    lower, upper = first_bounds(constants, step.reward)
    step.weight, step.entry = constants.share * added.times, added.entry
    step.rest_lower = lower - step.weight * constants.value_min
    step.rest_upper = upper - step.weight * constants.value_max
    return added.next_state, state


@inlined
def make_node(
    tree: Trees, belief: PathBelief, constants: Constants, outcome: Any, level: int, rng: Words
) -> None:
    """Turn the sketch below an outcome into a node; what follows it stays a sketch."""
    i, words = outcome.child, load(rng)
    store(rng, trees.kept_words(tree.sketch[at(i)]))
    n = expand(tree, belief, constants, outcome.next_state, rng)
    set_child(outcome, trees.IS_NODE, n)
    if level < constants.depth - 1:
        edge = choose_step(tree, belief, constants, n, level, rng)
        followed, below = tree.outcome[at(edge.widest)], tree.sketch[at(i + 1)]
        set_child(followed, trees.IS_SKETCH, i + 1)
        back_up(constants, tree.node[at(n)], edge, followed, below.lower, below.upper)
    store(rng, words)


@inlined
def set_floors(
    tree: Trees, path: Path, constants: Constants, level: int, node: Any, edge: Any, outcome: Any
) -> None:
    """Set the floors of the node below an outcome of the path's node at a level.

    The path to the lower node stays the same while no other arm here is better, no other outcome of
    the arm is wider, and this node is above its own floors. So the arm's upper bound must stay
    above `least`, and its gap above this node's floor. When an outcome's bounds change, those of
    its arm change less, by its share. All comparisons leave a margin for rounding.
    """
    rounding, upper_floor, gap_floor = constants.rounding, path.upper_floor, path.gap_floor
    lower, upper = bounds_of(tree, constants, outcome)
    least = max(node.rival_upper + rounding, upper_floor[at(level)])
    least = max(least, node.rival_lower + gap_floor[at(level)])
    stretch = constants.stretch[at(outcome.times)]
    fall = stretch * (edge.upper - least - rounding)
    loss = stretch * (edge.upper - edge.lower - gap_floor[at(level)] - rounding)
    gap = max(upper - lower - loss, edge.rival_gap)
    upper_floor[at(level + 1)] = upper - fall + rounding
    gap_floor[at(level + 1)] = gap + rounding


@inlined
def is_above_floors(path: Path, level: int, node: Any) -> bool:
    """Whether all choices above the path's node at a level stay the same."""
    gap = node.upper - node.lower
    return bool(node.upper > path.upper_floor[at(level)] and gap > path.gap_floor[at(level)])


@inlined
def ascend(
    tree: Trees, belief: PathBelief, path: Path, constants: Constants, level: int, to_root: bool
) -> int:
    """Back up the bounds from the path's last node; return where the next roll-out begins."""
    node = tree.node[at(path.node[at(level)])]
    while level > ROOT_LEVEL and (to_root or not is_above_floors(path, level, node)):
        level -= 1
        above = tree.node[at(path.node[at(level)])]
        edge = tree.edge[at(above.edge)]
        outcome = tree.outcome[at(edge.widest)]
        take_back(belief, edge.pair, outcome.entry)
        back_up(constants, above, edge, outcome, node.lower, node.upper)
        node = above
    return level


@cold
def tighten(
    tree: Trees,
    belief: PathBelief,
    path: Path,
    constants: Constants,
    deadline: Deadline,
    root: int,
    rollouts: int,
    rng: Words,
) -> tuple[bool, int]:
    """Make roll-outs from a root; return whether it is final, and how many were made.

    A final root is one whose bounds further roll-outs would not change.
    """
    complete = constants.complete[ROOT_LEVEL]
    path.node[ROOT_LEVEL] = root
    path.upper_floor[ROOT_LEVEL], path.gap_floor[ROOT_LEVEL] = -np.inf, complete
    node, level, is_final, made = tree.node[at(root)], ROOT_LEVEL, False, 0
    while made < rollouts:
        level = descend(tree, belief, path, constants, level, rng)
        made += 1
        # If nothing was new, all other roll-outs would go the same way.
        is_final = level == constants.depth - 1
        is_last = is_final or made == rollouts or is_over(deadline, made)
        level = ascend(tree, belief, path, constants, level, is_last)
        # All paths have the full depth: if only the leaves' gap is left, nothing can change.
        is_final = is_final or (level == ROOT_LEVEL and node.upper - node.lower <= complete)
        if is_last or is_final:
            break
    return is_final, made
