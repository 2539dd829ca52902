"""BFS3's search: forward-search sparse sampling (FSSS) over histories.

A node is a history. Each of its actions gets C next states, drawn from the mean of the belief at
that history; equal ones are kept once, with their number. These outcomes carry bounds
[lower, upper] of the value below them, which backups tighten.

Until an action is taken, its bounds depend on its draws only through their mean reward. Most next
states of a pair have the same reward, its common one; the others are special, and come first in
the pair's row. A new node draws how often each special one comes. How the other draws are shared
among the common ones is drawn when the action is first taken.

Each root has a tree of its own, in the same arrays.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .arrays import at, copy_vector
from .choice import greedy
from .counts import Counts, add, restore, reward_of
from .deadline import OBSERVE, START, Deadline, begin, is_over, now, share, took
from .fsss import ALL_SPECIAL, NO_ENTRY, NO_NODE, NOT_TAKEN, Records, Tree
from .jit import cold, inlined
from .multinomial import BASE, MOST_DRAWS, count_below, count_equal, new_draws
from .rng import Words, below, binomial
from .trajectory import register
from .urn import NONE, Urn, draw, push, undo

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Bfs3(NamedTuple):
    """The agent's state; D is the depth, H how many special next states a pair may have."""

    rng: Words
    counts: Counts
    initial: Counts
    pair: Records  # [P] of PAIR; the counts once more, as the search uses them
    entry: Records  # [pool] of ENTRY
    urn: Urn  # draws on the path of next states without an entry
    tree: Tree
    place: Integers  # [S]; work space: the outcome of a next state
    path: Integers  # [D]; the outcomes of a roll-out
    path_node: Integers  # [D]; the node above each
    q: Floats  # [A]
    rewards: Floats  # [P * S], or empty where that is too much
    num_special: Integers  # [P]
    initial_num_special: Integers  # [P]
    most_special: int  # H
    complete: Floats  # [D + 1]; by level, the gap of bounds in which only the leaves' is left
    skipped: Floats  # [D + 1]; the same, or less than any gap if nothing is passed over
    made: Integers  # [1]; roll-outs of the last decision
    deadline: Deadline
    discount: float
    rollouts: int
    branching: int
    depth: int
    value_min: float
    value_max: float


@inlined
def reward_at(agent: Bfs3, pair: int, y: int) -> float:
    """The known reward of a transition."""
    if len(agent.rewards) > 0:
        return agent.rewards[pair * agent.counts.num_states + y]
    return reward_of(agent.counts, pair, y)


@inlined
def expand(agent: Bfs3, x: int) -> int:
    """A new node, with no more drawn than its actions' rewards."""
    tree, actions = agent.tree, agent.counts.num_actions
    node = tree.size[0]
    tree.size[0] = node + 1
    for u in range(actions):
        e, pair = node * actions + u, agent.pair[at(x * actions + u)]
        edge = tree.edge[at(e)]
        edge.pair = x * actions + u
        edge.widest = NOT_TAKEN
        mean = pair.common_reward
        if pair.num_special > 0:
            mean = draw_special(agent, e, pair) / agent.branching
        elif pair.num_special == ALL_SPECIAL:
            draw_outcomes(agent, e)
            mean = sum_of_rewards(agent, edge) / agent.branching
        edge.reward = mean
        edge.lower = mean + agent.discount * agent.value_min
        edge.upper = mean + agent.discount * agent.value_max
    settle(agent, node)
    return node


@inlined
def draw_special(agent: Bfs3, e: int, pair: Any) -> float:
    """Draw how often each special next state comes; return the sum of all rewards.

    The numbers of draws are multinomial: binomial, next state after next state.
    """
    left, weight, total = agent.branching, pair.total + pair.extra, 0.0
    for i in range(pair.num_special):
        entry = agent.entry[at(pair.row + i)]
        part = entry.count + entry.extra
        times = binomial(agent.rng, left, part / weight)
        agent.tree.special_times[at(e * agent.most_special + i)] = times
        total += times * entry.reward
        left -= times
        weight -= part
    return total + left * pair.common_reward


