"""Lookahead against a recursion in plain Python, and against the Bayes-optimal value."""

from typing import Any

import numpy as np
import pytest

from brlbench.agents import make_agent
from brlbench.agents.base import Task
from brlbench.agents.lookahead import Lookahead
from brlbench.analysis.bayes_optimal import bayes_optimal_value
from brlbench.beliefs.flat import FlatDirichlet
from brlbench.builders import model
from brlbench.errors import InvalidInput
from brlbench.problems import distribution
from helpers.beliefs import Beliefs, Transition, what_is_known
from helpers.made_planners import show, started
from helpers.optimism import random_prior
from helpers.planner_cases import PRIORS
from helpers.reference import best, walk

DISCOUNT = 0.9
ALIKE = FlatDirichlet(np.ones((3, 3, 3)), [0.0, 0.3, 1.0])


def history(prior: FlatDirichlet, length: int, seed: int = 0) -> list[Transition]:
    """Transitions one after the other, some of which are impossible by the prior."""
    rng = np.random.default_rng(seed)
    mean = prior.mean().transitions.to_dense()
    x, found = 0, []
    for step in range(length):
        u = int(rng.integers(prior.num_actions))
        chances = None if step % 5 == 4 else mean[x, u]
        y = int(rng.choice(prior.num_states, p=chances))
        found.append((x, u, y))
        x = y
    return found


def assert_values(prior: FlatDirichlet, depth: int, seen: int, tolerance: float = 1e-9) -> None:
    """The values at the root are those of the plain recursion, and the model is as it was."""
    agent: Any = started(Lookahead(depth=depth), prior, DISCOUNT)
    observed = history(prior, seen)
    show(agent, prior, observed)
    beliefs = Beliefs(prior, DISCOUNT, observed)
    for x in range(prior.num_states):
        before = what_is_known(agent.arrays.model)
        action = agent.act(x)
        assert what_is_known(agent.arrays.model) == before
        expected = beliefs.q(x, depth)
        scale = np.abs(beliefs.value(())).max()
        assert np.abs(agent.arrays.levels.q[0] - expected).max() <= tolerance * scale
        assert action in best(expected)


@pytest.mark.parametrize("seen", [0, 4, 40])
@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("name", PRIORS)
def test_values_of_tiny_problems(name: str, depth: int, seen: int) -> None:
    assert_values(PRIORS[name], depth, seen)


@pytest.mark.parametrize(
    ("prior", "depth", "seen"),
    [
        (random_prior(1), 2, 10),
        (random_prior(2), 2, 0),
        (random_prior(3), 1, 60),
        (distribution("uniform:GC"), 2, 12),
        (distribution("GDL"), 2, 5),
        (distribution("Grid"), 1, 30),
        (ALIKE, 2, 0),
        (ALIKE, 2, 3),
    ],
)
def test_values_of_small_problems(prior: FlatDirichlet, depth: int, seen: int) -> None:
    """Sparse and dense rows, rewards of both signs, actions that are alike."""
    assert_values(prior, depth, seen)


def test_many_states_are_solved_by_sweeps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model, "MAX_INVERSE_STATES", 0)
    assert_values(random_prior(3), 2, 10, tolerance=1e-7)


def test_without_steps_it_is_greedy() -> None:
    for step in walk(Lookahead(depth=0), distribution("GC"), steps=20):
        assert step.action in best(step.q_before[step.state])


@pytest.mark.parametrize("name", PRIORS)
def test_with_many_steps_it_is_bayes_optimal(name: str) -> None:
    """The values at the leaves, which lie within those of rewards for ever, count for little."""
    prior, discount, depth = PRIORS[name], 0.3, 8
    agent: Any = started(Lookahead(depth=depth), prior, discount)
    agent.act(0)
    exact = bayes_optimal_value(prior, discount, depth)
    leaves = discount**depth / (1 - discount) * prior.rewards.mean.at(prior.counts)
    leaves = np.append(leaves, 0.0)
    excess = agent.arrays.levels.q[0].max() - exact
    assert leaves.min() - 1e-12 <= excess <= leaves.max() + 1e-12
    assert leaves.max() - leaves.min() < 1e-3 * exact


def test_ties_are_broken_at_random() -> None:
    agent: Any = started(Lookahead(depth=2), ALIKE, DISCOUNT)
    actions = np.bincount([agent.act(0) for _ in range(3000)], minlength=3)
    assert np.abs(actions - 1000).max() < 4 * np.sqrt(3000 * 2 / 9)


def test_problems_with_too_many_beliefs_are_refused() -> None:
    agent = make_agent("lookahead", depth=4)
    with pytest.raises(InvalidInput) as caught:
        agent.train(distribution("uniform:Grid"), Task(0.95, 10), np.random.default_rng(0))
    assert str(caught.value) == (
        "lookahead: depth = 4: 1.0e+08 beliefs can follow a state of this prior, at most 1e+07 are "
        "allowed: lower depth"
    )


def test_a_world_in_which_everything_is_certain() -> None:
    """However deep, there is only one outcome to look at."""
    counts = np.zeros((3, 1, 3))
    counts[[0, 1, 2], 0, [1, 2, 0]] = 0.7
    prior = FlatDirichlet(counts, np.arange(9.0).reshape(3, 1, 3))
    agent: Any = started(Lookahead(depth=20), prior, DISCOUNT)
    assert agent.act(0) == 0
    value = Beliefs(prior, DISCOUNT).value(())[0]
    assert agent.arrays.levels.q[0, 0] == pytest.approx(value, rel=1e-12)
