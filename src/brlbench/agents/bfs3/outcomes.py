"""The next states that BFS3 draws for an arm: C of them, from the mean of its belief.

Until an arm is taken, its bounds depend on its draws only through their mean reward. A new node
therefore draws only how often each special next state comes. When an arm is first taken, its
remaining draws are shared among the common next states.

The listed next states have entries. Loose draws come from the background, or copy a next state of
the path that has no entry; some of them may be listed, too.
"""

from typing import Any, NamedTuple

from ...kernels.arrays import at
from ...kernels.counts import known_reward
from ...kernels.jit import inlined
from ...kernels.random.multinomial import (
    FEW,
    NOTHING_SHARED,
    Draws,
    has_digits,
    new_draws,
    share_first,
    share_next,
    skip_draws,
)
from ...kernels.random.rng import State, advance, two_below, unit
from .belief import NO_ENTRY, PathBelief, special_weight
from .tree import EDGES, NO_OUTCOME, NOT_FOLLOWED, OUTCOMES, Trees


class Added(NamedTuple):
    """The outcomes of an arm that are added so far."""

    end: int  # where the next one goes
    widest: int  # the one drawn most often; of several, the lowest next state
    next_state: int  # of the widest
    entry: int
    rank: int  # of the widest: orders outcomes by times drawn, then by next state
    times: int  # draws of the widest
    rival_times: int  # draws of the runner-up


class Left(NamedTuple):
    """The remaining draws of an arm."""

    number: int
    weight: float  # of the next states that they fall on


@inlined
def draw_special(
    tree: Trees, belief: PathBelief, branching: int, arm: int, pair: Any, state: State
) -> tuple[float, State]:
    """Draw the number of each special next state of an arm; return the sum of all C rewards."""
    draws, state = new_draws(state, branching, pair.total + pair.extra)
    first = arm * belief.most_special
    entry = belief.entry[at(pair.row)]
    weight = special_weight(pair, entry)
    if has_digits(branching):
        shared, state = share_first(state, draws, weight, pair.digits, pair.inside)
    else:
        shared, state = share_next(state, draws, NOTHING_SHARED, weight)
    tree.special_times[at(first)] = shared.number
    total = shared.number * entry.reward
    for i in range(1, pair.num_special):
        entry, before = belief.entry[at(pair.row + i)], shared.number
        shared, state = share_next(state, draws, shared, special_weight(pair, entry))
        times = shared.number - before
        tree.special_times[at(first + i)] = times
        total += times * entry.reward
    return total + (branching - shared.number) * pair.common_reward, state


@inlined
def draw_all(
    tree: Trees, belief: PathBelief, branching: int, arm: int, pair: int, state: State
) -> tuple[int, float, State]:
    """Draw all next states of an arm at once; return its edge and the sum of all rewards."""
    total = 0.0
    e, _, state = draw_edge(tree, belief, branching, arm, pair, state)
    edge = tree.edge[at(e)]
    for i in range(edge.first, edge.end):
        outcome = tree.outcome[at(i)]
        y = outcome.next_state
        total += outcome.times * known_reward(belief.counts, belief.rewards, pair, y)
    return e, total, state


@inlined
def draw_edge(
    tree: Trees, belief: PathBelief, branching: int, arm: int, pair_index: int, state: State
) -> tuple[int, Added, State]:
    """Make an arm's edge, whose reward and bounds are still to be set, and its outcomes.

    Return the edge, and what was added.
    """
    e, first = tree.size[EDGES], tree.size[OUTCOMES]
    added, state = draw_next(tree, belief, branching, arm, pair_index, True, state)
    edge = tree.edge[at(e)]
    edge.first, edge.end, edge.widest, edge.pair = first, added.end, NO_OUTCOME, pair_index
    tree.size[EDGES], tree.size[OUTCOMES] = e + 1, added.end
    return e, added, state


@inlined
def draw_next(
    tree: Trees,
    belief: PathBelief,
    branching: int,
    arm: int,
    pair_index: int,
    keeps: bool,
    state: State,
) -> tuple[Added, State]:
    """Draw an arm's next states, except the special ones, which are drawn already.

    They are kept in the tree, behind all others, or only counted.
    """
    pair = belief.pair[at(pair_index)]
    added, left = add_special(tree, belief, branching, arm, pair, keeps)
    loose = 0
    if pair.background > 0 or pair.unlisted > 0:
        background = pair.background * (belief.counts.num_states - pair.num_special)
        loose, state = draw_loose(belief, pair, pair_index, left, background, state)
        left = Left(number=left.number - loose, weight=left.weight - (background + pair.unlisted))
    if loose == 0 and pair.length == pair.num_special + 1:
        # All that is left falls on one next state.
        state, i = skip_draws(state, left.number), pair.row + pair.num_special
        y = belief.entry[at(i)].next_state
        added = add_outcome(tree, belief, added, y, i, left.number, keeps)
    elif pair.length > pair.num_special:
        added, state = draw_listed(tree, belief, added, pair, left, keeps, state)
    for i in range(loose):
        added = add_with_loose(tree, belief, added, belief.loose_next[at(i)], NO_ENTRY, 0, keeps)
    return added, state


