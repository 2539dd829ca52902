"""BFS3's search under priors that are not flat, and in episodes: roll-outs as in the pseudo-code.

A new node has the next outcomes of all its arms, drawn at once. Each roll-out begins at the root,
and what it has learned is forgotten at its end.
"""

from typing import Any

from ...kernels.arrays import at
from ...kernels.counts import Counts
from ...kernels.jit import cold, inlined
from ...kernels.loop.deadline import Deadline, is_over
from ...kernels.random.multinomial import NOTHING_SHARED, new_draws, share_next
from ...kernels.random.rng import load, store
from ...kernels.types import Words
from .any_belief import ROOT, AnyBelief, learn_outcome, restore
from .bounds import Constants, back_up, choose_outcome, compare_arms, set_reward
from .fsss import ROOT_LEVEL, Path
from .spans import add_outcomes, constants_at
from .tree import (
    EDGES,
    IS_NODE,
    NO_OUTCOME,
    NODES,
    NOT_FOLLOWED,
    OUTCOMES,
    Trees,
    arm_of,
    set_child,
)


def expand_root(belief: AnyBelief, tree: Trees, constants: Constants, x: int, rng: Words) -> int:
    """Make the root of a search, and return it."""
    return expand(belief, tree, constants, x, ROOT_LEVEL, rng)


def expand_all(belief: AnyBelief, tree: Trees, constants: Constants, x: int, rng: Words) -> None:
    """Make the node of the action to choose."""
    expand(belief, tree, constants, x, ROOT_LEVEL - 1, rng)


@cold
def expand(
    belief: AnyBelief, tree: Trees, constants: Constants, x: int, level: int, rng: Words
) -> int:
    """Make a node with the outcomes of all its arms, and return it."""
    n = tree.size[NODES]
    tree.size[NODES] = n + 1
    node = tree.node[at(n)]
    for u in range(tree.num_actions):
        arm = arm_of(tree, n, u)
        arm.edge = draw_edge(belief, tree, constants, x * tree.num_actions + u, level, rng)
        arm.reward = tree.edge[at(arm.edge)].reward
    node.state, node.has_arms = x, 1
    compare_arms(tree, constants, n)
    best = tree.edge[at(node.edge)]
    node.lower, node.upper = max(best.lower, node.rival_lower), max(best.upper, node.rival_upper)
    return n


@inlined
def draw_edge(
    belief: AnyBelief, tree: Trees, constants: Constants, pair: int, level: int, rng: Words
) -> int:
    """Draw an arm's C outcomes; return its edge, with bounds."""
    e, counts, total = tree.size[EDGES], belief.known.counts, 0.0
    edge = tree.edge[at(e)]
    edge.first, edge.widest, edge.pair = tree.size[OUTCOMES], NO_OUTCOME, pair
    first, last = counts.row_start[pair], last_possible(counts, pair)
    draws, state = new_draws(load(rng), constants.branching, counts.total[pair])
    shared = NOTHING_SHARED
    for entry in range(first, last + 1):
        before = shared.number
        times = constants.branching - before
        if entry < last:  # the last entry takes the rest, so that rounding loses no draw
            shared, state = share_next(state, draws, shared, counts.entry_count[entry])
            times = shared.number - before
        if times > 0:
            y = counts.entry_next[entry]
            state = add_outcomes(belief.spans, tree, level, y, entry, times, state)
            total += times * belief.known.entry_reward[entry]
    store(rng, state)
    edge.end = tree.size[OUTCOMES]
    tree.size[EDGES] = e + 1
    here = constants_at(belief.spans, constants, level)
    set_reward(here, edge, total * constants.per_draw)
    return e


@inlined
def last_possible(counts: Counts, pair: int) -> int:
    """The last entry of a pair that is possible."""
    entry = counts.row_start[pair] + counts.row_length[pair] - 1
    while counts.entry_count[entry] <= 0:
        entry -= 1
    return int(entry)


@inlined
def choose_step(belief: AnyBelief, tree: Trees, constants: Constants, n: int, level: int) -> Any:
    """Return the edge to follow from a node, with its widest outcome chosen."""
    node = tree.node[at(n)]
    if node.is_stale:
        compare_arms(tree, constants, n)
    edge = tree.edge[at(node.edge)]
    if edge.widest == NO_OUTCOME:
        choose_outcome(tree, constants_at(belief.spans, constants, level), edge, level)
    return edge


@inlined
def roll_out(belief: AnyBelief, tree: Trees, path: Path, constants: Constants, rng: Words) -> bool:
    """Follow the best arms and the widest outcomes to the full depth, and back up the bounds.

    Return whether a node is new: if none is, all other roll-outs would go the same way.
    """
    last, is_new = constants.depth - 1, False
    for level in range(last):
        edge = choose_step(belief, tree, constants, path.node[at(level)], level)
        outcome = tree.outcome[at(edge.widest)]
        learn_outcome(belief, edge.pair, outcome.entry)
        if outcome.child_kind == NOT_FOLLOWED:
            n = expand(belief, tree, constants, outcome.next_state, level + 1, rng)
            set_child(outcome, IS_NODE, n)
            is_new = True
        path.node[at(level + 1)] = outcome.child
    for level in range(last - 1, -1, -1):
        node, child = tree.node[at(path.node[at(level)])], tree.node[at(path.node[at(level + 1)])]
        edge = tree.edge[at(node.edge)]
        outcome = tree.outcome[at(edge.widest)]
        back_up(constants, node, edge, outcome, child.lower, child.upper)
    return is_new


@cold
def tighten(
    belief: AnyBelief,
    tree: Trees,
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
    path.node[ROOT_LEVEL] = root
    node, is_final, made = tree.node[at(root)], False, 0
    while made < rollouts and not is_final:
        is_new = roll_out(belief, tree, path, constants, rng)
        restore(belief, ROOT)
        made += 1
        # All paths have the full depth: if only the leaves' gap is left, nothing can change.
        is_final = not is_new or node.upper - node.lower <= constants.complete[ROOT_LEVEL]
        if is_over(deadline, made):
            break
    return is_final, made
