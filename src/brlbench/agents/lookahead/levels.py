"""The beliefs from the root of a search to the present one, and the outcomes of their actions."""

from typing import Any, NamedTuple

from ...kernels.counts import Counts, known_reward
from ...kernels.dispatch import by_type, provide
from ...kernels.families import Flat
from ...kernels.jit import cold, inlined
from ...kernels.solving.model import Model
from ...kernels.types import Booleans, Floats, Integers
from .borders import add_starts


class Levels(NamedTuple):
    """D levels, from the root on, or one if the depth is 0."""

    state: Integers  # [D]
    action: Integers  # [D]; the action that is looked at
    place: Integers  # [D]; number of the outcome that is looked at
    length: Integers  # [D]; number of its outcomes
    is_solved: Booleans  # [D]; whether the outcome changed the solution, which is saved then
    following: Integers  # [D, most outcomes of a pair]; next state of each outcome
    chance: Floats  # of the same shape
    reward: Floats  # of the same shape
    entered: Integers  # of the same shape; the state to act in next, or [0, 0] without episodes
    q: Floats  # [D, A]


class KnownRewards(NamedTuple):
    """Known rewards, and which actions they tell apart."""

    table: Floats  # [P * S], or empty where that is too much
    alike: Integers  # [P]; the first action of the state with the same rewards


@inlined
def enter(levels: Levels, level: int, x: int) -> None:
    """A belief in state x, before its first action."""
    levels.state[level] = x
    levels.action[level] = -1
    levels.place[level] = levels.length[level] = 0


@inlined
def begin_action(levels: Levels, level: int, model: Model, rewards: KnownRewards, u: int) -> None:
    """Look at an action: list its outcomes, none if an earlier action is like it."""
    counts = model.counts
    pair = levels.state[level] * counts.num_actions + u
    levels.action[level], levels.place[level], levels.length[level] = u, 0, 0
    levels.q[level, u] = 0.0
    for v in range(rewards.alike[pair], u):
        if are_alike(counts, rewards, pair - u + v, pair):
            levels.q[level, u] = levels.q[level, v]
            return
    list_outcomes(model.belief, model, levels, level, rewards, pair)
    add_starts(model.plan, levels, level)


@by_type
def list_outcomes(
    belief: Any, model: Model, levels: Levels, level: int, rewards: KnownRewards, pair: int
) -> None:
    """Set the next states of a pair's outcomes, their chances and their rewards."""


def _list_outcomes(
    belief: Any, model: Model, levels: Levels, level: int, rewards: KnownRewards, pair: int
) -> None:
    counts, length = model.counts, 0
    first = counts.row_start[pair]
    for entry in range(first, first + counts.row_length[pair]):
        if counts.entry_count[entry] > 0:
            levels.following[level, length] = counts.entry_next[entry]
            levels.chance[level, length] = counts.entry_count[entry] / counts.total[pair]
            levels.reward[level, length] = model.entry_reward[entry]
            length += 1
    levels.length[level] = length


def _list_outcomes_flat(
    belief: Flat, model: Model, levels: Levels, level: int, rewards: KnownRewards, pair: int
) -> None:
    list_next_states(levels, level, model.counts, rewards, pair)


provide(tuple, {list_outcomes: _list_outcomes})
provide(Flat, {list_outcomes: _list_outcomes_flat})


@inlined
def are_alike(counts: Counts, rewards: KnownRewards, pair: int, other: int) -> bool:
    """Whether two pairs of one state have the same rewards and the same counts."""
    length = counts.row_length[pair]
    if rewards.alike[pair] != rewards.alike[other] or length != counts.row_length[other]:
        return False
    if counts.background[pair] != counts.background[other]:
        return False
    first, other_first = counts.row_start[pair], counts.row_start[other]
    for i in range(length):
        if counts.entry_next[first + i] != counts.entry_next[other_first + i]:
            return False
        if counts.entry_count[first + i] != counts.entry_count[other_first + i]:
            return False
    return True


@cold
def list_next_states(
    levels: Levels, level: int, counts: Counts, rewards: KnownRewards, pair: int
) -> None:
    """Set the next states of a pair, their chances and their rewards."""
    following, chance = levels.following, levels.chance
    first, length = counts.row_start[pair], counts.row_length[pair]
    background, total = counts.background[pair], counts.total[pair]
    if background > 0:
        for y in range(counts.num_states):
            following[level, y], chance[level, y] = y, background / total
        for entry in range(first, first + length):
            chance[level, counts.entry_next[entry]] += counts.entry_count[entry] / total
        length = counts.num_states
    else:
        for i in range(length):
            following[level, i] = counts.entry_next[first + i]
            chance[level, i] = counts.entry_count[first + i] / total
    levels.length[level] = length
    for i in range(length):
        reward = known_reward(counts, rewards.table, pair, following[level, i])
        levels.reward[level, i] = reward
