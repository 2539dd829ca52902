"""The original's arithmetic: cases computed by hand, and agreement with brlbench's own agents."""

from typing import Any

import numpy as np
import pytest
from reproduction.original import Beb, Bfs3, EpsilonGreedy, Formula
from reproduction.original.choosing import first_best, random_best

import brlbench as bb
from brlbench.agents.base import CompiledAgent, Task
from brlbench.beliefs.flat import FlatDirichlet
from brlbench.kernels.jit import kernel
from brlbench.kernels.types import Floats, Words

STAY = FlatDirichlet(np.ones((1, 1, 1)), rewards=[1])
"""One state, one action, and a reward of 1 for it."""


def started(agent: CompiledAgent, prior: FlatDirichlet) -> CompiledAgent:
    agent.train(prior, Task(discount=0.5, horizon=10), np.random.default_rng(0))
    agent.start(0, np.random.default_rng(0))
    return agent


@kernel
def choose(values: Floats, tolerance: float, rng: Words) -> tuple[int, int]:
    return first_best(values, tolerance), random_best(values, tolerance, rng)


def test_rounding_decides_unless_there_is_a_tolerance() -> None:
    values = np.array([0.3 + 0.2 + 0.1, 0.1 + 0.2 + 0.3])  # the second rounds up
    rng = np.arange(1, 5, dtype=np.uint64)
    assert {choose(values, 0.0, rng) for _ in range(50)} == {(1, 1)}
    assert {choose(values, 1e-9, rng) for _ in range(50)} == {(0, 0), (0, 1)}


def test_exactly_equal_actions_are_ties_without_tolerance() -> None:
    rng = np.arange(1, 5, dtype=np.uint64)
    assert {choose(np.ones(2), 0.0, rng) for _ in range(50)} == {(0, 0), (0, 1)}


def test_q_is_iterated_from_zero_until_it_changes_little() -> None:
    """After n sweeps Q is 2 - 2/2^n, and the last change 2/2^n: below 0.01 for n = 8."""
    agent = started(EpsilonGreedy(epsilon=0), STAY)
    assert agent.arrays.models.q.item() == 2 - 2 / 2**8


def test_beb_is_iterated_to_its_own_accuracy() -> None:
    """The bonus is 2 / (1 + 1), so V is 4 - 4/2^n after n sweeps, to 0.0001 for n = 16."""
    agent = started(Beb(beta=2), STAY)
    assert agent.arrays.models.q.item() == 4 - 4 / 2**16


@pytest.mark.slow  # compiles
def test_bfs3_keeps_the_widest_bound_where_it_has_not_searched() -> None:
    """The first action pays 1 and stays; the second leads to a state where nothing pays."""
    counts = np.zeros((2, 2, 2))
    counts[0, 0, 0] = counts[0, 1, 1] = counts[1, :, 1] = 1
    prior = FlatDirichlet(counts, rewards=[1, 0])  # so values are at most 1 / (1 - 0.5)
    agent = started(Bfs3(simulations=1, branching=4, depth=3), prior)
    assert agent.act(0) == 0
    assert agent.arrays.q.tolist() == [2, 2 * 0.5**2]  # one of the later actions is not searched
    agent = started(Bfs3(simulations=4 * 8, branching=4, depth=3), prior)
    assert agent.act(0) == 0
    assert agent.arrays.q.tolist() == [2, 2 * 0.5**4]  # all is searched, to the leaves
    assert agent.arrays.belief.seen.sum() == 0  # nothing is left of the roll-outs


def watched(agent: Any, problem: str, transitions: int = 60) -> Any:
    """An agent that has seen the transitions of random actions in an MDP of the problem."""
    rng, prior = np.random.default_rng(5), bb.distribution(problem)
    mdp = prior.sample(rng)
    agent.train(prior, Task(discount=0.95, horizon=transitions), rng)
    agent.start(0, rng)
    x, probabilities = 0, mdp.transitions.to_dense()
    for _ in range(transitions):
        u = int(rng.integers(prior.num_actions))
        y = int(rng.choice(prior.num_states, p=probabilities[x, u]))
        agent.observe(x, u, y, 0.0)
        x = y
    return agent


@pytest.mark.parametrize("problem", ["GC", "Grid", "uniform:GDL"])
def test_iterated_on_models_are_solved_as_brlbench_solves_them(problem: str) -> None:
    formula = "Qmean + Qself * Quniform"
    plain = watched(Formula(formula, accuracy=1e-12), problem)
    exact = watched(bb.make_agent("formula", formula=formula), problem)
    assert plain.arrays.models.q[:2].reshape(2, -1) == pytest.approx(exact.arrays.models.q[:2])


@pytest.mark.parametrize("problem", ["GC", "Grid", "uniform:GDL"])
def test_bonuses_are_those_of_brlbench(problem: str) -> None:
    plain = watched(Beb(beta=2, accuracy=1e-12), problem)
    exact = watched(bb.make_agent("beb", beta=2), problem)
    assert plain.arrays.models.q.ravel() == pytest.approx(exact.arrays.model.q)


@pytest.mark.slow  # compiles; statistical
def test_bfs3_with_ties_decides_like_brlbenchs() -> None:
    """Both choose an action of GC as often as the other."""
    settings = {"simulations": 20, "branching": 5, "depth": 4}
    agents = (Bfs3(**settings, tolerance=1e-9),
              bb.make_agent("bfs3", **settings, skip_complete=False))  # fmt: skip
    decisions = 1000
    shares = []
    for agent in agents:
        watched(agent, "GC", transitions=12)
        chosen = [agent.act(0) for _ in range(decisions)]
        shares.append(np.bincount(chosen, minlength=3) / decisions)
    one, other = shares
    assert one.max() < 0.9  # all three are chosen, or else the comparison would tell little
    errors = np.sqrt((one * (1 - one) + other * (1 - other)) / decisions)
    assert np.all(abs(one - other) < 4 * errors)
