"""The strategies for bandits that RL² is compared with.

Arms are Bernoulli, and their probabilities uniform. All strategies start as if each arm had won
once and lost once. Of equal arms they take the first, but for random ones.
"""

import math
from typing import NamedTuple

import numpy as np

from brlbench.kernels.jit import inlined, kernel
from brlbench.kernels.types import Floats

from .legacy import Stream, beta, binomial, choice, random_sample

RANDOM, GREEDY, EPSILON_GREEDY, UCB1, THOMPSON, INDEX = range(6)


class Strategy(NamedTuple):
    """A strategy, and its parameter."""

    kind: int
    parameter: float = 0.0  # epsilon, or the scale of UCB1's bonus


class Bandit(NamedTuple):
    """The probabilities [k] of the arms, their wins and losses so far, and work space."""

    probability: Floats
    wins: Floats
    losses: Floats
    score: Floats


def make_bandit(probability: Floats) -> Bandit:
    """A bandit before its first play."""
    ones = np.ones(len(probability))
    return Bandit(probability, ones, ones.copy(), ones.copy())


@kernel
def play(bandit: Bandit, strategy: Strategy, stream: Stream, sums: Floats) -> None:
    """Play, and fill in the sums of all rewards so far."""
    total = 0.0
    for t in range(len(sums)):
        arm = choose(bandit, strategy, stream, t)
        won = binomial(stream, bandit.probability[arm])
        bandit.wins[arm] += won
        bandit.losses[arm] += 1 - won
        total += won
        sums[t] = total


@inlined
def choose(bandit: Bandit, strategy: Strategy, stream: Stream, t: int) -> int:
    """Choose an arm."""
    kind, score = strategy.kind, bandit.score
    if kind == RANDOM:
        return choice(stream, len(score))
    if kind == EPSILON_GREEDY and random_sample(stream) < strategy.parameter:
        return choice(stream, len(score))
    if kind == UCB1 and t == 0:
        return 0  # the logarithm of no plays
    for k in range(len(score)):
        if kind == THOMPSON:
            score[k] = beta(stream, bandit.wins[k], bandit.losses[k])
        else:
            score[k] = value(bandit, strategy, k, t)
    best = 0
    for k in range(1, len(score)):
        if score[k] > score[best]:
            best = k
    return best


@inlined
def value(bandit: Bandit, strategy: Strategy, k: int, t: int) -> float:
    """What an arm is worth."""
    n = bandit.wins[k] + bandit.losses[k]
    mean = bandit.wins[k] / n
    if strategy.kind == UCB1:
        return mean + strategy.parameter * math.sqrt(2 * math.log(t) / n)
    if strategy.kind == INDEX:  # an approximation of Gittins indices, without discount
        spread = mean * (1 - mean)
        return mean + spread / (n * math.sqrt(spread / n) + mean - 0.5)
    return mean
