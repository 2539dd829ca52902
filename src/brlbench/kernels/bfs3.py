"""BFS3's search: forward-search sparse sampling (FSSS) over histories.

A roll-out follows the highest upper bounds and the widest gaps from the root to the full depth, and
tightens the bounds of all nodes on its way. The next one often begins with the same steps. On the
way down, each node on the path is therefore told its floors: as long as its upper bound and its gap
stay above them, everything above it would be chosen once more. The next roll-out begins at the
deepest node for which that is so. The nodes above learn of the changes when it is left.

Each root has a tree of its own, in the same arrays; before it is the tree of the present history.
"""

from typing import Any

import numpy as np

from .arrays import at
from .choice import greedy
from .deadline import OBSERVE, START, begin, is_over, now, share, took
from .fsss import NO_EDGE, NO_NODE, NOT_CHOSEN
from .fsss import Bfs3 as Bfs3
from .jit import cold, inlined
from .outcomes import draw_edge, draw_special, sum_of_rewards
from .path_belief import ALL_SPECIAL, count, learn, reset, take_back
from .trajectory import register


@inlined
def expand(agent: Bfs3, x: int) -> int:
    """A new node, with no more drawn than its arms' rewards."""
    tree, actions = agent.tree, agent.belief.counts.num_actions
    n = tree.size[0]
    tree.size[0] = n + 1
    best, highest, rival = 0, -np.inf, -np.inf
    for u in range(actions):
        a, pair = n * actions + u, agent.belief.pair[at(x * actions + u)]
        arm = tree.arm[at(a)]
        arm.edge = NO_EDGE
        mean = pair.common_reward
        if pair.num_special > 0:
            mean = draw_special(agent, a, pair) * agent.per_draw
        elif pair.num_special == ALL_SPECIAL:
            arm.edge = draw_edge(agent, a, x * actions + u)
            mean = sum_of_rewards(agent, arm.edge) * agent.per_draw
        arm.reward = mean
        arm.lower = mean + agent.discount * agent.value_min
        arm.upper = mean + agent.discount * agent.value_max
        rival = max(rival, min(highest, mean))
        best = a if mean > highest else best
        highest = max(highest, mean)
    node = tree.node[at(n)]
    node.lower = highest + agent.discount * agent.value_min
    node.upper = highest + agent.discount * agent.value_max
    node.rival_lower = rival + agent.discount * agent.value_min
    node.rival_upper = rival + agent.discount * agent.value_max
    node.best, node.state = best, x
    return n


@inlined
def choose_arm(agent: Bfs3, n: int) -> None:
    """Find the first arm with the highest upper bound, up to rounding, and how high others are."""
    tree, actions = agent.tree, agent.belief.counts.num_actions
    best, upper, rival_upper = n * actions, -np.inf, -np.inf
    for a in range(n * actions, (n + 1) * actions):
        arm = tree.arm[at(a)]
        rival_upper = max(rival_upper, min(upper, arm.upper))
        best = a if arm.upper > upper + agent.rounding else best
        upper = max(upper, arm.upper)
    rival_lower = -np.inf
    for a in range(n * actions, (n + 1) * actions):
        if a != best:
            rival_lower = max(rival_lower, tree.arm[at(a)].lower)
    node = tree.node[at(n)]
    node.rival_lower, node.rival_upper = rival_lower, rival_upper
    node.best = best


@inlined
def bounds_of(agent: Bfs3, outcome: Any) -> tuple[float, float]:
    """The bounds of the value below an outcome."""
    if outcome.child == NO_NODE:
        return agent.value_min, agent.value_max
    child = agent.tree.node[at(outcome.child)]
    return child.lower, child.upper


@inlined
def choose_outcome(agent: Bfs3, arm: Any, edge: Any, level: int) -> None:
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
    edge.rest_lower = arm.reward + agent.share * (lower - outcome.times * low)
    edge.rest_upper = arm.reward + agent.share * (upper - outcome.times * high)
    edge.rival_gap = max(skipped, (rival + tie) / outcome.times)
    edge.widest = best


@inlined
def choose_first(agent: Bfs3, arm: Any, edge: Any, level: int) -> None:
    """The same where nothing is known yet below any outcome: the one that was drawn most often."""
    states = agent.belief.counts.num_states
    best, times, rival, highest = edge.first, 0, 0, 0
    for i in range(edge.first, edge.end):
        outcome = agent.tree.outcome[at(i)]
        rank = (outcome.times + 1) * states - outcome.next_state
        rival = max(rival, min(times, outcome.times))
        times = max(times, outcome.times)
        best = i if rank > highest else best
        highest = max(highest, rank)
    weight, gap = agent.share * times, agent.value_max - agent.value_min
    edge.rest_lower = arm.lower - weight * agent.value_min
    edge.rest_upper = arm.upper - weight * agent.value_max
    rival_gap = agent.share * rival * agent.stretch[at(times)] * gap + agent.rounding
    edge.rival_gap = max(agent.skipped[at(level + 1)], rival_gap)
    edge.widest = best


@inlined
def descend(agent: Bfs3, level: int) -> None:
    """Follow the highest upper bounds from the path's node at a level to the full depth."""
    tree, belief, n = agent.tree, agent.belief, agent.path[at(level)]
    for here in range(level, agent.depth - 1):
        node = tree.node[at(n)]
        if node.best == NOT_CHOSEN:
            choose_arm(agent, n)
        arm = tree.arm[at(node.best)]
        if arm.edge == NO_EDGE:
            pair = node.best + (node.state - n) * belief.counts.num_actions
            arm.edge = draw_edge(agent, node.best, pair)
            choose_first(agent, arm, tree.edge[at(arm.edge)], here)
        edge = tree.edge[at(arm.edge)]
        if edge.widest == NOT_CHOSEN:
            choose_outcome(agent, arm, edge, here)
        outcome = tree.outcome[at(edge.widest)]
        set_floors(agent, here, node, arm, edge, outcome)
        count(belief, edge.pair, outcome.next_state, outcome.entry)
        if outcome.child == NO_NODE:
            outcome.child = expand(agent, outcome.next_state)
        n = outcome.child
        agent.path[at(here + 1)] = n


