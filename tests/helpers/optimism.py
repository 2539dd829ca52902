"""Priors for agents that are optimistic, and plain solutions of what they are defined by."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from brlbench.agents.base import Task
from brlbench.beliefs.flat import FlatDirichlet
from brlbench.mdps.sparse import Floats
from brlbench.problems import distribution
from brlbench.streams import generator

GOOD, BAD = 1, 2  # states of `gamble`
GAMBLE, STAY = 0, 1  # actions in its first state
Operator = Callable[[Floats], Floats]
"""From what transitions are worth [S, A, S] to Q-values [S, A]."""


def random_prior(seed: int) -> FlatDirichlet:
    """Sparse and dense rows, certain and uniform ones, with rewards of both signs."""
    rng = np.random.default_rng(seed)
    counts = rng.uniform(0.1, 2, (5, 3, 5)) * (rng.random((5, 3, 5)) < rng.random((5, 3, 1)))
    counts[0, 0] = 0.5
    counts[np.arange(5), 1, rng.integers(0, 5, 5)] += 0.3
    counts[:, 0, 0] += 0.5
    counts[:, 2, 4] += 0.5
    return FlatDirichlet(counts, rng.normal(size=counts.shape))


def gamble(stake: float) -> FlatDirichlet:
    """Stay for `stake` per step, or go for ever to GOOD, which pays 1, or to BAD, which pays 0.

    The counts of a gamble are 1 for GOOD and 2 for BAD; all else is certain and has a count of 1.
    """
    counts, rewards = np.zeros((3, 2, 3)), np.zeros((3, 2, 3))
    counts[0, GAMBLE, GOOD], counts[0, GAMBLE, BAD] = 1, 2
    counts[0, STAY, 0] = counts[GOOD, :, GOOD] = counts[BAD, :, BAD] = 1
    rewards[0, STAY] = stake
    rewards[GOOD] = 1
    return FlatDirichlet(counts, rewards)


def assert_gambles_below(worth: float, make: Callable[[], Any], q_stay: float = 0.0) -> None:
    """An agent gives the gamble this Q-value, and takes it up to the stake that is worth as much.

    Staying for ever pays 20 times its stake at a discount of 0.95, and `q_stay` more.
    """
    break_even = (worth - q_stay) / 20
    for stake, expected in ((break_even - 1e-6, GAMBLE), (break_even + 1e-6, STAY)):
        agent = make()
        agent.train(gamble(stake), Task(0.95, 10), generator("train"))
        agent.start(0, generator("start"))
        assert agent.arrays.model.q[GAMBLE] == pytest.approx(worth)
        assert agent.act(0) == expected


def value_iteration(rewards: Floats, discount: float, operator: Operator) -> Floats:
    """The Q-values [S, A] of a problem with rewards [S, A, S], to within rounding."""
    q = np.zeros(rewards.shape[:2])
    for _ in range(int(np.log(1e-14) / np.log(discount)) + 1):
        q = operator(rewards + discount * q.max(axis=1))
    return q


def with_spread(posterior: FlatDirichlet, discount: float, kappa: float, decay: float) -> Floats:
    """Q = mean of x + kappa * deviation of x * (n + 1)^-decay, for x = r + discount * V."""
    counts = posterior.counts.to_dense()
    total: Floats = counts.sum(axis=2)
    p = counts / total[:, :, None]

    def operator(x: Floats) -> Floats:
        mean: Floats = (p * x).sum(axis=2)
        variance: Floats = (p * (x - mean[:, :, None]) ** 2).sum(axis=2)
        return mean + kappa * np.sqrt(variance) * (total + 1) ** -decay

    return value_iteration(posterior.rewards.mean.to_dense(), discount, operator)


CASES = [
    (random_prior(1), 0.3),
    (random_prior(2), 5.0),
    (distribution("uniform:GDL"), 0.3),
    (distribution("Grid"), 2.0),
]
"""Priors, with sizes of optimism."""