@inlined
def draw_outcomes(agent: Bfs3, e: int) -> None:
    """Draw the next states of an edge, except how often special ones come, which is known."""
    tree, urn = agent.tree, agent.urn
    edge = tree.edge[at(e)]
    pair = agent.pair[at(edge.pair)]
    first = end = tree.size[1]
    left, weight = agent.branching, pair.total + pair.extra
    special = max(0, pair.num_special)
    for i in range(special):
        entry = agent.entry[at(pair.row + i)]
        times = tree.special_times[at(e * agent.most_special + i)]
        end = add_outcome(agent, end, entry.next_state, pair.row + i, times)
        left -= times
        weight -= entry.count + entry.extra
    element = urn.newest[at(edge.pair)]
    while element != NONE:
        times = binomial(agent.rng, left, urn.times[element] / weight)
        end = add_outcome(agent, end, urn.drawn[element], NO_ENTRY, times)
        left -= times
        weight -= urn.times[element]
        element = urn.older[element]
    # Without a background the last entry takes all that is left, whatever rounding says.
    last = pair.row + pair.length - (pair.background == 0)
    rest = pair.row + special
    if 0 < left <= MOST_DRAWS:
        end, left = draw_few(agent, end, rest, last, left, weight)
    else:
        end, left = draw_many(agent, end, rest, last, left, weight)
    if pair.background > 0:
        end = draw_background(agent, first, end, left)
    else:
        end = add_outcome(agent, end, agent.entry[at(last)].next_state, last, left)
    edge.first, edge.end = first, end
    tree.size[1] = end


@inlined
def draw_few(
    agent: Bfs3, end: int, first: int, last: int, left: int, weight: float
) -> tuple[int, int]:
    """Share draws among entries; return the outcomes' end and how many draws are left over.

    The draws are uniform numbers of which only a digit is known. Where that is also a bound's,
    the draws with this digit are told apart when the need arises.
    """
    draws, scale = new_draws(agent.rng, left), BASE / weight
    bound, before = 0.0, 0
    digit, inside, undecided, passed = -1, 0, 0, 0.0
    for i in range(first, last):
        entry = agent.entry[at(i)]
        bound += scale * (entry.count + entry.extra)
        before_digit, digit = digit, min(BASE - 1, int(bound))
        if digit != before_digit:
            inside, undecided, passed = 0, count_equal(draws, digit), 0.0
        if undecided > 0:
            more = binomial(agent.rng, undecided, (bound - digit - passed) / (1 - passed))
            inside, undecided, passed = inside + more, undecided - more, bound - digit
        all_below = count_below(draws, digit) + inside
        end = add_outcome(agent, end, entry.next_state, i, all_below - before)
        before = all_below
    return end, left - before


@inlined
def draw_many(
    agent: Bfs3, end: int, first: int, last: int, left: int, weight: float
) -> tuple[int, int]:
    """The same for any number of draws: binomial, entry after entry."""
    for i in range(first, last):
        if left == 0:
            break
        entry = agent.entry[at(i)]
        part = entry.count + entry.extra
        times = binomial(agent.rng, left, part / weight)
        end = add_outcome(agent, end, entry.next_state, i, times)
        left -= times
        weight -= part
    return end, left


@inlined
def draw_background(agent: Bfs3, first: int, end: int, left: int) -> int:
    """Spread what is left of an edge's draws over all next states; return the outcomes' end."""
    states = agent.counts.num_states
    if left >= states:
        for y in range(states):
            times = binomial(agent.rng, left, 1 / (states - y))
            end = add_times(agent, first, end, y, times)
            left -= times
    for _ in range(left):
        end = add_times(agent, first, end, below(agent.rng, states), 1)
    return end


@inlined
def add_times(agent: Bfs3, first: int, end: int, y: int, times: int) -> int:
    """Add draws of a next state, which may have an outcome already; return the outcomes' end."""
    # `place` may be left over from another edge: it counts only if it points at y in this one.
    place = agent.place[at(y)]
    if first <= place < end and agent.tree.outcome[at(place)].next_state == y:
        agent.tree.outcome[at(place)].times += times
        return end
    return add_outcome(agent, end, y, NO_ENTRY, times)


@inlined
def add_outcome(agent: Bfs3, end: int, y: int, entry: int, times: int) -> int:
    """Add an outcome if there are any draws of it; return the outcomes' end."""
    agent.place[at(y)] = end
    outcome = agent.tree.outcome[at(end)]
    outcome.lower = agent.value_min
    outcome.upper = agent.value_max
    outcome.next_state = y
    outcome.entry = entry
    outcome.times = times
    outcome.child = NO_NODE
    return end + (times > 0)