@inlined
def set_floors(agent: Bfs3, level: int, node: Any, arm: Any, edge: Any, outcome: Any) -> None:
    """Tell the node below an outcome how far its bounds may fall before the path changes above it.

    By so much may the arm's upper bound fall (until another arm is better, or the node's own upper
    bound or gap are at their floors), and so much of the arm's gap may go; a change of the outcome
    is one of the arm, weighted. All with a margin for rounding.
    """
    lower, upper = bounds_of(agent, outcome)
    least = max(node.rival_upper + agent.rounding, agent.upper_floor[at(level)])
    least = max(least, node.rival_lower + agent.gap_floor[at(level)])
    stretch = agent.stretch[at(outcome.times)]
    fall = stretch * (arm.upper - least - agent.rounding)
    loss = stretch * (arm.upper - arm.lower - agent.gap_floor[at(level)] - agent.rounding)
    gap_floor = max(upper - lower - loss, edge.rival_gap) + agent.rounding
    agent.upper_floor[at(level + 1)] = upper - fall + agent.rounding
    agent.gap_floor[at(level + 1)] = gap_floor


@inlined
def ascend(agent: Bfs3, to_the_root: bool) -> int:
    """Back up the bounds from the full depth; return the level where the next roll-out begins."""
    tree, level = agent.tree, agent.depth - 1
    node = tree.node[at(agent.path[at(level)])]
    while level > 0:
        gap = node.upper - node.lower
        stays = node.upper > agent.upper_floor[at(level)] and gap > agent.gap_floor[at(level)]
        if stays and not to_the_root:
            break
        level -= 1
        above = tree.node[at(agent.path[at(level)])]
        arm = tree.arm[at(above.best)]
        edge = tree.edge[at(arm.edge)]
        outcome = tree.outcome[at(edge.widest)]
        take_back(agent.belief, edge.pair, outcome.entry)
        arm.lower = edge.rest_lower + agent.share * outcome.times * node.lower
        arm.upper = edge.rest_upper + agent.share * outcome.times * node.upper
        if gap <= edge.rival_gap:
            edge.widest = NOT_CHOSEN
        above.lower = max(arm.lower, above.rival_lower)
        above.upper = max(arm.upper, above.rival_upper)
        if arm.upper <= above.rival_upper + agent.rounding:
            above.best = NOT_CHOSEN
        node = above
    return level


@cold
def upper_bound(agent: Bfs3, x: int) -> float:
    """FSSS: the upper bound of the value at the present history, in state x."""
    root = expand(agent, x)
    agent.path[0] = root
    agent.upper_floor[0], agent.gap_floor[0] = -np.inf, agent.complete[0]
    node, level = agent.tree.node[at(root)], 0
    # All paths have the full depth: when only the gap of the leaves is left, nothing can change.
    # Nor when a roll-out found nothing new: all others would go the same way.
    for i in range(agent.rollouts):
        nodes = agent.tree.size[0]
        descend(agent, level)
        agent.made[0] += 1
        found_nothing, is_last = nodes == agent.tree.size[0], i + 1 == agent.rollouts
        is_last = is_last or found_nothing or is_over(agent.deadline, i + 1)
        level = ascend(agent, is_last)
        if is_last or (level == 0 and node.upper - node.lower <= agent.complete[0]):
            break
    return node.upper


@cold
def search(agent: Bfs3, x: int) -> int:
    """For each action: the mean over C drawn next states of reward and discounted bound."""
    tree, actions = agent.tree, agent.belief.counts.num_actions
    end, left = begin(agent.deadline), actions * agent.branching
    agent.made[0] = 0
    tree.size[:] = 0
    expand(agent, x)
    for u in range(actions):
        if tree.arm[u].edge == NO_EDGE:
            tree.arm[u].edge = draw_edge(agent, u, x * actions + u)
    nodes, edges, outcomes = tree.size
    scale = 0.0
    for u in range(actions):
        edge, total = tree.edge[tree.arm[u].edge], 0.0
        for i in range(edge.first, edge.end):
            outcome = tree.outcome[i]
            count(agent.belief, edge.pair, outcome.next_state, outcome.entry)
            for _ in range(outcome.times):
                share(agent.deadline, end, left)
                left -= 1
                tree.size[0], tree.size[1], tree.size[2] = nodes, edges, outcomes
                total += upper_bound(agent, outcome.next_state)
            take_back(agent.belief, edge.pair, outcome.entry)
        agent.q[u] = tree.arm[u].reward + agent.discount * total / agent.branching
        scale = max(scale, abs(agent.q[u]))
    return greedy(agent.q, 0, actions, scale, agent.rng)


def start(agent: Bfs3, x: int) -> None:
    """Back to the prior."""
    began = now(agent.deadline)
    reset(agent.belief)
    took(agent.deadline, START, began)


def act(agent: Bfs3, x: int) -> int:
    """Search."""
    return search(agent, x)


def observe(agent: Bfs3, x: int, u: int, y: int, r: float) -> None:
    """Count the transition."""
    began = now(agent.deadline)
    learn(agent.belief, x * agent.belief.counts.num_actions + u, y)
    took(agent.deadline, OBSERVE, began)


register(Bfs3, start=start, act=act, observe=observe)
