import numpy as np
import pytest
import scipy.special

from brlbench.agents.base import Task
from brlbench.agents.soft_max import SoftMax
from brlbench.problems import distribution
from brlbench.protocol.evaluate import evaluate
from brlbench.protocol.experiment import Experiment
from brlbench.streams import generator
from helpers.reference import assert_frequencies, best, draw_actions, solved, walk


@pytest.mark.parametrize("tau", [0.2, 1.0, 5.0])
def test_probabilities_follow_from_the_q_values(tau: float) -> None:
    prior = distribution("GC")
    agent = SoftMax(tau=tau)
    agent.train(prior, Task(0.95, 100), generator("train"))
    agent.start(0, generator("start"))
    observed = [(0, 0, 1), (0, 1, 0), (1, 2, 2), (2, 1, 3), (3, 1, 4), (4, 0, 4), (4, 1, 0)]
    for state, action, following in observed:
        agent.observe(state, action, following, 0.0)
    q = solved(prior.posterior(observed), 0.95)
    expected = scipy.special.softmax(q / tau, axis=1)
    assert expected.max() > 0.5
    for state, probabilities in enumerate(expected):
        if 6_000 * probabilities.min() >= 5:
            assert_frequencies(draw_actions(agent, state), probabilities)
        else:
            assert draw_actions(agent, state)[probabilities < 1e-9].sum() == 0


@pytest.mark.parametrize("name", ["GC", "Grid", "uniform:GDL"])
def test_the_model_is_solved_after_every_transition(name: str) -> None:
    taken = {step.action for step in walk(SoftMax(tau=1.0), distribution(name))}
    assert taken == set(range(distribution(name).num_actions))


@pytest.mark.parametrize("name", ["GC", "uniform:Grid"])
def test_a_low_temperature_is_greedy(name: str) -> None:
    for step in walk(SoftMax(tau=1e-6), distribution(name)):
        q = step.q_before[step.state]
        # Values that differ by less than some temperatures are as good as equal.
        assert step.action in best(q) or q.max() - q[step.action] < 1e-4


def test_a_high_temperature_is_random() -> None:
    agent = SoftMax(tau=1e9)
    agent.train(distribution("Grid"), Task(0.95, 10), generator("train"))
    agent.start(0, generator("start"))
    assert_frequencies(draw_actions(agent, 23), np.full(4, 1 / 4))


def test_it_is_not_the_policy_of_the_published_figures() -> None:
    """An unnormalised soft-max always takes the first action wherever values are positive."""
    result = evaluate(SoftMax(tau=0.1), Experiment("GC", "GC", num_mdps=50))
    assert result.actions is not None
    frequencies = np.bincount(result.actions.ravel(), minlength=3) / result.actions.size
    assert frequencies.min() > 0.1
