import numpy as np
import pytest

from brlbench.agents import make_agent
from brlbench.agents.base import Task
from brlbench.agents.epsilon_greedy import EpsilonGreedy
from brlbench.problems import distribution
from brlbench.streams import generator
from helpers.reference import assert_frequencies, best, draw_actions, solved, walk


@pytest.mark.parametrize("name", ["GC", "GDL", "Grid", "uniform:GC", "uniform:Grid"])
def test_without_exploration_the_best_action_of_the_mean_mdp_is_taken(name: str) -> None:
    for step in walk(EpsilonGreedy(epsilon=0), distribution(name)):
        assert step.action in best(step.q_before[step.state])


@pytest.mark.parametrize("discount", [0.3, 0.99])
def test_the_discount_is_that_of_the_task(discount: float) -> None:
    for step in walk(EpsilonGreedy(epsilon=0), distribution("GC"), discount):
        assert step.action in best(step.q_before[step.state])


def test_exploring_steps_learn_too() -> None:
    steps = list(walk(EpsilonGreedy(epsilon=0.5), distribution("GC"), steps=300))
    greedy = np.mean([step.action in best(step.q_before[step.state]) for step in steps])
    # With ties the best actions are more than one; without, 1 - 0.5 + 0.5 / 3 of all are greedy.
    assert greedy < 0.85


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.7, 1.0])
def test_frequencies(epsilon: float) -> None:
    """The rest of the probability goes to the best action, or evenly to all of the best ones."""
    prior = distribution("GC")
    agent = EpsilonGreedy(epsilon=epsilon)
    agent.train(prior, Task(0.95, 100), generator("train"))
    agent.start(0, generator("start"))
    assert_frequencies(draw_actions(agent, 0), np.full(3, 1 / 3))  # all actions are alike
    observed = [(0, 1, 0), (0, 2, 0), (0, 0, 1)]
    for state, action, following in observed:
        agent.observe(state, action, following, 0.0)
    assert best(solved(prior.posterior(observed), 0.95)[0]) == [1, 2]
    expected = np.full(3, epsilon / 3) + (1 - epsilon) * np.array([0, 0.5, 0.5])
    assert_frequencies(draw_actions(agent, 0), expected)
    agent.observe(0, 2, 0, 2.0)
    expected = np.full(3, epsilon / 3) + (1 - epsilon) * np.array([0, 0, 1])
    assert_frequencies(draw_actions(agent, 0), expected)


def test_a_new_mdp_forgets_the_last_one() -> None:
    prior = distribution("GC")
    agent = EpsilonGreedy(epsilon=0)
    agent.train(prior, Task(0.95, 100), generator("train"))
    agent.start(0, generator("start"))
    first = agent.arrays.model.q.copy()
    for _ in range(50):
        agent.observe(0, 0, 0, 2.0)
    assert (agent.arrays.model.q != first).any()
    agent.start(0, generator("start"))
    np.testing.assert_array_equal(agent.arrays.model.q, first)


def test_default() -> None:
    agent = make_agent("epsilon-greedy")
    assert isinstance(agent, EpsilonGreedy)
    assert agent.epsilon == 0.1
