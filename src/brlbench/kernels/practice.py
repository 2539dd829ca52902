"""Trajectories of an agent on MDPs of the prior.

A trajectory's MDP is not drawn: each next state is drawn from counts and then counted itself, a
Polya urn. The law is the same.
"""

from typing import Any, NamedTuple

import numpy as np

from .counts import Counts, add, reward_of
from .counts import reset as reset_counts
from .jit import inlined, kernel
from .loop.environment import scan
from .loop.trajectory import act, observe, reset
from .random.rng import keyed_word, uniform
from .types import Floats, Words


class Practice(NamedTuple):
    """Practice on MDPs of the prior."""

    counts: Counts  # the prior's, and those of this trajectory's transitions
    initial: Counts  # the prior's
    start: Floats  # [S]
    discount: float
    horizon: int
    key: np.uint64  # with the trajectory's number, the key of all randomness


@inlined
def draw_next(counts: Counts, pair: int, rng: Words) -> int:
    """A next state, with probabilities proportional to the counts of the pair."""
    chance = uniform(rng) * counts.total[pair]
    last = counts.num_states - 1
    if counts.background[pair] > 0:
        spread = counts.background[pair] * counts.num_states
        if chance < spread:
            return min(int(chance / counts.background[pair]), last)
        chance -= spread
    first = counts.row_start[pair]
    for entry in range(first, first + counts.row_length[pair]):
        # Rounding may lead past the end: the last possible next state is taken then.
        last = counts.entry_next[entry]
        if chance < counts.entry_count[entry]:
            return last
        chance -= counts.entry_count[entry]
    return last


@inlined
def simulate(agent: Any, practice: Practice, number: int) -> float:
    """Play one trajectory on a fresh MDP; return the discounted sum of rewards."""
    for i in range(len(agent.rng)):
        agent.rng[i] = keyed_word(practice.key, number, i)
    counts, rng = practice.counts, agent.rng
    reset_counts(counts, practice.initial)
    x = scan(practice.start, 0, len(practice.start), uniform(rng))
    reset(agent, x)
    total, weight = 0.0, 1.0
    for _ in range(practice.horizon):
        u = act(agent, x)
        pair = x * counts.num_actions + u
        y = draw_next(counts, pair, rng)
        r = reward_of(counts, pair, y)
        add(counts, pair, y)
        observe(agent, x, u, y, r)
        total += weight * r
        weight *= practice.discount
        x = y
    return total


@kernel
def mean_return(agent: Any, practice: Practice, first: int, trajectories: int) -> float:
    """The mean return of the trajectories numbered from `first`."""
    total = 0.0
    for number in range(first, first + trajectories):
        total += simulate(agent, practice, number)
    return total / trajectories
