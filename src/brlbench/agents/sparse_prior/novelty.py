"""The probabilities of a pair's unseen next states, learned from the novelties of all pairs.

Every unseen state of a pair is in one of some groups, by its relation to the pair's state. When a
pair leads to a state that it never led to before, one of the states on offer is taken. A group's
rate is the share of its states on offer that were taken, smoothed; an unseen state's weight is the
rate of its group.
"""

from typing import NamedTuple

import numpy as np

from ...kernels.arrays import copy_vector
from ...kernels.jit import inlined
from ...kernels.types import Floats, Integers

OTHER, SIBLING, BACK, BOTH, SELF, GROUPS = 0, 1, 2, 3, 4, 5
_SHARED_WEIGHT = 0.3  # of the shared rates in those by action, in novelties
_MOST_ODDS = 1e6


class Novelty(NamedTuple):
    """Counts of novelties; row u of `taken` is for action u, the last one for all."""

    group: Integers  # [S, S]; the relation of y to x
    taken: Floats  # [A + 1, GROUPS]
    offered: Floats  # [A + 1, GROUPS]
    on_offer: Floats  # [GROUPS]; work space: unseen states of a pair
    shared: Floats  # [GROUPS]; work space: the probability of each unseen state of a group
    by_action: Floats  # [GROUPS]; work space: the same by the rates of the action
    odds: Floats  # [1]; that rates differ by action
    initial_odds: Floats  # [1]


def build_novelty(states: int, actions: int, odds: float) -> Novelty:
    """Nothing is known yet."""
    return Novelty(
        group=np.zeros((states, states), np.int64),
        taken=np.zeros((actions + 1, GROUPS)),
        offered=np.zeros((actions + 1, GROUPS)),
        on_offer=np.zeros(GROUPS),
        shared=np.zeros(GROUPS),
        by_action=np.zeros(GROUPS),
        odds=np.array([odds]),
        initial_odds=np.array([odds]),
    )


@inlined
def reset(novelty: Novelty) -> None:
    """Forget all novelties."""
    novelty.group[:] = OTHER
    for x in range(len(novelty.group)):
        novelty.group[x, x] = SELF
    novelty.taken[:] = 0.0
    novelty.offered[:] = 0.0
    copy_vector(novelty.odds, novelty.initial_odds)


@inlined
def set_probabilities(novelty: Novelty, u: int) -> None:
    """Set the probabilities of unseen states, given how many of each group are on offer."""
    states, everyone = len(novelty.group), len(novelty.taken) - 1
    all_shared, all_by_action = 0.0, 0.0
    for group in range(GROUPS):
        rate = (1 + novelty.taken[everyone, group]) / (states + novelty.offered[everyone, group])
        weight = _SHARED_WEIGHT * states
        action_rate = (novelty.taken[u, group] + weight * rate) / (
            novelty.offered[u, group] + weight
        )
        novelty.shared[group], novelty.by_action[group] = rate, action_rate
        all_shared += novelty.on_offer[group] * rate
        all_by_action += novelty.on_offer[group] * action_rate
    if all_shared > 0:
        for group in range(GROUPS):
            novelty.shared[group] /= all_shared
            novelty.by_action[group] /= all_by_action


@inlined
def probability(novelty: Novelty, group: int) -> float:
    """The probability of each unseen state of a group, by both hypotheses together."""
    weight = novelty.odds[0] / (1 + novelty.odds[0])
    chance: float = weight * novelty.by_action[group] + (1 - weight) * novelty.shared[group]
    return chance


@inlined
def learn(novelty: Novelty, x: int, u: int, y: int) -> None:
    """Learn that (x, u) led to y for the first time; the probabilities of its row are set."""
    group, everyone = novelty.group[x, y], len(novelty.taken) - 1
    odds = novelty.odds[0] * novelty.by_action[group] / novelty.shared[group]
    novelty.odds[0] = min(odds, _MOST_ODDS)
    for i in range(GROUPS):
        novelty.offered[u, i] += novelty.on_offer[i]
        novelty.offered[everyone, i] += novelty.on_offer[i]
    novelty.taken[u, group] += 1
    novelty.taken[everyone, group] += 1
    if x != y:
        novelty.group[x, y] |= SIBLING
        novelty.group[y, x] |= BACK
