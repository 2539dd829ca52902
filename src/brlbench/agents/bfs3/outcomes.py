"""The next states that BFS3 draws for an arm: C of them, from the mean of its belief.

Until an arm is taken, its bounds depend on its draws only through their mean reward. A new node
therefore draws no more than how often each special next state comes. How the other draws are
shared among the common ones is drawn when the arm is first taken.

Numbers of draws are multinomial: binomial, next state after next state, or what amounts to it.
"""

from typing import Any, NamedTuple

from ...kernels.arrays import at
from ...kernels.counts import known_reward
from ...kernels.jit import inlined
from ...kernels.random.multinomial import FEW, NOTHING_SHARED, Draws, new_draws, share_next
from ...kernels.random.rng import below, two_below
from .belief import NO_ENTRY, PathBelief
from .tree import NO_NODE, NOT_CHOSEN, Bfs3


class Added(NamedTuple):
    """Outcomes of an edge, as far as they are added."""

    end: int
    best: int  # the one that was drawn most often, of several the lowest next state
    rank: int  # of that one
    times: int  # that it was drawn
    rival: int  # the most times of all others


@inlined
def draw_special(agent: Bfs3, arm: int, pair: Any) -> float:
    """Draw how often each special next state comes; return the sum of all rewards."""
    belief, total = agent.belief, 0.0
    draws = new_draws(agent.rng, agent.branching, pair.total + pair.extra)
    shared = NOTHING_SHARED
    for i in range(pair.num_special):
        entry, before = belief.entry[at(pair.row + i)], shared.number
        part = entry.count + entry.extra + pair.background
        shared = share_next(agent.rng, draws, shared, part)
        times = shared.number - before
        agent.tree.special_times[at(arm * belief.most_special + i)] = times
        total += times * entry.reward
    return total + (agent.branching - shared.number) * pair.common_reward


@inlined
def draw_edge(agent: Bfs3, arm: int, pair_index: int, reward: float) -> tuple[int, Added]:
    """Draw the next states of an arm, except how often special ones come, which is known.

    Of the others, the listed ones have entries. The loose ones come from the background or are
    copied from the path; among them may be some that are also listed.
    """
    tree, belief = agent.tree, agent.belief
    e, pair = tree.size[1], belief.pair[at(pair_index)]
    first, states = tree.size[2], belief.counts.num_states
    added = Added(first, first, states, 0, 0)
    left, weight = agent.branching, pair.total + pair.extra
    special = max(0, pair.num_special)
    for i in range(special):
        entry = belief.entry[at(pair.row + i)]
        times = tree.special_times[at(arm * belief.most_special + i)]
        added = add_outcome(agent, added, entry.next_state, pair.row + i, times)
        left -= times
        weight -= entry.count + entry.extra + pair.background
    loose = 0
    if pair.background > 0 or pair.unlisted > 0:
        background = pair.background * (states - special)
        loose = draw_loose(agent, pair, pair_index, left, weight, background)
        left -= loose
        weight -= background + pair.unlisted
    if pair.length > special:
        last = pair.row + pair.length
        added = draw_listed(agent, added, pair.row + special, last, left, weight)
    for i in range(loose):
        added = add_outcome(agent, added, agent.loose[at(i)], NO_ENTRY, 0)
    edge = tree.edge[at(e)]
    edge.first, edge.end, edge.widest, edge.pair = first, added.end, NOT_CHOSEN, pair_index
    set_reward(agent, edge, reward)
    tree.size[1], tree.size[2] = e + 1, added.end
    return e, added


@inlined
def first_bounds(agent: Bfs3, reward: float) -> tuple[float, float]:
    """Of an arm of which only the mean reward is known."""
    return reward + agent.discount * agent.value_min, reward + agent.discount * agent.value_max


@inlined
def set_reward(agent: Bfs3, edge: Any, reward: float) -> None:
    """The mean reward of an edge, of which nothing more is known yet."""
    edge.reward = reward
    edge.lower, edge.upper = first_bounds(agent, reward)


