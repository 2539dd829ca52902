"""The next states that BFS3 draws for an arm: C of them, from the mean of its belief.

Until an arm is taken, its bounds depend on its draws only through their mean reward. A new node
therefore draws no more than how often each special next state comes. How the other draws are
shared among the common ones is drawn when the arm is first taken.

Numbers of draws are multinomial: binomial, next state after next state, or what amounts to it.
"""

from typing import Any, NamedTuple

from .arrays import at
from .counts import known_reward
from .fsss_state import NO_NODE, NOT_CHOSEN, Bfs3
from .jit import inlined
from .multinomial import NOTHING_SHARED, new_draws, share_next
from .path_belief import NO_ENTRY, PathBelief
from .rng import below, binomial, two_below


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
    share = pair.background * (states - special) + pair.unlisted
    if share > 0:
        loose = left
        if pair.length > special:
            loose = binomial(agent.rng, left, share / weight)
        draw_loose(agent, pair, pair_index, loose, share)
        left -= loose
        weight -= share
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
    for i in range(first, last - 1):
        entry, before = agent.belief.entry[at(i)], shared.number
        shared = share_next(agent.rng, draws, shared, entry.count + entry.extra)
        added = add_outcome(agent, added, entry.next_state, i, shared.number - before)
    # The last entry takes all that is left, whatever rounding says.
    y = agent.belief.entry[at(last - 1)].next_state
    return add_outcome(agent, added, y, last - 1, left - shared.number)


@inlined
def draw_loose(agent: Bfs3, pair: Any, pair_index: int, number: int, share: float) -> None:
    """Draw some next states from the background, without special ones, and from the path."""
    belief, drawn = agent.belief, 0
    if pair.unlisted > 0:
        start = pair_index * belief.path_length
        for _ in range(binomial(agent.rng, number, pair.unlisted / share)):
            y = belief.unlisted[at(start + below(agent.rng, pair.unlisted))]
            drawn = add_loose(agent, drawn, y)
    special, states = max(0, pair.num_special), belief.counts.num_states
    while drawn < number:
        y, other = two_below(agent.rng, states)
        if not is_among(belief, pair.row, special, y):
            drawn = add_loose(agent, drawn, y)
        if drawn < number and not is_among(belief, pair.row, special, other):
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