@inlined
def sum_of_rewards(agent: Bfs3, edge: Any) -> float:
    """Of all draws of an edge."""
    total = 0.0
    for i in range(edge.first, edge.end):
        outcome = agent.tree.outcome[at(i)]
        total += outcome.times * reward_at(agent, edge.pair, outcome.next_state)
    return total


@inlined
def back_up(agent: Bfs3, edge: Any, level: int) -> None:
    """The bounds of a (node, action) from those of its outcomes, and which of them to follow.

    That is the one that leaves most of the uncertainty, of those not passed over; where several
    do, the lowest next state.
    """
    lower, upper, skipped = 0.0, 0.0, agent.skipped[at(level + 1)]
    best, widest, best_state = edge.first, -1.0, agent.counts.num_states
    for i in range(edge.first, edge.end):
        outcome = agent.tree.outcome[at(i)]
        lower += outcome.times * outcome.lower
        upper += outcome.times * outcome.upper
        gap = outcome.upper - outcome.lower
        weighted = outcome.times * gap
        wider = (weighted > widest) | ((weighted == widest) & (outcome.next_state < best_state))
        if wider & (gap > skipped):
            best, widest, best_state = i, weighted, outcome.next_state
    weight = agent.discount / agent.branching
    edge.lower = edge.reward + weight * lower
    edge.upper = edge.reward + weight * upper
    edge.widest = best


@inlined
def most_drawn(agent: Bfs3, edge: Any) -> int:
    """The outcome that was drawn most often; where several were, the lowest next state."""
    states, best, most = agent.counts.num_states, edge.first, 0
    for i in range(edge.first, edge.end):
        outcome = agent.tree.outcome[at(i)]
        rank = (outcome.times + 1) * states - outcome.next_state
        if rank > most:
            best, most = i, rank
    return best


@inlined
def settle(agent: Bfs3, node: int) -> tuple[float, float]:
    """The bounds of a node: the highest of its actions. The first best one is kept."""
    tree, actions = agent.tree, agent.counts.num_actions
    best, lower, upper = 0, -np.inf, -np.inf
    for e in range(node * actions, (node + 1) * actions):
        edge = tree.edge[at(e)]
        lower = max(lower, edge.lower)
        if edge.upper > upper:
            best, upper = e, edge.upper
    tree.best[at(node)] = best
    return lower, upper


@inlined
def count(agent: Bfs3, pair: int, y: int, entry: int, times: int) -> None:
    """Count a transition on the path once more, or take back the last one counted."""
    agent.pair[at(pair)].extra += times
    if entry != NO_ENTRY:
        agent.entry[at(entry)].extra += times
    elif times > 0:
        push(agent.counts, agent.urn, pair, y)
    else:
        undo(agent.urn, agent.urn.size[1] - 1)


@inlined
def rollout(agent: Bfs3) -> tuple[float, float]:
    """Follow the highest upper bounds from the root to the full depth, then back up.

    Return the root's bounds. Nothing is known below the actions of the deepest node.
    """
    tree, node = agent.tree, 0
    for level in range(agent.depth - 1):
        e = tree.best[at(node)]
        edge = tree.edge[at(e)]
        if edge.widest == NOT_TAKEN:
            if agent.pair[at(edge.pair)].num_special != ALL_SPECIAL:
                draw_outcomes(agent, e)
            edge.widest = most_drawn(agent, edge)
        agent.path[at(level)], agent.path_node[at(level)] = edge.widest, node
        outcome = tree.outcome[at(edge.widest)]
        count(agent, edge.pair, outcome.next_state, outcome.entry, 1)
        if outcome.child == NO_NODE:
            outcome.child = expand(agent, outcome.next_state)
        node = outcome.child
    lower, upper = settle(agent, node)
    for level in range(agent.depth - 2, -1, -1):
        node = agent.path_node[at(level)]
        edge = tree.edge[at(tree.best[at(node)])]
        outcome = tree.outcome[at(agent.path[at(level)])]
        outcome.lower, outcome.upper = lower, upper
        count(agent, edge.pair, outcome.next_state, outcome.entry, -1)
        back_up(agent, edge, level)
        lower, upper = settle(agent, node)
    return lower, upper


