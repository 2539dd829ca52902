"""Forward-search sparse sampling (FSSS) over histories, from one root.

A roll-out follows the highest upper bounds and the widest gaps from the root to the full depth, and
tightens the bounds of all nodes on its way. The next one often begins with the same steps. On the
way down, each node on the path is therefore told its floors: as long as its upper bound and its gap
stay above them, everything above it would be chosen once more. The next roll-out begins at the
deepest node for which that is so. The nodes above learn of the changes when it is left.

New nodes that are left as soon as they were made are kept as sketches, and made again when a
roll-out comes back to them, from the same random numbers.
"""

from typing import Any

import numpy as np

from ...kernels.arrays import at
from ...kernels.jit import cold, inlined
from ...kernels.loop.deadline import is_over
from ...kernels.random.rng import load, store
from ...kernels.types import Words
from .belief import ALL_SPECIAL, count, take_back
from .outcomes import Added, draw_all, draw_edge, draw_special, first_bounds
from .tree import NO_EDGE, NO_NODE, NOT_CHOSEN, Bfs3


@inlined
def expand(agent: Bfs3, x: int) -> int:
    """A new node, with no more drawn than its arms' rewards."""
    state, n = agent.belief.state[at(x)], agent.tree.size[0]
    agent.tree.size[0] = n + 1
    node = agent.tree.node[at(n)]
    node.state = x
    best, reward, rival = state.best, state.reward, state.rival_reward
    node.has_arms, node.edge = 0, NO_EDGE
    if not state.is_plain:
        best, reward, rival = draw_arms(agent, n, x)
        node.has_arms, node.edge = 1, arm_of(agent, n, best).edge
    node.best = best
    node.lower, node.upper = first_bounds(agent, reward)
    node.rival_lower, node.rival_upper = first_bounds(agent, rival)
    return n


@inlined
def arm_of(agent: Bfs3, n: int, u: int) -> Any:
    """An arm of a node."""
    return agent.tree.arm[at(n * agent.belief.counts.num_actions + u)]


@inlined
def draw_arms(agent: Bfs3, n: int, x: int) -> tuple[int, float, float]:
    """Draw the rewards of all arms; return the first with the highest, this, and the next one."""
    actions = agent.belief.counts.num_actions
    best, highest, rival = 0, -np.inf, -np.inf
    for u in range(actions):
        arm, pair = arm_of(agent, n, u), agent.belief.pair[at(x * actions + u)]
        arm.edge, arm.reward = NO_EDGE, pair.common_reward
        if pair.num_special > 0:
            arm.reward = draw_special(agent, n * actions + u, pair) * agent.per_draw
        elif pair.num_special == ALL_SPECIAL:
            arm.edge = draw_all(agent, n * actions + u, x * actions + u)
            arm.reward = agent.tree.edge[at(arm.edge)].reward
        rival = max(rival, min(highest, arm.reward))
        best = u if arm.reward > highest else best
        highest = max(highest, arm.reward)
    return best, highest, rival


@inlined
def last_best(u: int) -> int:
    """The mark of a best action that may be best no more; and the other way round."""
    return -1 - u


@inlined
def make_arms(agent: Bfs3, n: int) -> None:
    """Have the arms of a node know what it knows; new ones have the common rewards."""
    node, actions = agent.tree.node[at(n)], agent.belief.counts.num_actions
    if not node.has_arms:
        node.has_arms = 1
        for u in range(actions):
            arm, pair = arm_of(agent, n, u), agent.belief.pair[at(node.state * actions + u)]
            arm.edge, arm.reward = NO_EDGE, pair.common_reward
    best = node.best if node.best >= 0 else last_best(node.best)
    arm_of(agent, n, best).edge = node.edge


@inlined
def choose_arm(agent: Bfs3, n: int) -> None:
    """Find the first arm with the highest upper bound, up to rounding, and how high others are."""
    make_arms(agent, n)
    best, lower, upper, rival_lower, rival_upper = 0, -np.inf, -np.inf, -np.inf, -np.inf
    for u in range(agent.belief.counts.num_actions):
        arm = arm_of(agent, n, u)
        low, high = first_bounds(agent, arm.reward)
        if arm.edge != NO_EDGE:
            edge = agent.tree.edge[at(arm.edge)]
            low, high = edge.lower, edge.upper
        rival_upper = max(rival_upper, min(upper, high))
        if high > upper + agent.rounding:
            best, lower, low = u, low, lower
        rival_lower = max(rival_lower, low)
        upper = max(upper, high)
    node = agent.tree.node[at(n)]
    node.rival_lower, node.rival_upper = rival_lower, rival_upper
    node.best, node.edge = best, arm_of(agent, n, best).edge


@inlined
def sketch_or_child(i: int) -> int:
    """What stands for a sketch as a child of an outcome; and the other way round."""
    return NO_NODE - 1 - i


