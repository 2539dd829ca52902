"""Learned displacements against plain NumPy, and on problems with and without displacements."""

import math
from typing import Any

import numpy as np
import pytest

from brlbench.agents.base import Task
from brlbench.agents.shift_prior import ShiftPrior
from brlbench.agents.shift_prior.kernel import ShiftPrior as Arrays
from brlbench.agents.sparse_prior import SparsePrior
from brlbench.beliefs.flat import FlatDirichlet
from brlbench.mdps.sparse import Floats
from brlbench.problems import distribution
from brlbench.protocol.evaluate import evaluate
from brlbench.protocol.experiment import Experiment
from brlbench.streams import generator
from helpers.optimism import with_spread
from helpers.reference import assert_close, best, walk


class Reference:
    """The model, written down a second time: dense, in arrays [S, A, S]."""

    def __init__(self, states: int, actions: int) -> None:
        self.counts = np.zeros((states, actions, states))
        self.possible = np.full(self.counts.shape, 0.3 / states)
        self.number = np.full((states, actions), 0.3)
        self.rate = np.full(self.counts.shape, 0.3 / states)
        self.shift = np.arange(states) - np.arange(states)[:, None]  # [S, S]
        self.age = 0

    def rows(self) -> Floats:
        """The Dirichlet counts of all rows."""
        return np.asarray(self.possible * (self.counts + 1))

    def set_rows(self, chosen: Any) -> None:
        """Membership of the next states of chosen pairs."""
        tries = self.counts.sum(axis=2, keepdims=True)
        others = np.maximum(1, self.number[..., None] - self.possible)
        odds = self.rate / (1 - self.rate) * others / (tries + others)
        possible = np.where(self.counts > 0, 1.0, odds / (1 + odds))
        self.possible[chosen] = possible[chosen]
        self.number[chosen] = possible.sum(axis=2)[chosen]

    def set_rates(self) -> None:
        """Rates of displacements, from the rows tried."""
        states, actions = self.number.shape
        tried = self.counts.sum(axis=2) > 0
        for d in range(1 - states, states):
            inside = (self.shift == d)[:, None, :] & tried[:, :, None]  # [S, A, S]
            rows = inside.sum(axis=(0, 2))
            hits = (self.possible * inside).sum(axis=(0, 2))
            shared = (hits.sum() + 0.3 / states) / (rows.sum() + 1)
            own = np.minimum((hits + 0.3 * shared) / (rows + 0.3), 0.999)
            for u in range(actions):
                self.rate[:, u][self.shift == d] = own[u]

    def see(self, x: int, u: int, y: int) -> float:
        """Learn from a transition; return the log of its predictive probability."""
        row = self.rows()[x, u]
        is_new = self.counts[x, u, y] == 0
        self.counts[x, u, y] += 1
        self.age += 1
        self.set_rows((x, u))
        if is_new or self.age == 4:
            self.age = 0
            self.set_rates()
            self.set_rows(...)
        return math.log(row[y] / row.sum())


def mean_probability(arrays: Arrays, pair: int, y: int) -> float:
    """The predictive probability of the model of `sparse-prior`."""
    counts = arrays.sparse.spread.model.counts
    return float(counts.entry_count[counts.row_start[pair] + y] / counts.total[pair])


@pytest.mark.parametrize(("name", "steps"), [("GC", 40), ("RiverSwim", 60)])
def test_the_model_is_that_of_plain_numpy(name: str, steps: int) -> None:
    """Counts, lead and the solution with bonuses, after each transition."""
    agent, problem, rng = ShiftPrior(0.5, 1.0), distribution(name), generator("play", name)
    states, actions = problem.num_states, problem.num_actions
    reference, lead = Reference(states, actions), 0.0
    mdp = problem.sample(rng)
    transitions, rewards = mdp.transitions.to_dense(), problem.rewards.mean.to_dense()
    agent.train(problem.uniform(), Task(0.9, steps), rng)
    agent.start(0, generator("start"))
    x, led = 0, set()
    for _ in range(steps):
        u = agent.act(x)
        y = int(rng.choice(states, p=transitions[x, u]))
        lead -= math.log(mean_probability(agent.arrays, x * actions + u, y))
        lead += reference.see(x, u, y)
        agent.observe(x, u, y, rewards[x, u, y])
        rows, arrays = reference.rows(), agent.arrays
        assert arrays.spread.model.counts.entry_count[: rows.size] == pytest.approx(
            rows.ravel(), rel=1e-9
        )
        assert arrays.lead[0] == pytest.approx(lead, abs=1e-9)
        if lead > 0:
            prior = FlatDirichlet(rows, problem.rewards.mean)
            assert_close(arrays.spread.model.q, with_spread(prior, 0.9, 0.5, 0.5))
        led.add(lead > 0)
        x = y
    assert led == {True, False}  # both models have played


def test_displacements_are_learned_and_lead() -> None:
    """One action stays, the other goes on: an untried row is known before it is tried."""
    states = 8
    agent = ShiftPrior()
    prior = FlatDirichlet(np.ones((states, 2, states)), np.zeros(states))
    agent.train(prior, Task(0.9, 100), generator("train"))
    agent.start(0, generator("start"))
    for x in range(states - 2):
        agent.observe(x, 0, x, 0.0)
        agent.observe(x, 1, x + 1, 0.0)
    arrays = agent.arrays
    assert arrays.lead[0] > 0
    rows = arrays.spread.model.counts.entry_count[: 2 * states**2].reshape(states, 2, states)
    stay, go_on = (row / row.sum() for row in rows[states - 2])
    assert stay[states - 2] > 0.8
    assert go_on[states - 1] > 0.8


def test_with_an_informative_prior_it_is_spread() -> None:
    def solve(posterior: FlatDirichlet, discount: float) -> Floats:
        return with_spread(posterior, discount, 0.5, 0.5)

    agent = ShiftPrior(0.5)
    for step in walk(agent, distribution("GC"), discount=0.9, steps=20, solve=solve):
        assert step.action in best(step.q_before[step.state])
    assert agent.arrays.lead[0] == 0


@pytest.mark.slow
def test_displacements_help_where_states_are_numbered_along_the_way() -> None:
    """Twice the score on Grid, and no loss beyond noise where states are renumbered."""
    gains = {}
    for name in ("Grid", "renumbered:7:Grid"):
        experiment = Experiment(f"uniform:{name}", name, num_mdps=100)
        ours, theirs = (evaluate(kind(), experiment).returns for kind in (ShiftPrior, SparsePrior))
        gains[name] = (ours - theirs).mean() / ((ours - theirs).std() / 10)
    assert gains["Grid"] > 5
    assert gains["renumbered:7:Grid"] > -3
