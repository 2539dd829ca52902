"""BAMCP's roll-out policy: greedy in a Q-function learned from real transitions, or random."""

from typing import Any, NamedTuple

import numpy as np

from ...beliefs.base import Family
from ...builders.planning import build_alias
from ...kernels.arrays import at
from ...kernels.jit import cold, inlined
from ...kernels.random.alias import Alias, build, pick
from ...kernels.random.rng import advance, load, store
from ...kernels.types import Floats, Integers, ShortIntegers, Words
from . import starts as beginnings
from . import urn as urns
from .urn import Urn

SLOTS = 64
SHARED = -1
_UNUSED = np.uint64(64 - 6)  # the 6 highest bits of a word are the number of a slot
_LEARNING_RATE = 0.2


class RolloutPolicy(NamedTuple):
    """A Q-function, and tables that draw the pair of a state and an action by it.

    A state has SLOTS slots of equal probability. A slot belongs to one pair, or is shared by all
    pairs of the state: then an alias table draws one of them. Most belong to one, so most draws
    take a single access.
    """

    num_actions: int
    q: Floats  # [P]
    slots: ShortIntegers  # [S * SLOTS]; the slot's pair, or SHARED
    table: Alias  # [P]; draws a pair for a shared slot
    pairs: Integers  # [P]; all pairs, the table's values
    part: Floats  # [P]; the table's weights: the pair's part of the shared slots
    epsilon: float  # probability of a random action


def build_policy(prior: Family, epsilon: float) -> RolloutPolicy:
    """Room for a policy."""
    pairs = prior.num_states * prior.num_actions
    return RolloutPolicy(
        num_actions=prior.num_actions,
        q=np.zeros(pairs),
        slots=np.zeros(prior.num_states * SLOTS, np.int32),
        table=build_alias(pairs),
        pairs=np.arange(pairs),
        part=np.zeros(pairs),
        epsilon=epsilon,
    )


@inlined
def reset(policy: RolloutPolicy, x: int) -> None:
    """Forget all Q-values: all actions are equally likely."""
    policy.q[:] = 0.0
    for x in range(len(policy.q) // policy.num_actions):
        divide_slots(policy, x)


@inlined
def learn(policy: RolloutPolicy, discount: float, x: int, u: int, y: int, r: float) -> None:
    """Q-learning from one real transition."""
    q, actions = policy.q, policy.num_actions
    pair = x * actions + u
    best = q[y * actions]
    for v in range(1, actions):
        best = max(best, q[y * actions + v])
    error = r + discount * best - q[pair]
    q[pair] += _LEARNING_RATE * error
    divide_slots(policy, x)


@inlined
def begin(policy: RolloutPolicy) -> None:
    """Nothing to prepare for a search."""


@inlined
def value(
    policy: RolloutPolicy,
    urn: Urn,
    starts: Any,
    discount: float,
    x: int,
    states: Integers,
    rewards: Floats,
    length: int,
    rng: Words,
) -> float:
    """The return of a roll-out from x, for the steps left after those in the tree."""
    actions = policy.num_actions
    total, weight = 0.0, 1.0
    state = load(rng)
    for i in range(length, urn.limit):
        word, state = advance(state)
        pair = int(policy.slots[at(x * SLOTS) + (word >> _UNUSED)])
        if pair == SHARED:
            other_word, state = advance(state)
            pair = pick(policy.table, x * actions, actions, other_word)
        x, state = urns.draw_after(urn, pair, word, state)
        urns.push(urn, i, pair, x)
        total += weight * urns.reward(urn, pair, x)
        weight *= discount
        x, state = beginnings.go_on(starts, i, x, state)
    store(rng, state)
    urns.undo(urn, urn.limit)
    return total


@cold
def divide_slots(policy: RolloutPolicy, x: int) -> None:
    """Divide a state's slots: random with probability epsilon, and otherwise greedy."""
    actions, q = policy.num_actions, policy.q
    first, slot = x * actions, x * SLOTS
    best, tied = -np.inf, 0
    for pair in range(first, first + actions):
        if q[pair] > best:
            best, tied = q[pair], 0
        tied += q[pair] == best
    for pair in range(first, first + actions):
        chance = policy.epsilon / actions
        if q[pair] == best:
            chance += (1 - policy.epsilon) / tied
        own = int(chance * SLOTS)
        policy.part[pair] = chance * SLOTS - own
        for i in range(slot, slot + own):
            policy.slots[i] = pair
        slot += own
    for i in range(slot, (x + 1) * SLOTS):
        policy.slots[i] = SHARED
    build(policy.table, policy.pairs, policy.part, first, actions)
