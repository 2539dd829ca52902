"""Trajectories of an agent on MDPs of the prior.

Under priors with counts, a trajectory's MDP is not drawn: each next state is drawn from counts and
then counted itself, a Polya urn. The law is the same. Other families draw the MDP.
"""

from typing import Any, NamedTuple

import numpy as np

from . import families
from .counts import Counts, reward_of
from .counts import reset as reset_counts
from .dispatch import by_type, provide
from .jit import inlined, kernel
from .loop.environment import scan
from .loop.trajectory import act, observe, reset
from .random.rng import keyed_word, uniform
from .types import Floats, Integers, Words


class Practice(NamedTuple):
    """Practice on MDPs of the prior."""

    belief: Any  # what this trajectory teaches, see `families`
    initial_belief: Any  # the prior's
    counts: Counts  # the prior's, and those of this trajectory's transitions
    initial: Counts  # the prior's
    drawn: Integers  # [1]; which MDP is played, for families that draw it
    start: Floats  # [S]
    discount: float
    horizon: int
    episode: int  # decisions from one start state to the next; the horizon without episodes
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


@by_type
def begin_trajectory(belief: Any, practice: Practice, rng: Words) -> int:  # type: ignore[empty-body]
    """Begin on a fresh MDP; return its first state."""


@by_type
def start_episode(belief: Any, practice: Practice, rng: Words) -> int:  # type: ignore[empty-body]
    """Begin another episode on the same MDP; return its first state."""


@by_type
def step_trajectory(belief: Any, practice: Practice, pair: int, rng: Words) -> tuple[int, float]:  # type: ignore[empty-body]
    """Draw the next state and the reward."""


@inlined
def begin_on_counts(practice: Practice, rng: Words) -> int:
    """Forget the transitions of the last trajectory; draw the first state."""
    reset_counts(practice.counts, practice.initial)
    return draw_start(practice, rng)


@inlined
def draw_start(practice: Practice, rng: Words) -> int:
    """Draw a start state."""
    return scan(practice.start, 0, len(practice.start), uniform(rng))


def _start_episode(belief: Any, practice: Practice, rng: Words) -> int:
    return draw_start(practice, rng)


def _begin(belief: Any, practice: Practice, rng: Words) -> int:
    return begin_on_counts(practice, rng)


def _step(belief: Any, practice: Practice, pair: int, rng: Words) -> tuple[int, float]:
    counts = practice.counts
    y = draw_next(counts, pair, rng)
    r = reward_of(counts, pair, y)
    families.count(belief, counts, pair, y, r)
    return y, r


provide(tuple, {begin_trajectory: _begin, start_episode: _start_episode, step_trajectory: _step})


@inlined
def simulate(agent: Any, practice: Practice, number: int) -> float:
    """Play one trajectory on a fresh MDP; return the discounted sum of rewards."""
    for i in range(len(agent.rng)):
        agent.rng[i] = keyed_word(practice.key, number, i)
    belief, rng = practice.belief, agent.rng
    x = begin_trajectory(belief, practice, rng)
    reset(agent, x)
    total, weight = 0.0, 1.0
    for t in range(practice.horizon):
        if t > 0 and t % practice.episode == 0:
            x = start_episode(belief, practice, rng)
        u = act(agent, x)
        y, r = step_trajectory(belief, practice, x * practice.counts.num_actions + u, rng)
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
