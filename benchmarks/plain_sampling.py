"""PSRL, BOSS and SBOSS in plain NumPy, from their pseudo-code."""

from typing import Any

import numpy as np

from brlbench.agents.base import Task
from brlbench.beliefs.flat import FlatDirichlet
from brlbench.mdps.sparse import Floats

Rows = list[list[Floats]]  # [S][A]; each a matrix [K, S] of sampled transition probabilities


def value_iteration(
    rows: Rows, rewards: Floats, discount: float, accuracy: float = 1e-13
) -> Floats:
    """The optimal values [S, A] of the MDP in which every row is an action of its own."""
    num_states, num_actions = len(rows), len(rows[0])
    flat = [rows[x][u] for x in range(num_states) for u in range(num_actions)]
    matrix = np.concatenate(flat)
    first = np.cumsum([0] + [len(part) for part in flat[:-1]])
    pair = np.repeat(np.arange(len(flat)), [len(part) for part in flat])
    expected = (matrix * rewards.reshape(-1, num_states)[pair]).sum(axis=1)
    value, last_change = np.zeros(num_states), np.inf
    while True:
        q = np.maximum.reduceat(expected + discount * matrix @ value, first)
        q = q.reshape(num_states, num_actions)
        change = np.abs(q.max(axis=1) - value).max()
        value = q.max(axis=1)
        # Changes shrink with every sweep until only rounding is left.
        if change <= accuracy * np.abs(value).max() or change >= last_change:
            return q
        last_change = change


def draw_rows(counts: Floats, number: int, rng: np.random.Generator) -> Floats:
    """Rows [number, S] from the Dirichlet of the positive counts [S]."""
    rows = np.zeros((number, len(counts)))
    rows[:, counts > 0] = rng.dirichlet(counts[counts > 0], number)
    return rows


def variances(counts: Floats) -> Floats:
    """The variances of Dirichlet probabilities; rows along the last axis."""
    total = counts.sum(axis=-1, keepdims=True)
    return np.asarray(counts * (total - counts) / (total**2 * (total + 1)))


class PlainSampling:
    """What the three share: counts, rows drawn from them, the best action."""

    def __init__(self, **parameters: Any) -> None:
        self.parameters = parameters

    def train(self, prior: FlatDirichlet, task: Task, rng: np.random.Generator) -> None:
        """Keep the prior."""
        self.prior, self.rewards = prior.counts.to_dense(), prior.rewards.mean.to_dense()
        self.task = task

    def start(self, state: int, rng: np.random.Generator) -> None:
        """Reset the counts."""
        self.counts, self.rng, self.time = self.prior.copy(), rng, 0
        self.observed = np.zeros(self.counts.shape[:2])

    def act(self, state: int) -> int:
        """Draw rows and solve, if it is time to; take the best action."""
        if self.time == 0 or self.is_due():
            rows = [
                [draw_rows(row, int(k), self.rng) for row, k in zip(*both, strict=True)]
                for both in zip(self.counts, self.numbers(), strict=True)
            ]
            self.q = value_iteration(rows, self.rewards, self.task.discount, 1e-9)
            self.last = self.counts.copy()
        self.time += 1
        return int(self.q[state].argmax())

    def observe(self, state: int, action: int, next_state: int, reward: float) -> None:
        """Count."""
        self.counts[state, action, next_state] += 1
        self.observed[state, action] += 1
        self.seen = state, action

    def is_due(self) -> bool:
        """Whether it is time to draw anew."""
        raise NotImplementedError

    def numbers(self) -> Floats:
        """How many rows [S, A] to draw."""
        return np.ones(self.counts.shape[:2])


class PlainPsrl(PlainSampling):
    """Strens (2000)."""

    def is_due(self) -> bool:  # noqa: D102
        if "every" in self.parameters:
            return bool(self.time % self.parameters["every"] == 0)
        return bool(self.rng.random() < self.parameters["resample"])


class PlainBoss(PlainSampling):
    """Asmuth et al. (2009)."""

    def is_due(self) -> bool:  # noqa: D102
        return bool(self.observed[self.seen] == self.parameters["visits"])

    def numbers(self) -> Floats:  # noqa: D102
        return np.full(self.counts.shape[:2], self.parameters["samples"])


class PlainSboss(PlainSampling):
    """Castro and Precup (2010), as in the benchmark's paper, corrected."""

    def is_due(self) -> bool:  # noqa: D102
        return bool((self.moves() > self.parameters["delta"]).any())

    def moves(self) -> Floats:
        """How far [S, A] the means have moved since the last sampling."""
        means = [counts / counts.sum(axis=2, keepdims=True) for counts in (self.counts, self.last)]
        sigma = np.sqrt(variances(self.last))
        terms = np.abs(means[0] - means[1]) / np.where(sigma > 0, sigma, np.inf)
        return np.asarray(terms.sum(axis=2))

    def numbers(self) -> Floats:  # noqa: D102
        rows = np.ceil(variances(self.counts) / self.parameters["epsilon"]).max(axis=2)
        return np.asarray(np.maximum(1, rows))
