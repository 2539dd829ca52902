import numpy as np
import pytest

from brlbench.agents.base import Task
from brlbench.agents.vdbe import Vdbe
from brlbench.problems import distribution
from brlbench.streams import generator
from helpers.reference import assert_frequencies, best, draw_actions, solved, walk


def towards(change: float, sigma: float) -> float:
    """Tokic's function of a change of Q, as printed."""
    power = np.exp(-abs(change) / sigma)
    return float((1 - power) / (1 + power))


@pytest.mark.parametrize("scope", ["state", "all"])
@pytest.mark.parametrize("name", ["GC", "Grid", "uniform:GDL"])
@pytest.mark.parametrize(
    ("sigma", "delta", "initial"), [(1.0, None, 1.0), (0.05, 0.3, 0.5), (20.0, 1.0, 0.0)]
)
def test_epsilon_follows_the_change_of_the_q_values(
    name: str, sigma: float, delta: float | None, initial: float, scope: str
) -> None:
    prior = distribution(name)
    agent = Vdbe(sigma=sigma, delta=delta, initial_epsilon=initial, scope=scope)
    rate = 1 / prior.num_actions if delta is None else delta
    epsilon = np.full(prior.num_states, initial)
    for step in walk(agent, prior):
        place = step.state, step.action
        wanted = towards(step.q_after[place] - step.q_before[place], sigma)
        moved = [step.state] if scope == "state" else range(prior.num_states)
        for state in moved:
            epsilon[state] = rate * wanted + (1 - rate) * epsilon[state]
        np.testing.assert_allclose(agent.arrays.epsilon, epsilon, rtol=0, atol=1e-6)
    assert (len(np.unique(epsilon)) > 2) == (scope == "state")


def test_without_exploration_the_best_action_is_taken() -> None:
    for step in walk(Vdbe(sigma=1e12, delta=1.0, initial_epsilon=0.0), distribution("GC")):
        assert step.action in best(step.q_before[step.state])


def test_frequencies_are_those_of_the_state_s_own_epsilon() -> None:
    prior = distribution("GC")
    agent = Vdbe(sigma=1.0, delta=0.5, initial_epsilon=0.6)
    agent.train(prior, Task(0.95, 100), generator("train"))
    agent.start(0, generator("start"))
    observed = [(0, 2, 1), (1, 0, 2), (1, 1, 2), (2, 0, 3)]
    for transition in observed:
        agent.observe(*transition, 0.0)
    q = solved(prior.posterior(observed), 0.95)
    epsilon = agent.arrays.epsilon
    assert len({round(number, 9) for number in epsilon}) == 4
    for state in range(5):
        tied = best(q[state])
        expected = np.full(3, epsilon[state] / 3)
        expected[tied] += (1 - epsilon[state]) / len(tied)
        assert_frequencies(draw_actions(agent, state), expected)


def test_a_new_mdp_explores_as_at_first() -> None:
    agent = Vdbe(initial_epsilon=0.4)
    agent.train(distribution("GC"), Task(0.95, 100), generator("train"))
    agent.start(0, generator("start"))
    agent.observe(0, 0, 1, 0.0)
    assert agent.arrays.epsilon[0] != 0.4
    agent.start(0, generator("start"))
    assert agent.arrays.epsilon.tolist() == [0.4] * 5
