"""Agents that plan from their visits alone, step by step beside a plain reference."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from brlbench.agents.base import Task
from brlbench.beliefs.flat import FlatDirichlet
from brlbench.beliefs.rewards import BernoulliRewards, NormalRewards
from brlbench.kernels.types import Booleans
from brlbench.mdps.mdp import MDP
from brlbench.mdps.sparse import Floats
from brlbench.streams import generator

from .reference import assert_close, best

DISCOUNT, EPISODE = 0.6, 4


class Seen(NamedTuple):
    """What was seen until a plan was made; pairs without visits have the prior's mean."""

    visits: Floats  # [S, A]
    row: Floats  # [S, A, S]
    reward: Floats  # [S, A, S]; expected
    is_possible: Booleans  # [S, A, S]
    time: int


Operator = Callable[[Seen, Floats, int | None], Floats]
"""From what was seen, next values [S] and decisions left, to optimistic Q-values [S, A]."""


def priors() -> dict[str, FlatDirichlet]:
    """Sparse rows with known rewards of both signs, and with unknown ones."""
    rng = np.random.default_rng(4)
    counts = rng.uniform(0.2, 1.5, (4, 3, 4)) * (rng.random((4, 3, 4)) < 0.7)
    counts[:, :, 1] += 0.3
    normal = NormalRewards(rng.normal(size=(4, 3)), 1.0, rng.uniform(0.5, 1, (4, 3)))
    return {
        "known": FlatDirichlet(counts, rng.normal(size=counts.shape)),
        "binary": FlatDirichlet(counts, BernoulliRewards(rng.uniform(0.5, 2, (4, 3)), 1.0)),
        "normal": FlatDirichlet(counts, normal),
    }


class Memory:
    """All transitions so far, in plain arrays."""

    def __init__(self, prior: FlatDirichlet) -> None:
        mean = prior.mean()
        self.number = np.zeros(prior.counts.shape)
        self.total = np.zeros(prior.counts.shape[:2])
        self.mean, self.reward = mean.transitions.to_dense(), mean.rewards.mean.to_dense()
        self.is_possible = prior.counts.to_dense() > 0
        self.has_known_rewards = prior.known_rewards is not None

    def seen(self, time: int) -> Seen:
        """A summary."""
        visits = self.number.sum(axis=2)
        with np.errstate(invalid="ignore"):
            row = np.where(visits[..., None] > 0, self.number / visits[..., None], self.mean)
            paid = np.where(visits > 0, self.total / visits, self.reward.max(axis=2))
        if not self.has_known_rewards:
            at_start = np.where(self.is_possible, self.reward, -np.inf).max(axis=2)
            paid = np.where(visits > 0, paid, at_start)
        reward = self.reward if self.has_known_rewards else np.repeat(paid[..., None], 4, axis=2)
        return Seen(visits, row, reward, self.is_possible, time)

    def learn(self, x: int, u: int, y: int, r: float) -> None:
        """Keep a transition."""
        self.number[x, u, y] += 1
        self.total[x, u] += r


def solve(seen: Seen, operator: Operator, left: int | None) -> Floats:
    """The optimistic Q-values, with so many decisions left or without end."""
    value: Floats = np.zeros(seen.visits.shape[0])
    rounds = int(np.log(1e-13) / np.log(DISCOUNT)) if left is None else left
    for n in range(1, rounds + 1):
        q = operator(seen, value, None if left is None else n)
        value = q.max(axis=1)
    return q


def assert_plays_as(
    agent: Any,
    prior: FlatDirichlet,
    operator: Operator,
    in_episodes: bool,
    steps: int = 60,
    tolerance: float = 1e-8,
) -> None:
    """At each step of a trajectory, the agent's Q-values are the reference's, and so is its action.

    Without episodes, both plan anew before a pair is taken whose visits have doubled.
    """
    discount = 1.0 if in_episodes else DISCOUNT
    mdp, rng = prior.sample(generator("visits", "MDP")), np.random.default_rng(1)
    agent.train(prior, Task(discount, steps, episode=EPISODE if in_episodes else None), rng)
    agent.start(0, generator("visits", "start"))
    memory, x = Memory(prior), 0
    seen = memory.seen(1)
    plan = solve(seen, operator, EPISODE if in_episodes else None)
    for t in range(steps):
        left = EPISODE - t % EPISODE if in_episodes else None
        if in_episodes and (agent.replan == "step" or t % EPISODE == 0):
            seen = memory.seen(t // EPISODE + 1)
        if in_episodes:
            plan = solve(seen, operator, left)
        assert_close(agent.arrays.model.q, plan, tolerance)
        before = seen.visits[x]
        doubled = memory.number[x].sum(axis=1) - before >= np.maximum(1, before)
        tied = best(plan[x])
        u = agent.act(x)
        if not in_episodes and _has_planned(agent, memory):
            assert doubled[tied].any()
            seen = memory.seen(t + 1)
            plan = solve(seen, operator, None)
            assert_close(agent.arrays.model.q, plan, tolerance)
        else:
            assert in_episodes or not doubled[tied].all()
        assert u in best(plan[x])
        y, r = step(mdp, x, u, rng)
        agent.observe(x, u, y, r)
        memory.learn(x, u, y, r)
        x = int(rng.integers(4)) if in_episodes and left == 1 else y


def _has_planned(agent: Any, memory: Memory) -> bool:
    """Whether the present plan of the agent is from after the last transition."""
    visits = memory.number.sum(axis=2).ravel()
    return bool(visits.any() and (agent.arrays.pace.planned == visits).all())


def step(mdp: MDP, x: int, u: int, rng: np.random.Generator) -> tuple[int, float]:
    """A transition of an MDP."""
    y = int(rng.choice(mdp.num_states, p=mdp.transitions.to_dense()[x, u]))
    mean = float(mdp.rewards.mean.to_dense()[x, u, y])
    if mdp.rewards.is_binary:
        return y, float(rng.random() < mean)
    return y, float(rng.normal(mean, np.sqrt(mdp.rewards.variance.to_dense()[x, u, y])))