@cold
def upper_bound(agent: Bfs3, x: int) -> float:
    """FSSS: the upper bound of the value at the present history, in state x."""
    tree, upper = agent.tree, agent.value_max
    tree.size[0] = tree.size[1] = 0
    expand(agent, x)
    # All paths have the full depth: when only the gap of the leaves is left, nothing can change.
    # Nor when a roll-out found nothing new: all others would go the same way.
    for i in range(agent.rollouts):
        nodes = tree.size[0]
        lower, upper = rollout(agent)
        agent.made[0] += 1
        found_nothing = nodes == tree.size[0]
        if upper - lower <= agent.complete[0] or found_nothing or is_over(agent.deadline, i + 1):
            break
    return upper


@cold
def search(agent: Bfs3, x: int) -> int:
    """For each action: the mean over C drawn next states of reward and discounted bound."""
    actions = agent.counts.num_actions
    end, left = begin(agent.deadline), actions * agent.branching
    agent.made[0] = 0
    scale = 0.0
    for u in range(actions):
        pair, total = x * actions + u, 0.0
        for _ in range(agent.branching):
            share(agent.deadline, end, left)
            left -= 1
            y = draw(agent.counts, agent.urn, pair, agent.rng)
            entry = entry_of(agent, pair, y)
            count(agent, pair, y, entry, 1)
            total += reward_at(agent, pair, y) + agent.discount * upper_bound(agent, y)
            count(agent, pair, y, entry, -1)
        agent.q[u] = total / agent.branching
        scale = max(scale, abs(agent.q[u]))
    return greedy(agent.q, 0, actions, scale, agent.rng)


@inlined
def entry_of(agent: Bfs3, pair: int, y: int) -> int:
    """The entry of a next state, if it has one."""
    first = agent.counts.row_start[pair]
    for entry in range(first, first + agent.counts.row_length[pair]):
        if agent.counts.entry_next[entry] == y:
            return entry
    return NO_ENTRY


@cold
def refresh(agent: Bfs3, pair: int) -> None:
    """Bring the search's own copy of a row up to date."""
    counts, kept = agent.counts, agent.pair[pair]
    kept.total = counts.total[pair]
    kept.row = counts.row_start[pair]
    kept.length = counts.row_length[pair]
    kept.num_special = agent.num_special[pair]
    for e in range(kept.row, kept.row + kept.length):
        entry = agent.entry[e]
        entry.count, entry.next_state = counts.entry_count[e], counts.entry_next[e]
        entry.reward = reward_at(agent, pair, entry.next_state)


def start(agent: Bfs3, x: int) -> None:
    """Back to the prior."""
    began = now(agent.deadline)
    restore(agent.counts, agent.initial)
    copy_vector(agent.num_special, agent.initial_num_special)
    for pair in range(len(agent.pair)):
        refresh(agent, pair)
    took(agent.deadline, START, began)


def act(agent: Bfs3, x: int) -> int:
    """Search."""
    return search(agent, x)


def observe(agent: Bfs3, x: int, u: int, y: int, r: float) -> None:
    """Count the transition, which may be one that was thought impossible."""
    began = now(agent.deadline)
    pair = x * agent.counts.num_actions + u
    length = agent.counts.row_length[pair]
    add(agent.counts, pair, y)
    is_new = agent.counts.row_length[pair] > length
    if is_new and reward_at(agent, pair, y) != agent.pair[pair].common_reward:
        make_special(agent, pair)
    refresh(agent, pair)
    took(agent.deadline, OBSERVE, began)


@cold
def make_special(agent: Bfs3, pair: int) -> None:
    """Put a pair's last entry among the special ones if there is room."""
    special = agent.num_special[pair]
    if special == agent.most_special:
        agent.num_special[pair] = ALL_SPECIAL
    elif special != ALL_SPECIAL:
        counts, here = agent.counts, agent.counts.row_start[pair] + special
        last = agent.counts.row_start[pair] + counts.row_length[pair] - 1
        swap(counts.entry_next, here, last)
        swap(counts.entry_count, here, last)
        agent.num_special[pair] = special + 1


@inlined
def swap(numbers: NDArray[Any], i: int, j: int) -> None:
    """Swap two numbers."""
    numbers[i], numbers[j] = numbers[j], numbers[i]


register(Bfs3, start=start, act=act, observe=observe)
