"""An urn with unknown rewards, beside one that gives the transitions.

A pair's mean reward belongs to the MDP of a simulation. Of Gaussian rewards, the mean is drawn when
it is first needed and kept until the simulation ends; its draws are the mean itself. Binary rewards
come from a Polya urn, which has the law of a mean that is drawn first: each draw is 1 with the
chance that is expected after the earlier ones.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from ...beliefs.counting import CountingPrior
from ...beliefs.rewards.kernel import Means, copy_means, mean
from ...beliefs.rewards.kernel import learn as learn_reward
from ...builders.belief import build_means
from ...builders.model import copy
from ...kernels.arrays import at
from ...kernels.jit import cold, inlined
from ...kernels.random.rng import State, advance, unit
from ...kernels.types import Floats, Integers, ShortIntegers, Words
from . import urn as urns


class RewardUrn(NamedTuple):
    """The belief about rewards, and what the present simulation has drawn."""

    transitions: Any  # BallUrn, TableUrn or TiedUrn
    means: Means
    initial: Means
    limit: int  # most steps of a simulation
    pair_of: ShortIntegers  # of `transitions`
    simulation: Integers  # [1]; number of the present one
    drawn_in: Integers  # [P]; number of the simulation that the next two belong to
    number: Floats  # [P]; rewards drawn
    total: Floats  # [P]; their sum; of a Gaussian reward, the mean that was drawn
    last: Floats  # [1]; the reward that was drawn last


def build_reward_urn(transitions: Any, prior: CountingPrior) -> RewardUrn:
    """The urn of a prior, beside that of its transitions; it must be reset first."""
    assert prior.reward_prior is not None
    initial = build_means(prior.reward_prior)
    pairs = len(initial.weight)
    return RewardUrn(
        transitions=transitions,
        means=copy(initial),
        initial=initial,
        limit=transitions.limit,
        pair_of=transitions.pair_of,
        simulation=np.zeros(1, np.int64),
        drawn_in=np.zeros(pairs, np.int64),
        number=np.zeros(pairs),
        total=np.zeros(pairs),
        last=np.zeros(1),
    )


def reset(urn: RewardUrn, x: int) -> None:
    """Back to the prior; all MDPs start alike."""
    urns.reset(urn.transitions, x)
    copy_means(urn.means, urn.initial)


def learn(urn: RewardUrn, pair: int, y: int, r: float) -> None:
    """Learn from a real transition; one that is impossible teaches nothing."""
    if urns.allows(urn.transitions, pair, y):
        learn_reward(urn.means, pair, r)
    urns.learn(urn.transitions, pair, y, r)


@inlined
def begin(urn: RewardUrn, rng: Words) -> None:
    """Begin a simulation: forget the rewards of the last one."""
    urns.begin(urn.transitions, rng)
    urn.simulation[0] += 1


@inlined
def draw_reward(urn: RewardUrn, pair: int, state: State) -> State:
    """Draw a reward of a pair."""
    place, means = at(pair), urn.means
    is_new = urn.drawn_in[place] != urn.simulation[0]
    if means.is_binary:
        if is_new:
            urn.drawn_in[place], urn.number[place] = urn.simulation[0], 0.0
            urn.total[place] = 0.0
        word, state = advance(state)
        weight = means.weight[place] + urn.number[place]
        won = unit(word) * weight < means.total[place] + urn.total[place]
        urn.last[0] = 1.0 if won else 0.0
        urn.number[place] += 1
        urn.total[place] += urn.last[0]
    else:
        if is_new:
            urn.drawn_in[place] = urn.simulation[0]
            state = draw_mean(urn, pair, state)
        urn.last[0] = urn.total[place]
    return state


@cold
def draw_mean(urn: RewardUrn, pair: int, state: State) -> State:
    """Draw the mean of a pair's Gaussian rewards."""
    means = urn.means
    word, state = advance(state)
    other, state = advance(state)
    radius = math.sqrt(-2 * math.log(1 - unit(word)))
    variate = radius * math.cos(2 * math.pi * unit(other))
    deviation = means.deviation[pair] / math.sqrt(means.weight[pair])
    urn.total[pair] = mean(means, pair) + deviation * variate
    return state


@inlined
def draw(urn: RewardUrn, pair: int, state: State) -> tuple[int, State]:
    """Draw a next state and a reward."""
    y, state = urns.draw(urn.transitions, pair, state)
    return y, draw_reward(urn, pair, state)


@inlined
def draw_after(urn: RewardUrn, pair: int, word: np.uint64, state: State) -> tuple[int, State]:
    """The same, given a random word whose lower half is not used otherwise."""
    y, state = urns.draw_after(urn.transitions, pair, word, state)
    return y, draw_reward(urn, pair, state)


@inlined
def push(urn: RewardUrn, draws: int, pair: int, y: int) -> None:
    """Let the last next state count for later draws; its reward does already."""
    urns.push(urn.transitions, draws, pair, y)


@inlined
def undo(urn: RewardUrn, draws: int) -> None:
    """Take back all draws of next states; those of rewards end with the simulation."""
    urns.undo(urn.transitions, draws)


@inlined
def reward(urn: RewardUrn, pair: int, y: int) -> float:
    """The reward that was drawn last."""
    number: float = urn.last[0]
    return number


@inlined
def outcome(urn: RewardUrn, pair: int, y: int) -> int:
    """The next state and, if it is binary, the reward that was drawn last, as one number."""
    return real_outcome(urn, pair, y, urn.last[0])


@inlined
def real_outcome(urn: RewardUrn, pair: int, y: int, r: float) -> int:
    """The same of a real transition."""
    if urn.means.is_binary and r > 0.5:
        return y + len(urn.means.weight)
    return y