@inlined
def bounds_of(agent: Bfs3, outcome: Any) -> tuple[float, float]:
    """The bounds of the value below an outcome."""
    if outcome.child == NO_NODE:
        return agent.value_min, agent.value_max
    if outcome.child < NO_NODE:
        sketch = agent.tree.sketch[at(sketch_or_child(outcome.child))]
        return sketch.lower, sketch.upper
    child = agent.tree.node[at(outcome.child)]
    return child.lower, child.upper


@inlined
def choose_outcome(agent: Bfs3, edge: Any, level: int) -> None:
    """Find the outcome to follow, and keep what is needed as long as it stays this one.

    It is the one that leaves most of the uncertainty, of those not passed over; where several
    do, up to rounding, the lowest next state.
    """
    lower, upper, skipped = 0.0, 0.0, agent.skipped[at(level + 1)]
    best, best_state = edge.first, agent.belief.counts.num_states
    widest, rival, tie = -np.inf, -np.inf, agent.rounding * agent.branching
    for i in range(edge.first, edge.end):
        outcome = agent.tree.outcome[at(i)]
        low, high = bounds_of(agent, outcome)
        lower += outcome.times * low
        upper += outcome.times * high
        weighted = outcome.times * (high - low)
        if high - low > skipped:
            rival = max(rival, min(widest, weighted))
            lead = weighted - widest
            if lead > tie or (lead >= -tie and outcome.next_state < best_state):
                best, best_state, widest = i, outcome.next_state, weighted
    outcome = agent.tree.outcome[at(best)]
    low, high = bounds_of(agent, outcome)
    edge.rest_lower = edge.reward + agent.share * (lower - outcome.times * low)
    edge.rest_upper = edge.reward + agent.share * (upper - outcome.times * high)
    edge.rival_gap = max(skipped, (rival + tie) / outcome.times)
    edge.widest = best


@inlined
def choose_first(agent: Bfs3, edge: Any, added: Added, level: int) -> None:
    """The same where nothing is known yet below any outcome: the one that was drawn most often."""
    weight, gap = agent.share * added.times, agent.value_max - agent.value_min
    edge.rest_lower = edge.lower - weight * agent.value_min
    edge.rest_upper = edge.upper - weight * agent.value_max
    rival_gap = agent.share * added.rival * agent.stretch[at(added.times)] * gap + agent.rounding
    edge.rival_gap = max(agent.skipped[at(level + 1)], rival_gap)
    edge.widest = added.best


@inlined
def take(agent: Bfs3, n: int, level: int) -> None:
    """Take the best arm of a node for the first time."""
    node, actions = agent.tree.node[at(n)], agent.belief.counts.num_actions
    pair = node.state * actions + node.best
    reward = agent.belief.pair[at(pair)].common_reward
    if node.has_arms:
        reward = arm_of(agent, n, node.best).reward
    node.edge, added = draw_edge(agent, n * actions + node.best, pair, reward)
    choose_first(agent, agent.tree.edge[at(node.edge)], added, level)


@inlined
def choose_step(agent: Bfs3, n: int, level: int) -> Any:
    """The edge to follow from a node; its widest outcome is chosen too."""
    node = agent.tree.node[at(n)]
    if node.best < 0:
        choose_arm(agent, n)
    if node.edge == NO_EDGE:
        take(agent, n, level)
    edge = agent.tree.edge[at(node.edge)]
    if edge.widest == NOT_CHOSEN:
        choose_outcome(agent, edge, level)
    return edge


@inlined
def descend(agent: Bfs3, level: int) -> int:
    """Follow the highest upper bounds from the path's node at a level to the full depth.

    Return the level of the first new node, or the depth if there is none.
    """
    tree, n, new = agent.tree, agent.path[at(level)], agent.depth
    for here in range(level, agent.depth - 1):
        edge = choose_step(agent, n, here)
        outcome = tree.outcome[at(edge.widest)]
        set_floors(agent, here, tree.node[at(n)], edge, outcome)
        count(agent.belief, edge.pair, outcome.next_state, outcome.entry)
        if outcome.child == NO_NODE:
            if new == agent.depth:
                new = here + 1
                for i in range(3):
                    agent.before[i] = tree.size[i]
            sketch = tree.sketch[at(tree.size[3] + here + 1 - new)]
            keep_words(sketch, agent.rng)
            outcome.child = expand(agent, outcome.next_state)
        elif outcome.child < NO_NODE:
            i = sketch_or_child(outcome.child)
            outcome.child = make_again(agent, i, outcome.next_state, here + 1)
        n = outcome.child
        agent.path[at(here + 1)] = n
    return new


@inlined
def keep_words(kept: Any, rng: Words) -> None:
    """Have a sketch or a root keep the random numbers' state."""
    kept.word0, kept.word1, kept.word2, kept.word3 = load(rng)


