"""Tied beliefs beyond counts: a transition of one pair counts for its whole group.

Rows of a group have the same counts, in another order. A transition that is impossible under the
prior belongs to no outcome and teaches nothing, so rows keep their places.
"""

from typing import Any, NamedTuple

from ...kernels.arrays import at
from ...kernels.counts import Counts
from ...kernels.jit import inlined
from ...kernels.solving import endless, sampled
from ...kernels.solving.sampled import Sampled
from ...kernels.types import Floats, Integers, Words

NO_ENTRY = -1


class Tied(NamedTuple):
    """Which pairs share a row, and which of their entries belong together."""

    group: Integers  # [P]
    member_start: Integers  # [G + 1]
    member: Integers  # [P]; the pairs of a group, one group after the other
    outcome: Integers  # [E]; of each entry: the number of its outcome in the group
    place: Integers  # [E]; at `row_start + outcome`: the outcome's place in the pair's row
    reward: Floats  # [E]; of each entry


@inlined
def find_entry(counts: Counts, pair: int, y: int) -> int:
    """The pair's entry for a next state, or NO_ENTRY."""
    first = counts.row_start[pair]
    for entry in range(first, first + counts.row_length[pair]):
        if counts.entry_next[entry] == y:
            return int(entry)
    return NO_ENTRY


@inlined
def size_of_group(belief: Tied, pair: int) -> int:
    """The number of pairs that share the pair's row."""
    group = belief.group[pair]
    return int(belief.member_start[group + 1] - belief.member_start[group])


def reset(belief: Tied, initial: Tied) -> None:
    """Nothing to do: ties never change."""


@inlined
def learn(belief: Tied, counts: Counts, pair: int, y: int) -> int:
    """Count the outcome for all pairs of the group; return how many they are."""
    entry = find_entry(counts, pair, y)
    if entry == NO_ENTRY:
        return 0
    outcome, group = belief.outcome[entry], belief.group[pair]
    for i in range(belief.member_start[group], belief.member_start[group + 1]):
        row = at(belief.member[i])
        first = counts.row_start[row]
        shared = at(first + belief.place[first + outcome])
        counts.total[row] += 1
        counts.reward_sum[row] += belief.reward[shared]
        counts.entry_count[shared] += 1
    return size_of_group(belief, pair)


def count(belief: Tied, counts: Counts, pair: int, y: int, r: float) -> int:
    """Learn."""
    return learn(belief, counts, pair, y)


def count_rewarded(
    belief: Tied, counts: Counts, entry_reward: Floats, pair: int, y: int, r: float
) -> int:
    """Learn; entries never move, so their rewards stay."""
    return learn(belief, counts, pair, y)


def observe(
    belief: Tied, counts: Counts, entry_reward: Floats, pair: int, y: int, r: float
) -> None:
    """Learn."""
    learn(belief, counts, pair, y)


def save_belief(belief: Tied, saved: Any, k: int) -> None:
    """Nothing to save: ties never change."""


def restore_belief(belief: Tied, saved: Any, k: int) -> None:
    """Nothing to restore."""


def changed(belief: Tied, pair: int, i: int) -> int:
    """The i-th pair of the group."""
    return int(belief.member[belief.member_start[belief.group[pair]] + i])


def overwrites(belief: Tied) -> bool:
    """Counts are added to."""
    return False


def update_solution(belief: Tied, model: Any, x: int, u: int, y: int, number: int) -> None:
    """A pair that shares its row with none is that of a flat prior."""
    if number == 1:
        endless.update_one(model, x, u, y)
    elif number > 1:
        endless.update_rows(model, x * model.counts.num_actions + u, number)


def draw_rows(belief: Tied, mdp: Sampled, rng: Words) -> None:
    """Draw the row of each group's first pair; the others have its probabilities."""
    for pair in range(len(mdp.rows.start)):
        sampled.place_row(mdp, pair)
        first_member = belief.member[belief.member_start[belief.group[pair]]]
        if pair == first_member:
            sampled.draw_single(mdp, pair, rng)
        else:
            copy_row(belief, mdp, first_member, pair)


@inlined
def copy_row(belief: Tied, mdp: Sampled, drawn: int, pair: int) -> None:
    """Give a pair the probabilities of another one of its group."""
    source, target = mdp.rows.start[drawn], mdp.rows.start[pair]
    for outcome in range(mdp.rows.length[pair]):
        chance = mdp.rows.probability[source + belief.place[source + outcome]]
        mdp.rows.probability[target + belief.place[target + outcome]] = chance
    sampled.set_reward(mdp, pair)
