"""BFS3's belief: posterior counts, and the transitions on the current path of its search.

Most next states of a pair have the same reward, the pair's common one. The others are special:
they have entries, which come first in the pair's row. A pair with too many special next states
has none marked, and all its next states are drawn at once.
"""

from typing import Any, NamedTuple

import numpy as np

from ...beliefs.flat import FlatDirichlet
from ...builders.model import build_counts, copy
from ...builders.planning import reward_table
from ...kernels.arrays import at, copy_vector
from ...kernels.counts import Counts, add, known_reward
from ...kernels.counts import reset as reset_counts
from ...kernels.jit import cold, inlined
from ...kernels.random.multinomial import first_end
from ...kernels.types import Booleans, Floats, Integers, Records, ShortIntegers
from ...mdps.task import Task

_MAX_ENTRIES = 16  # with more states, the rows of a uniform prior are a background
_MAX_SPECIAL = 8  # with more special next states, a pair's next states are all drawn at once
NO_ENTRY = -1
ALL_AT_ONCE = -1  # instead of a number of special next states: too many

PAIR = np.dtype(
    [
        ("total", "f8"),  # sum of all counts
        ("extra", "f8"),  # transitions on the path
        ("background", "f8"),
        ("common_reward", "f8"),
        ("row", "i4"),  # its first entry
        ("length", "i4"),
        ("num_special", "i2"),  # 0 if there are too many
        ("all_at_once", "i2"),  # whether there are too many: a new node draws all next states
        ("unlisted", "i4"),  # transitions on the path to next states without an entry
        # Where the first special next state ends in the row; see `first_end`.
        ("digits", "u8"),
        ("inside", "f8"),
    ]
)
ENTRY = np.dtype(
    [
        ("count", "f8"),
        ("extra", "f8"),  # transitions on the path
        ("reward", "f8"),
        ("next_state", "i8"),
    ]
)
STATE = np.dtype(
    [
        ("reward", "f8"),  # the highest common reward of its pairs
        ("rival_reward", "f8"),  # the highest of all actions but the best
        ("best", "i4"),  # the first action with the highest reward
        ("is_plain", "i4"),  # whether no pair has special next states
    ]
)


class PathBelief(NamedTuple):
    """Posterior counts, a copy laid out for the search, and room to draw from them."""

    counts: Counts
    initial: Counts
    pair: Records  # [P] of PAIR
    entry: Records  # [pool] of ENTRY
    state: Records  # [S] of STATE
    path_length: int  # L: the longest path
    unlisted: ShortIntegers  # [P * L]; per pair, next states on the path without an entry
    rewards: Floats  # [P * S], or empty where that is too much
    num_special: Integers  # [P]; or ALL_AT_ONCE
    initial_num_special: Integers  # [P]
    most_special: int  # H: special next states per pair, at most
    # Work space: draws of an arm that are not counted by next state yet.
    loose_next: Integers  # [C]
    loose_tally: Integers  # [S]; number of each next state; zero between arms


def build_belief(prior: FlatDirichlet, task: Task, steps: int, branching: int) -> PathBelief:
    """The prior, with room for what is learned, for paths of some steps, and for drawing."""
    common, special, num_special = _special(prior)
    counts = build_counts(prior, task.horizon, prior.num_states > _MAX_ENTRIES, special)
    pairs = np.zeros(len(common), PAIR).view(np.recarray)
    pairs.background, pairs.common_reward = counts.background, common
    return PathBelief(
        counts=copy(counts),
        initial=counts,
        pair=pairs,
        entry=np.zeros(len(counts.entry_count), ENTRY).view(np.recarray),
        state=np.zeros(prior.num_states, STATE).view(np.recarray),
        path_length=steps,
        unlisted=np.zeros(len(common) * steps, np.int32),
        rewards=reward_table(prior),
        num_special=num_special.copy(),
        initial_num_special=num_special,
        most_special=max(1, int(num_special.max())),
        loose_next=np.zeros(branching, np.int64),
        loose_tally=np.zeros(prior.num_states, np.int64),
    )


def _special(prior: FlatDirichlet) -> tuple[Floats, Booleans, Integers]:
    """Each pair's common reward, the transitions with another one, and their number per pair.

    Where there are too many, none is marked and the number is ALL_AT_ONCE.
    """
    rewards, bounds = prior.rewards.mean.at(prior.counts), prior.counts.row_start
    common, number = rewards[bounds[:-1]], np.zeros(len(bounds) - 1, np.int64)
    special = np.zeros(len(rewards), np.bool_)
    lowest, highest = (f.reduceat(rewards, bounds[:-1]) for f in (np.minimum, np.maximum))
    for pair in np.flatnonzero(lowest < highest):
        row = slice(bounds[pair], bounds[pair + 1])
        values, times = np.unique(rewards[row], return_counts=True)
        common[pair] = values[times.argmax()]
        is_special = rewards[row] != common[pair]
        number[pair] = np.count_nonzero(is_special)
        if number[pair] > _MAX_SPECIAL:
            number[pair] = ALL_AT_ONCE
        else:
            special[row] = is_special
    return common, special, number