@inlined
def use_words(kept: Any, rng: Words) -> None:
    """Go on with the random numbers' state of a sketch or a root."""
    store(rng, (kept.word0, kept.word1, kept.word2, kept.word3))


@inlined
def make_again(agent: Bfs3, i: int, x: int, level: int) -> int:
    """A node of which there is a sketch; the one below it stays a sketch."""
    state, sketch = load(agent.rng), agent.tree.sketch[at(i)]
    use_words(sketch, agent.rng)
    n = expand(agent, x)
    if level < agent.depth - 1:
        edge = choose_step(agent, n, level)
        outcome = agent.tree.outcome[at(edge.widest)]
        outcome.child = sketch_or_child(i + 1)
        below = agent.tree.sketch[at(i + 1)]
        back_up(agent, agent.tree.node[at(n)], edge, outcome, below.lower, below.upper)
    store(agent.rng, state)
    return n


@inlined
def set_floors(agent: Bfs3, level: int, node: Any, edge: Any, outcome: Any) -> None:
    """Tell the node below an outcome its floors.

    The path to that node stays as it is while no other arm here is better, no other outcome of
    the arm is wider, and this node is above its own floors. So the arm's upper bound must stay
    above `least`, and its gap above this node's floor. When an outcome's bounds change, those of
    its arm change less, by its share. There is a margin for rounding everywhere.
    """
    lower, upper = bounds_of(agent, outcome)
    least = max(node.rival_upper + agent.rounding, agent.upper_floor[at(level)])
    least = max(least, node.rival_lower + agent.gap_floor[at(level)])
    stretch = agent.stretch[at(outcome.times)]
    fall = stretch * (edge.upper - least - agent.rounding)
    loss = stretch * (edge.upper - edge.lower - agent.gap_floor[at(level)] - agent.rounding)
    gap_floor = max(upper - lower - loss, edge.rival_gap) + agent.rounding
    agent.upper_floor[at(level + 1)] = upper - fall + agent.rounding
    agent.gap_floor[at(level + 1)] = gap_floor


@inlined
def back_up(agent: Bfs3, node: Any, edge: Any, outcome: Any, lower: float, upper: float) -> None:
    """Have a node, and the edge of its best arm, learn of bounds below an outcome."""
    edge.lower = edge.rest_lower + agent.share * outcome.times * lower
    edge.upper = edge.rest_upper + agent.share * outcome.times * upper
    if upper - lower <= edge.rival_gap:
        edge.widest = NOT_CHOSEN
    node.lower = max(edge.lower, node.rival_lower)
    node.upper = max(edge.upper, node.rival_upper)
    if edge.upper <= node.rival_upper + agent.rounding:
        node.best = last_best(node.best)


@inlined
def ascend(agent: Bfs3, new: int, to_the_root: bool) -> int:
    """Back up the bounds from the full depth; return the level where the next roll-out begins."""
    tree, level = agent.tree, agent.depth - 1
    node = tree.node[at(agent.path[at(level)])]
    while level > 0:
        gap = node.upper - node.lower
        stays = node.upper > agent.upper_floor[at(level)] and gap > agent.gap_floor[at(level)]
        if stays and not to_the_root:
            break
        if level >= new:
            sketch = tree.sketch[at(tree.size[3] + level - new)]
            sketch.lower, sketch.upper = node.lower, node.upper
        level -= 1
        above = tree.node[at(agent.path[at(level)])]
        edge = tree.edge[at(above.edge)]
        outcome = tree.outcome[at(edge.widest)]
        take_back(agent.belief, edge.pair, outcome.entry)
        back_up(agent, above, edge, outcome, node.lower, node.upper)
        if level == new - 1:
            outcome.child = sketch_or_child(tree.size[3])
            tree.size[3] += agent.depth - new
            for i in range(3):
                tree.size[i] = agent.before[i]
        node = above
    return level


@cold
def tighten(agent: Bfs3, root: int, rollouts: int) -> bool:
    """Make roll-outs from a root; return whether more of them would change nothing."""
    agent.path[0] = root
    agent.upper_floor[0], agent.gap_floor[0] = -np.inf, agent.complete[0]
    node, level, is_known = agent.tree.node[at(root)], 0, False
    for i in range(rollouts):
        new = descend(agent, level)
        agent.made[0] += 1
        # If nothing was new, all other roll-outs would go the same way.
        is_known = new == agent.depth
        is_last = is_known or i + 1 == rollouts or is_over(agent.deadline, i + 1)
        level = ascend(agent, new, is_last)
        # All paths have the full depth: if only the gap of the leaves is left, nothing can change.
        is_known = is_known or (level == 0 and node.upper - node.lower <= agent.complete[0])
        if is_last or is_known:
            break
    return is_known
