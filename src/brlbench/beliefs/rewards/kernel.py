"""Unknown rewards, compiled: the belief about each pair's mean, beside one about transitions.

Normal and Beta priors are both as if some rewards had been observed: `weight` is the number of
rewards, those of the prior included, and `total` is their sum. So the expected reward of a pair is
total / weight, and learning is the same for both.

Counts are those of next states, as for known rewards; `counts.reward_sum` is the expected reward
times the total count. So one row of the model changes with each transition, and its solution is
brought up to date at the same cost. A transition that is impossible under the belief about
transitions teaches nothing about rewards.
"""

import math
from typing import Any, NamedTuple

from ...kernels import families
from ...kernels.arrays import copy_vector
from ...kernels.counts import Counts
from ...kernels.counts import spread as spread_of_counts
from ...kernels.families import Flat
from ...kernels.jit import inlined
from ...kernels.practice import Practice, begin_on_counts, draw_next
from ...kernels.random.gamma import gamma, normal
from ...kernels.random.rng import uniform
from ...kernels.solving import endless, sampled
from ...kernels.solving.sampled import Sampled
from ...kernels.types import Floats, Words


class Means(NamedTuple):
    """The beliefs about mean rewards."""

    weight: Floats  # [P]; rewards that the belief is worth
    total: Floats  # [P]; their sum
    deviation: Floats  # [P]; of Gaussian rewards about their mean
    is_binary: bool


class Rewarded(NamedTuple):
    """A belief about transitions, and one about rewards."""

    inner: Any  # Flat or Tied
    means: Means


@inlined
def mean(means: Means, pair: int) -> float:
    """The expected reward of a pair."""
    number: float = means.total[pair] / means.weight[pair]
    return number


@inlined
def learn(means: Means, pair: int, r: float) -> None:
    """Learn from a reward; beyond 0 and 1, binary ones count as these."""
    if means.is_binary:
        r = min(max(r, 0.0), 1.0)
    means.weight[pair] += 1
    means.total[pair] += r


@inlined
def draw_mean(means: Means, pair: int, rng: Words) -> float:
    """Draw the mean reward of a pair."""
    weight: float = means.weight[pair]
    if not means.is_binary:
        deviation: float = means.deviation[pair] / math.sqrt(weight)
        return mean(means, pair) + deviation * normal(rng)
    win = gamma(rng, means.total[pair])
    loss = gamma(rng, weight - means.total[pair])
    if win + loss > 0:
        return win / (win + loss)
    return 1.0 if uniform(rng) < mean(means, pair) else 0.0  # both underflow: it is 0 or 1


@inlined
def draw_reward(means: Means, pair: int, rng: Words) -> float:
    """Draw a reward of an unknown mean."""
    if means.is_binary:
        return 1.0 if uniform(rng) < mean(means, pair) else 0.0
    spread: float = means.deviation[pair] * math.sqrt(1 + 1 / means.weight[pair])
    return mean(means, pair) + spread * normal(rng)


@inlined
def copy_means(means: Means, source: Means) -> None:
    """Take over another belief about the same pairs."""
    copy_vector(means.weight, source.weight)
    copy_vector(means.total, source.total)


@inlined
def spread_of_outcomes(means: Means, counts: Counts, pair: int) -> float:
    """As `counts.spread`, of next states with their rewards; no Gaussian reward comes twice."""
    if not means.is_binary:
        return 1.0
    win = mean(means, pair)
    same = (1 - spread_of_counts(counts, pair)) * (win * win + (1 - win) * (1 - win))
    return max(0.0, 1 - same)


def reset(belief: Rewarded, initial: Rewarded) -> None:
    """Back to the initial belief."""
    families.reset(belief.inner, initial.inner)
    copy_means(belief.means, initial.means)


def count(belief: Rewarded, counts: Counts, pair: int, y: int, r: float) -> int:
    """Learn from a transition and its reward."""
    number = families.count(belief.inner, counts, pair, y, r)
    learn_rewards(belief, counts, pair, r, number)
    return number


@inlined
def learn_rewards(belief: Rewarded, counts: Counts, pair: int, r: float, number: int) -> None:
    """Learn from a reward after `number` pairs' rows changed; keep the expected rewards."""
    if number > 0:
        learn(belief.means, pair, r)
    for i in range(number):
        other = families.changed(belief.inner, pair, i)
        counts.reward_sum[other] = mean(belief.means, other) * counts.total[other]


def count_rewarded(
    belief: Rewarded, counts: Counts, entry_reward: Floats, pair: int, y: int, r: float
) -> int:
    """As `count`; all entries of a pair have its expected reward."""
    number = families.count_rewarded(belief.inner, counts, entry_reward, pair, y, r)
    learn_rewards(belief, counts, pair, r, number)
    first, expected = counts.row_start[pair], mean(belief.means, pair)
    for entry in range(first, first + counts.row_length[pair]):
        entry_reward[entry] = expected
    return number


def observe(
    belief: Rewarded, counts: Counts, entry_reward: Floats, pair: int, y: int, r: float
) -> None:
    """Learn."""
    if families.count_rewarded(belief.inner, counts, entry_reward, pair, y, r) > 0:
        learn(belief.means, pair, r)


def changed(belief: Rewarded, pair: int, i: int) -> int:
    """The i-th pair whose row changed."""
    return families.changed(belief.inner, pair, i)


def overwrites(belief: Rewarded) -> bool:
    """Counts are added to."""
    return False


def revalues(belief: Rewarded) -> bool:
    """All entries of a pair have its expected reward."""
    return True


def spread(belief: Rewarded, counts: Counts, pair: int) -> float:
    """Of next states with their rewards."""
    return spread_of_outcomes(belief.means, counts, pair)


def reward_variance(belief: Rewarded, pair: int) -> float:
    """The variance of Gaussian rewards about their mean, or of a binary one."""
    win = mean(belief.means, pair)
    return win * (1 - win) if belief.means.is_binary else belief.means.deviation[pair] ** 2


def as_flat(belief: Rewarded) -> Rewarded:
    """The same with a flat belief about transitions."""
    return Rewarded(Flat(), belief.means)


def update_solution(belief: Rewarded, model: Any, x: int, u: int, y: int, number: int) -> None:
    """As without rewards: the gain of a row is computed from its new value."""
    endless.update_solution(belief.inner, model, x, u, y, number)


def draw_rows(belief: Rewarded, mdp: Sampled, rng: Words) -> None:
    """Draw the rows of all pairs, and their mean rewards."""
    sampled.draw_rows(belief.inner, mdp, rng)
    for pair in range(len(mdp.rows.reward)):
        mdp.rows.reward[pair] = draw_mean(belief.means, pair, rng)


def begin_trajectory(belief: Rewarded, practice: Practice, rng: Words) -> int:
    """Forget what the last trajectory taught; draw the first state."""
    families.reset(belief, practice.initial_belief)
    return begin_on_counts(practice, rng)


def step_trajectory(
    belief: Rewarded, practice: Practice, pair: int, rng: Words
) -> tuple[int, float]:
    """Draw the next state and the reward from what is known, which has the law of one MDP."""
    y = draw_next(practice.counts, pair, rng)
    r = draw_reward(belief.means, pair, rng)
    families.count(belief, practice.counts, pair, y, r)
    return y, r