@inlined
def count(belief: PathBelief, pair: int, y: int, entry: int) -> None:
    """Count a transition on the path."""
    record = belief.pair[at(pair)]
    record.extra += 1
    if entry != NO_ENTRY:
        belief.entry[at(entry)].extra += 1
    else:
        belief.unlisted[at(pair * belief.path_length + record.unlisted)] = y
        record.unlisted += 1
    find_end(belief, record)


@inlined
def take_back(belief: PathBelief, pair: int, entry: int) -> None:
    """Remove the last transition from the path."""
    record = belief.pair[at(pair)]
    record.extra -= 1
    if entry != NO_ENTRY:
        belief.entry[at(entry)].extra -= 1
    else:
        record.unlisted -= 1
    find_end(belief, record)


@inlined
def find_end(belief: PathBelief, pair: Any) -> None:
    """Find where the first special next state of a pair ends in its row."""
    if pair.num_special > 0:
        weight = special_weight(pair, belief.entry[at(pair.row)])
        pair.digits, pair.inside = first_end(pair.total + pair.extra, weight)


@inlined
def special_weight(pair: Any, entry: Any) -> float:
    """The weight of a special next state."""
    return entry.count + entry.extra + pair.background


@cold
def reset(belief: PathBelief) -> None:
    """Back to the prior."""
    reset_counts(belief.counts, belief.initial)
    copy_vector(belief.num_special, belief.initial_num_special)
    for pair in range(len(belief.pair)):
        refresh_pair(belief, pair)
    for x in range(belief.counts.num_states):
        refresh_state(belief, x)


@cold
def learn(belief: PathBelief, x: int, u: int, y: int) -> None:
    """Count a real transition, even one that is impossible under the prior."""
    pair = x * belief.counts.num_actions + u
    length = belief.counts.row_length[pair]
    add(belief.counts, pair, y)
    is_new = belief.counts.row_length[pair] > length
    reward = known_reward(belief.counts, belief.rewards, pair, y)
    if is_new and reward != belief.pair[pair].common_reward:
        make_special(belief, pair)
    refresh_pair(belief, pair)
    refresh_state(belief, x)


@cold
def refresh_pair(belief: PathBelief, pair: int) -> None:
    """Update the search's copy of a pair's row."""
    counts, record = belief.counts, belief.pair[pair]
    record.total = counts.total[pair]
    record.row = counts.row_start[pair]
    record.length = counts.row_length[pair]
    record.all_at_once = belief.num_special[pair] == ALL_AT_ONCE
    record.num_special = 0 if record.all_at_once else belief.num_special[pair]
    for e in range(record.row, record.row + record.length):
        entry = belief.entry[e]
        entry.count, entry.next_state = counts.entry_count[e], counts.entry_next[e]
        entry.reward = known_reward(belief.counts, belief.rewards, pair, entry.next_state)
    find_end(belief, record)


@cold
def refresh_state(belief: PathBelief, x: int) -> None:
    """Update the highest common rewards of a state, and whether it is plain."""
    state, actions = belief.state[x], belief.counts.num_actions
    state.reward = state.rival_reward = -np.inf
    state.is_plain = 1
    for u in range(actions):
        pair = belief.pair[x * actions + u]
        state.is_plain &= pair.num_special == 0 and not pair.all_at_once
        if pair.common_reward > state.reward:
            state.best, state.rival_reward, state.reward = u, state.reward, pair.common_reward
        else:
            state.rival_reward = max(state.rival_reward, pair.common_reward)


@cold
def make_special(belief: PathBelief, pair: int) -> None:
    """Move a pair's last entry to the special ones if there is room."""
    special = belief.num_special[pair]
    if special == belief.most_special:
        belief.num_special[pair] = ALL_AT_ONCE
    elif special != ALL_AT_ONCE:
        state, count = belief.counts.entry_next, belief.counts.entry_count
        here = belief.counts.row_start[pair] + special
        last = belief.counts.row_start[pair] + belief.counts.row_length[pair] - 1
        state[here], state[last] = state[last], state[here]
        count[here], count[last] = count[last], count[here]
        belief.num_special[pair] = special + 1
