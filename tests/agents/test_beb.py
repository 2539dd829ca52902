import numpy as np
import pytest

from brlbench.agents.base import Task
from brlbench.agents.beb import Beb
from brlbench.agents.epsilon_greedy import EpsilonGreedy
from brlbench.mdps.sparse import Floats
from brlbench.problems import distribution
from brlbench.streams import generator
from helpers.reference import Bonus, assert_frequencies, best, draw_actions, solved, walk


def bonus_by(kind: str, beta: float) -> Bonus:
    """The bonus as a reward on each transition, from its definition."""

    def by_pair(counts: Floats) -> Floats:
        return np.broadcast_to(beta / (1 + counts.sum(axis=2, keepdims=True)), counts.shape)

    def by_transition(counts: Floats) -> Floats:
        return np.divide(beta, counts, out=np.zeros(counts.shape), where=counts > 0)

    return by_pair if kind == "pair" else by_transition


@pytest.mark.parametrize("name", ["GC", "GDL", "Grid", "uniform:GC", "uniform:Grid"])
@pytest.mark.parametrize("beta", [0.25, 16.0])
@pytest.mark.parametrize("kind", ["pair", "transition"])
def test_the_best_action_with_the_bonus_is_taken(name: str, beta: float, kind: str) -> None:
    agent = Beb(beta=beta, bonus=kind)
    for step in walk(agent, distribution(name), bonus=bonus_by(kind, beta)):
        assert step.action == best(step.q_before[step.state])[0]


@pytest.mark.parametrize("kind", ["pair", "transition"])
def test_random_ties(kind: str) -> None:
    agent = Beb(beta=1.0, bonus=kind, ties="random")
    steps = list(walk(agent, distribution("uniform:Grid"), bonus=bonus_by(kind, 1.0)))
    tied = [best(step.q_before[step.state]) for step in steps]
    assert all(step.action in actions for step, actions in zip(steps, tied, strict=True))
    assert any(step.action != actions[0] for step, actions in zip(steps, tied, strict=True))


@pytest.mark.parametrize(("ties", "expected"), [("first", [1, 0, 0]), ("random", [1 / 3] * 3)])
def test_how_ties_are_broken(ties: str, expected: list[float]) -> None:
    agent = Beb(ties=ties)
    agent.train(distribution("GC"), Task(0.95, 10), generator("train"))
    agent.start(0, generator("start"))
    assert_frequencies(draw_actions(agent, 0), np.array(expected))


def test_the_bonuses_differ() -> None:
    """By transition a pair with many possible next states has a larger one."""
    prior = distribution("uniform:GC")
    one, other = (solved(prior, 0.95, bonus_by(kind, 1.0)) for kind in ("pair", "transition"))
    assert (other > one + 1).all()


def test_without_a_bonus_it_is_greedy() -> None:
    prior = distribution("GC")
    greedy, beb = (list(walk(agent, prior)) for agent in (EpsilonGreedy(epsilon=0), Beb(beta=0)))
    np.testing.assert_allclose(greedy[0].q_before, beb[0].q_before)
    assert all(step.action == best(step.q_before[step.state])[0] for step in beb)


def test_a_new_mdp_has_the_prior_s_bonuses() -> None:
    agent = Beb(beta=3.0)
    agent.train(distribution("GC"), Task(0.95, 100), generator("train"))
    agent.start(0, generator("start"))
    assert agent.arrays.model.bonus == pytest.approx(np.ones(15))
    agent.observe(2, 1, 3, 0.0)
    assert agent.arrays.model.bonus[7] == 0.75
    agent.start(0, generator("start"))
    assert agent.arrays.model.bonus == pytest.approx(np.ones(15))