@inlined
def add_special(
    tree: Trees, belief: PathBelief, branching: int, arm: int, pair: Any, keeps: bool
) -> tuple[Added, Left]:
    """Begin an arm's outcomes with the special ones; return also what is left to draw."""
    first = tree.size[OUTCOMES]
    # The rank is that of an outcome that was never drawn.
    added = Added(
        end=first,
        widest=first,
        next_state=0,
        entry=NO_ENTRY,
        rank=belief.counts.num_states,
        times=0,
        rival_times=0,
    )
    number, weight = branching, pair.total + pair.extra
    for i in range(pair.num_special):
        entry = belief.entry[at(pair.row + i)]
        times = tree.special_times[at(arm * belief.most_special + i)]
        added = add_outcome(tree, belief, added, entry.next_state, pair.row + i, times, keeps)
        number -= times
        weight -= special_weight(pair, entry)
    return added, Left(number=number, weight=weight)


@inlined
def draw_listed(
    tree: Trees,
    belief: PathBelief,
    added: Added,
    pair: Any,
    left: Left,
    keeps: bool,
    state: State,
) -> tuple[Added, State]:
    """Share what is left to draw among the entries that are not special."""
    first, end = pair.row + pair.num_special, pair.row + pair.length
    draws, state = new_draws(state, left.number, left.weight)
    if left.number <= FEW:
        return find_listed(tree, belief, added, first, end, draws, keeps), state
    shared = NOTHING_SHARED
    for i in range(first, end - 1):
        entry, before = belief.entry[at(i)], shared.number
        shared, state = share_next(state, draws, shared, entry.count + entry.extra)
        times = shared.number - before
        added = add_with_loose(tree, belief, added, entry.next_state, i, times, keeps)
    # The last entry takes the rest, so that rounding loses no draw.
    y = belief.entry[at(end - 1)].next_state
    times = left.number - shared.number
    return add_with_loose(tree, belief, added, y, end - 1, times, keeps), state


@inlined
def find_listed(
    tree: Trees,
    belief: PathBelief,
    added: Added,
    first: int,
    end: int,
    draws: Draws,
    keeps: bool,
) -> Added:
    """Find the entries on which one or two draws fall."""
    weight, one, other = 0.0, first, first
    for i in range(first, end - 1):
        entry = belief.entry[at(i)]
        weight += entry.count + entry.extra
        one += draws.first >= weight
        other += draws.second >= weight
    if draws.number > 0:
        y, times = belief.entry[at(one)].next_state, 1
        if draws.number > 1 and other == one:
            times = 2
        added = add_with_loose(tree, belief, added, y, one, times, keeps)
        if draws.number > times:
            y = belief.entry[at(other)].next_state
            added = add_with_loose(tree, belief, added, y, other, 1, keeps)
    return added


@inlined
def draw_loose(
    belief: PathBelief, pair: Any, pair_index: int, left: Left, background: float, state: State
) -> tuple[int, State]:
    """Draw next states from the background and from the path; return how many are drawn."""
    has_listed = pair.length > pair.num_special
    if not has_listed and pair.unlisted == 0:
        return left.number, draw_background(belief, pair, left.number, state)
    draws, state = new_draws(state, left.number, left.weight)
    shared, state = share_next(state, draws, NOTHING_SHARED, background)
    state = draw_background(belief, pair, shared.number, state)
    if pair.unlisted == 0:
        return shared.number, state
    number = left.number
    if has_listed:
        both, state = share_next(state, draws, shared, pair.unlisted)
        number = both.number
    start = pair_index * belief.path_length
    for i in range(shared.number, number):
        word, state = advance(state)
        y = belief.unlisted[at(start + int(unit(word) * pair.unlisted))]
        add_loose(belief, i, y)
    return number, state


@inlined
def draw_background(belief: PathBelief, pair: Any, number: int, state: State) -> State:
    """Draw next states that are not special, uniformly."""
    drawn = 0
    while drawn < number:
        y, other, state = two_below(state, belief.counts.num_states)
        if not is_special(belief, pair, y):
            drawn = add_loose(belief, drawn, y)
        if drawn < number and not is_special(belief, pair, other):
            drawn = add_loose(belief, drawn, other)
    return state


@inlined
def is_special(belief: PathBelief, pair: Any, y: int) -> bool:
    """Whether a next state is among a pair's special ones."""
    is_listed = False
    for i in range(pair.row, pair.row + pair.num_special):
        is_listed |= belief.entry[at(i)].next_state == y
    return is_listed


@inlined
def add_loose(belief: PathBelief, drawn: int, y: int) -> int:
    """Add a loose draw; return how many there are."""
    belief.loose_next[at(drawn)] = y
    belief.loose_tally[at(y)] += 1
    return drawn + 1


@inlined
def add_with_loose(
    tree: Trees, belief: PathBelief, added: Added, y: int, entry: int, times: int, keeps: bool
) -> Added:
    """`add_outcome`; its loose draws count, too."""
    times += belief.loose_tally[at(y)]
    belief.loose_tally[at(y)] = 0
    return add_outcome(tree, belief, added, y, entry, times, keeps)


@inlined
def add_outcome(
    tree: Trees, belief: PathBelief, added: Added, y: int, entry: int, times: int, keeps: bool
) -> Added:
    """Add an outcome if it was drawn."""
    if keeps:
        outcome = tree.outcome[at(added.end)]
        outcome.next_state = y
        outcome.entry = entry
        outcome.times = times
        outcome.child_kind = NOT_FOLLOWED
    rank = (times + 1) * belief.counts.num_states - y
    is_widest = rank > added.rank
    return Added(
        end=added.end + (times > 0),
        widest=added.end if is_widest else added.widest,
        next_state=y if is_widest else added.next_state,
        entry=entry if is_widest else added.entry,
        rank=max(rank, added.rank),
        times=max(times, added.times),
        rival_times=max(added.rival_times, min(times, added.times)),
    )
