"""Q-learning beside a plain one, and beside exact solutions."""

from typing import Any

import numpy as np
import pytest

import brlbench as bb
from brlbench.agents.base import Task
from brlbench.agents.q_learning import QLearning
from brlbench.beliefs.flat import FlatDirichlet
from brlbench.beliefs.flat.single import SingleMDP
from brlbench.builders import model
from brlbench.mdps.sparse import Floats
from brlbench.problems import distribution
from brlbench.protocol.playing import Part, play
from brlbench.protocol.training import train
from brlbench.streams import generator
from helpers.reference import assert_frequencies
from helpers.visits import priors, step

LENGTH = 4


def plain_tables(
    transitions: list[tuple[int, int, int, float]], agent: QLearning, length: int | None
) -> Floats:
    """The tables [L, S, A] after some transitions."""
    q = np.full((length or 1, 4, 3), agent.initial)
    visits = np.zeros(q.shape)
    for t, (x, u, y, r) in enumerate(transitions):
        stage = t % length if length else 0
        if length and stage == length - 1:
            target = r
        else:
            target = r + (1.0 if length else 0.9) * q[stage + 1 if length else 0, y].max()
        visits[stage, x, u] += 1
        q[stage, x, u] += (
            agent.rate * visits[stage, x, u] ** -agent.decay * (target - q[stage, x, u])
        )
    return q


@pytest.mark.parametrize("length", [None, LENGTH])
@pytest.mark.parametrize("rewards", ["known", "binary"])
@pytest.mark.parametrize("parameters", [{}, {"rate": 1.0, "decay": 0.8, "initial": 3.0}])
def test_greedy_actions_are_those_of_plain_tables(
    length: int | None, rewards: str, parameters: dict[str, Any]
) -> None:
    prior, agent = priors()[rewards], QLearning(epsilon=0.0, **parameters)
    mdp, rng = prior.sample(generator("q-learning")), np.random.default_rng(1)
    agent.train(prior, Task(1.0 if length else 0.9, 60, episode=length), rng)
    agent.start(0, generator("q-learning start"))
    seen: list[tuple[int, int, int, float]] = []
    x = 0
    for t in range(60):
        q = plain_tables(seen, agent, length)
        np.testing.assert_allclose(agent.arrays.q, q.ravel(), rtol=1e-12)
        values = q[t % length if length else 0, x]
        u = agent.act(x)
        assert u in np.flatnonzero(values == values.max())
        y, r = step(mdp, x, u, rng)
        agent.observe(x, u, y, r)
        seen.append((x, u, y, r))
        x = y


@pytest.mark.parametrize("exploration", ["epsilon-greedy", "boltzmann"])
def test_exploration_has_the_right_probabilities(exploration: str) -> None:
    agent: Any = QLearning(exploration=exploration, epsilon=0.3, tau=0.7, rate=1.0)
    agent.train(distribution("GC"), Task(0.9, 100), generator("train"))
    agent.start(0, generator("explore"))
    agent.observe(0, 1, 4, 1.0)
    agent.observe(0, 2, 4, 0.5)
    values = np.array([0.0, 1.0, 0.5])
    softened = np.exp(values / 0.7)
    expected = [0.1, 0.8, 0.1] if exploration == "epsilon-greedy" else softened / softened.sum()
    taken = np.bincount([agent.act(0) for _ in range(6000)], minlength=3)
    assert_frequencies(taken, np.array(expected))


def tiny() -> SingleMDP:
    """Two states; it pays to leave the first one, where staying pays a little."""
    transitions = [[[0.9, 0.1], [0.2, 0.8]], [[0.3, 0.7], [0.8, 0.2]]]
    rewards = np.array([[[0.1, 0.1], [0.0, 0.0]], [[1.0, 1.0], [0.2, 0.2]]])
    return SingleMDP(transitions, FlatDirichlet(np.ones((2, 2, 2)), rewards))


@pytest.mark.slow
@pytest.mark.parametrize("exploration", ["epsilon-greedy", "boltzmann"])
def test_values_converge_to_the_optimum(exploration: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The learning rate falls as convergence asks for; the steps grow, and the errors shrink.

    A value fluctuates with about the root of half its learning rate, times the deviation of what
    it moves towards, which is at most half the discounted difference of the states' values.
    """
    monkeypatch.setattr(model, "copy", lambda arrays: arrays)  # plays on arrays that are seen here
    exact, errors = tiny().mean().solve(0.5), []
    deviation = 0.5 * np.ptp(exact.value) / 2
    for horizon in (1000, 1_000_000):
        agent: Any = QLearning(
            rate=1.0, decay=0.7, exploration=exploration, epsilon=0.5, tau=2.0, initial=1.0
        )
        where = bb.Experiment(tiny(), num_mdps=1, discount=0.5, horizon=horizon)
        train(agent, where.prior, where.task, 0)
        play(agent, where, Part(0, 1))
        visits = agent.arrays.visits
        assert visits.sum() == horizon
        tolerance = 5 * deviation * np.sqrt(visits.min() ** -0.7 / 2)
        errors.append(np.abs(agent.arrays.q.reshape(2, 2) - exact.q).max())
        assert errors[-1] < tolerance
    assert errors[1] < min(0.01, errors[0])


@pytest.mark.slow
def test_in_episodes_late_play_is_optimal() -> None:
    """A greedy agent with optimistic values ends up with the best expected sum per episode."""
    length, late = 3, 5000
    where = bb.Experiment(
        tiny(), num_mdps=8, discount=1.0, horizon=length * 20_000, episode=length
    )  # fmt: skip
    result = bb.evaluate(QLearning(rate=1.0, decay=0.7, epsilon=0.0, initial=3.0), where)
    sums = result.rewards[:, 0, -length * late :].reshape(8, late, length).sum(axis=2)
    mdp, value = tiny().mean(), np.zeros(2)
    for _ in range(length):
        worth = mdp.rewards.mean.to_dense() + value
        value = (mdp.transitions.to_dense() * worth).sum(axis=2).max(axis=1)
    error = sums.std() / np.sqrt(sums.size)
    assert abs(sums.mean() - value[0]) < 4 * error
