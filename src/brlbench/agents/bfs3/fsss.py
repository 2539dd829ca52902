"""Forward-search sparse sampling (FSSS) over histories, from one root.

A roll-out goes from the root to the full depth, along the best arms and the widest outcomes, and
then tightens the bounds of all nodes on its path. The next roll-out often begins with the same
steps. On the way down, each node on the path therefore gets floors: as long as its upper bound and
its gap stay above them, all choices above it stay the same. The next roll-out begins at the deepest
node that is above its floors. When the path leaves it, its bounds are passed to the nodes above.

New nodes that are left right after they were made become sketches. A roll-out that comes back to
a sketch makes its node again, from the same random numbers.
"""

from typing import Any, NamedTuple

import numpy as np

from ...kernels.arrays import at
from ...kernels.jit import cold, inlined
from ...kernels.loop.deadline import Deadline, is_over
from ...kernels.random.rng import load, store
from ...kernels.types import Floats, Integers, Words
from . import bounds
from . import tree as trees
from .belief import PathBelief, count, take_back
from .bounds import Constants, back_up, bounds_of, first_bounds, set_reward
from .outcomes import draw_all, draw_edge, draw_special
from .tree import NO_EDGE, NO_OUTCOME, NODES, SKETCHES, Trees, arm_of, copy_size, set_child

ROOT_LEVEL = 0


class Path(NamedTuple):
    """The nodes from the root to the full depth D, one per level."""

    node: Integers  # [D]
    upper_floor: Floats  # [D]; see `set_floors`
    gap_floor: Floats  # [D]
    size_before: Integers  # [NUM_SIZES]; the tree's size before the path's new nodes


@inlined
def expand(tree: Trees, belief: PathBelief, constants: Constants, x: int, rng: Words) -> int:
    """Make a node and return it; draw only what the rewards of its arms need."""
    state, n = belief.state[at(x)], tree.size[NODES]
    tree.size[NODES] = n + 1
    node = tree.node[at(n)]
    node.state = x
    best, reward, rival = state.best, state.reward, state.rival_reward
    node.has_arms, node.edge = 0, NO_EDGE
    if not state.is_plain:
        best, reward, rival = draw_arms(tree, belief, constants, n, x, rng)
        node.has_arms, node.edge = 1, arm_of(tree, n, best).edge
    node.best, node.is_stale = best, 0
    node.lower, node.upper = first_bounds(constants, reward)
    node.rival_lower, node.rival_upper = first_bounds(constants, rival)
    return n


@inlined
def draw_arms(
    tree: Trees, belief: PathBelief, constants: Constants, n: int, x: int, rng: Words
) -> tuple[int, float, float]:
    """Draw the rewards of all arms; return the first best arm, its reward and the next highest."""
    actions, branching = tree.num_actions, constants.branching
    best, highest, rival = 0, -np.inf, -np.inf
    for u in range(actions):
        arm_index, pair_index = n * actions + u, x * actions + u
        arm, pair = tree.arm[at(arm_index)], belief.pair[at(pair_index)]
        arm.edge, arm.reward = NO_EDGE, pair.common_reward
        if pair.num_special > 0:
            total = draw_special(tree, belief, branching, arm_index, pair, rng)
            arm.reward = total * constants.per_draw
        elif pair.all_at_once:
            arm.edge, total = draw_all(tree, belief, branching, arm_index, pair_index, rng)
            arm.reward = total * constants.per_draw
            set_reward(constants, tree.edge[at(arm.edge)], arm.reward)
        rival = max(rival, min(highest, arm.reward))
        best = u if arm.reward > highest else best
        highest = max(highest, arm.reward)
    return best, highest, rival


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
    node.edge, added = draw_edge(tree, belief, constants.branching, arm, pair, rng)
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
    """Extend the path from its node at a level to the full depth.

    Return the level of the first new node, or the depth if there is none.
    """
    n, first_new = path.node[at(level)], constants.depth
    for here in range(level, constants.depth - 1):
        edge = choose_step(tree, belief, constants, n, here, rng)
        outcome = tree.outcome[at(edge.widest)]
        set_floors(tree, path, constants, here, tree.node[at(n)], edge, outcome)
        count(belief, edge.pair, outcome.next_state, outcome.entry)
        if outcome.child_kind == trees.NOT_FOLLOWED:
            if first_new == constants.depth:
                first_new = here + 1
                copy_size(path.size_before, tree.size)
            trees.keep_words(new_sketch(tree, here + 1 - first_new), rng)
            set_child(
                outcome, trees.IS_NODE, expand(tree, belief, constants, outcome.next_state, rng)
            )
        elif outcome.child_kind == trees.IS_SKETCH:
            make_again(tree, belief, constants, outcome, here + 1, rng)
        n = outcome.child
        path.node[at(here + 1)] = n
    return first_new


@inlined
def new_sketch(tree: Trees, i: int) -> Any:
    """The sketch of the path's i-th new node; kept only if that node is left at once."""
    return tree.sketch[at(tree.size[SKETCHES] + i)]


@inlined
def make_again(
    tree: Trees, belief: PathBelief, constants: Constants, outcome: Any, level: int, rng: Words
) -> None:
    """Turn the sketch below an outcome into a node; what follows it stays a sketch."""
    i, words = outcome.child, load(rng)
    trees.use_words(tree.sketch[at(i)], rng)
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
    tree: Trees, belief: PathBelief, path: Path, constants: Constants, first_new: int, to_root: bool
) -> int:
    """Back up the bounds from the full depth; return the level where the next roll-out begins."""
    level = constants.depth - 1
    node = tree.node[at(path.node[at(level)])]
    while level > ROOT_LEVEL and (to_root or not is_above_floors(path, level, node)):
        if level >= first_new:
            sketch = new_sketch(tree, level - first_new)
            sketch.lower, sketch.upper = node.lower, node.upper
        level -= 1
        above = tree.node[at(path.node[at(level)])]
        edge = tree.edge[at(above.edge)]
        outcome = tree.outcome[at(edge.widest)]
        take_back(belief, edge.pair, outcome.entry)
        back_up(constants, above, edge, outcome, node.lower, node.upper)
        if level == first_new - 1:
            copy_size(tree.size, path.size_before)
            set_child(outcome, trees.IS_SKETCH, tree.size[SKETCHES])
            tree.size[SKETCHES] += constants.depth - first_new
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
        first_new = descend(tree, belief, path, constants, level, rng)
        made += 1
        # If nothing was new, all other roll-outs would go the same way.
        is_final = first_new == constants.depth
        is_last = is_final or made == rollouts or is_over(deadline, made)
        level = ascend(tree, belief, path, constants, first_new, is_last)
        # All paths have the full depth: if only the leaves' gap is left, nothing can change.
        is_final = is_final or (level == ROOT_LEVEL and node.upper - node.lower <= complete)
        if is_last or is_final:
            break
    return is_final, made