@inlined
def draw_listed(
    agent: Bfs3, added: Added, first: int, last: int, left: int, weight: float
) -> Added:
    """Share draws among entries."""
    draws, shared = new_draws(agent.rng, left, weight), NOTHING_SHARED
    if left <= FEW:
        return find_listed(agent, added, first, last, draws)
    for i in range(first, last - 1):
        entry, before = agent.belief.entry[at(i)], shared.number
        shared = share_next(agent.rng, draws, shared, entry.count + entry.extra)
        added = add_outcome(agent, added, entry.next_state, i, shared.number - before)
    # The last entry takes all that is left, whatever rounding says.
    y = agent.belief.entry[at(last - 1)].next_state
    return add_outcome(agent, added, y, last - 1, left - shared.number)


@inlined
def find_listed(agent: Bfs3, added: Added, first: int, last: int, draws: Draws) -> Added:
    """The same for few draws: find the entry of each."""
    weight, one, other = 0.0, first, first
    for i in range(first, last - 1):
        entry = agent.belief.entry[at(i)]
        weight += entry.count + entry.extra
        one += draws.one >= weight
        other += draws.other >= weight
    if draws.number > 0:
        y, times = agent.belief.entry[at(one)].next_state, 1
        if draws.number > 1 and other == one:
            times = 2
        added = add_outcome(agent, added, y, one, times)
        if draws.number > times:
            y = agent.belief.entry[at(other)].next_state
            added = add_outcome(agent, added, y, other, 1)
    return added


@inlined
def draw_loose(
    agent: Bfs3, pair: Any, pair_index: int, left: int, weight: float, background: float
) -> int:
    """Draw the next states that come from the background or from the path; return their number."""
    special = max(0, pair.num_special)
    if pair.length == special and pair.unlisted == 0:
        draw_background(agent, pair, left)
        return left
    draws = new_draws(agent.rng, left, weight)
    shared = share_next(agent.rng, draws, NOTHING_SHARED, background)
    draw_background(agent, pair, shared.number)
    if pair.unlisted == 0:
        return shared.number
    both = left
    if pair.length > special:
        both = share_next(agent.rng, draws, shared, pair.unlisted).number
    start = pair_index * agent.belief.path_length
    for i in range(shared.number, both):
        y = agent.belief.unlisted[at(start + below(agent.rng, pair.unlisted))]
        add_loose(agent, i, y)
    return both


@inlined
def draw_background(agent: Bfs3, pair: Any, number: int) -> None:
    """Draw some next states that are not special, all with the same chance."""
    special, states = max(0, pair.num_special), agent.belief.counts.num_states
    drawn = 0
    while drawn < number:
        y, other = two_below(agent.rng, states)
        if not is_among(agent.belief, pair.row, special, y):
            drawn = add_loose(agent, drawn, y)
        if drawn < number and not is_among(agent.belief, pair.row, special, other):
            drawn = add_loose(agent, drawn, other)


@inlined
def is_among(belief: PathBelief, first: int, number: int, y: int) -> bool:
    """Whether one of these entries is that of a next state."""
    found = False
    for i in range(first, first + number):
        found |= belief.entry[at(i)].next_state == y
    return found


@inlined
def add_loose(agent: Bfs3, drawn: int, y: int) -> int:
    """Add a loose draw; return how many there are."""
    agent.loose[at(drawn)] = y
    agent.tally[at(y)] += 1
    return drawn + 1


@inlined
def add_outcome(agent: Bfs3, added: Added, y: int, entry: int, times: int) -> Added:
    """Add an outcome if it was drawn, loose draws included."""
    times += agent.tally[at(y)]
    agent.tally[at(y)] = 0
    outcome = agent.tree.outcome[at(added.end)]
    outcome.next_state = y
    outcome.entry = entry
    outcome.times = times
    outcome.child = NO_NODE
    rank = (times + 1) * agent.belief.counts.num_states - y
    return Added(
        added.end + (times > 0),
        added.end if rank > added.rank else added.best,
        max(rank, added.rank),
        max(times, added.times),
        max(added.rival, min(times, added.times)),
    )


@inlined
def draw_all(agent: Bfs3, arm: int, pair_index: int) -> int:
    """Draw all next states of an arm of which too many are special to draw these first."""
    belief, total = agent.belief, 0.0
    e, _ = draw_edge(agent, arm, pair_index, 0.0)
    edge = agent.tree.edge[at(e)]
    for i in range(edge.first, edge.end):
        outcome = agent.tree.outcome[at(i)]
        y = outcome.next_state
        total += outcome.times * known_reward(belief.counts, belief.rewards, pair_index, y)
    set_reward(agent, edge, total * agent.per_draw)
    return e
