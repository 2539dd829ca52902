"""PSRL, BOSS and SBOSS as plainly as can be, from their pseudo-code: the yardstick in tests."""

from typing import Any

import numpy as np

from brlbench.agents import describe
from brlbench.agents.base import Agent, Task
from brlbench.mdps.dirichlet import FlatDirichlet
from brlbench.mdps.sparse import Floats
from brlbench.problems import distribution
from brlbench.protocol.evaluate import evaluate
from brlbench.protocol.experiment import Experiment

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
        # Changes shrink from turn to turn until they are rounding.
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


class Reference:
    """What the three have in common: counts, rows drawn from them, the best action."""

    def __init__(self, **parameters: Any) -> None:
        self.parameters = parameters

    def train(self, prior: FlatDirichlet, task: Task, rng: np.random.Generator) -> None:
        self.prior, self.rewards = prior.counts.to_dense(), prior.rewards.mean.to_dense()
        self.task = task

    def start(self, state: int, rng: np.random.Generator) -> None:
        self.counts, self.rng, self.time = self.prior.copy(), rng, 0
        self.observed = np.zeros(self.counts.shape[:2])

    def act(self, state: int) -> int:
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
        self.counts[state, action, next_state] += 1
        self.observed[state, action] += 1
        self.seen = state, action

    def is_due(self) -> bool:
        """Whether it is time to draw anew."""
        raise NotImplementedError

    def numbers(self) -> Floats:
        """How many rows [S, A] to draw."""
        return np.ones(self.counts.shape[:2])


class Psrl(Reference):
    """Strens (2000)."""

    def is_due(self) -> bool:
        if "every" in self.parameters:
            return bool(self.time % self.parameters["every"] == 0)
        return bool(self.rng.random() < self.parameters["resample"])


class Boss(Reference):
    """Asmuth et al. (2009)."""

    def is_due(self) -> bool:
        return bool(self.observed[self.seen] == self.parameters["visits"])

    def numbers(self) -> Floats:
        return np.full(self.counts.shape[:2], self.parameters["samples"])


class Sboss(Reference):
    """Castro and Precup (2010), as in the benchmark's paper, corrected."""

    def is_due(self) -> bool:
        return bool((self.moves() > self.parameters["delta"]).any())

    def moves(self) -> Floats:
        """How far [S, A] the means have moved since the last sampling."""
        means = [counts / counts.sum(axis=2, keepdims=True) for counts in (self.counts, self.last)]
        sigma = np.sqrt(variances(self.last))
        terms = np.abs(means[0] - means[1]) / np.where(sigma > 0, sigma, np.inf)
        return np.asarray(terms.sum(axis=2))

    def numbers(self) -> Floats:
        rows = np.ceil(variances(self.counts) / self.parameters["epsilon"]).max(axis=2)
        return np.asarray(np.maximum(1, rows))


def small_priors() -> list[FlatDirichlet]:
    """One with up to two outcomes a pair, one with more of them and unequal counts."""
    rng = np.random.default_rng(8)
    counts = rng.uniform(0.2, 2, (3, 2, 3))
    counts[1, 0, 2] = 0
    return [distribution("GC"), FlatDirichlet(counts, rng.uniform(-1, 2, counts.shape))]


def draws(agent: Any, prior: FlatDirichlet, transitions: list[tuple[int, int, int]]) -> list[int]:
    """At which acts an agent draws rows, if these transitions are observed after each."""
    agent.train(prior, Task(0.95, len(transitions)), np.random.default_rng(0))
    agent.start(0, np.random.default_rng(1))
    rows, times = agent.arrays.merged.sample.rows, []
    for time, (x, u, y) in enumerate(transitions):
        before = rows.copy()
        agent.act(x)
        if (rows != before).any():
            times.append(time)
        agent.observe(x, u, y, 0.0)
    return times


def assert_same_law(agent: Agent, plain: Reference) -> None:
    """Two agents have the same mean return, by the differences on the same MDPs."""
    for prior in small_priors():
        experiment = Experiment(prior, prior, num_mdps=200, discount=0.7, horizon=16)
        difference = evaluate(agent, experiment).returns - evaluate(plain, experiment).returns
        z = difference.mean() / (difference.std(ddof=1) / np.sqrt(len(difference)))
        print(f"{describe(agent)} against a plain one: z = {z:.2f}")
        assert abs(z) < 4
