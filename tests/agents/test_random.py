import numpy as np
import pytest
import scipy.stats

from brlbench.agents.random import Random
from brlbench.beliefs.flat import FlatDirichlet
from brlbench.protocol.evaluate import evaluate
from brlbench.protocol.experiment import Experiment


@pytest.mark.parametrize("num_actions", [2, 3, 7])
def test_actions_are_uniform_and_independent(num_actions: int) -> None:
    prior = FlatDirichlet(np.ones((3, num_actions, 3)), 0)
    result = evaluate(Random(), Experiment(prior, prior, num_mdps=200, horizon=200))
    assert result.actions is not None
    actions = result.actions[:, 0]
    assert scipy.stats.chisquare(np.bincount(actions.ravel())).pvalue > 1e-3
    for one, other in ((actions[:, :-1:2], actions[:, 1::2]), (actions[::2], actions[1::2])):
        table = np.zeros((num_actions, num_actions))
        np.add.at(table, (one.ravel(), other.ravel()), 1)
        assert scipy.stats.chi2_contingency(table).pvalue > 1e-3


@pytest.mark.parametrize("name", ["GC", "GDL", "Grid"])
def test_returns_are_those_of_the_uniform_policy(name: str) -> None:
    """In each MDP on its own, within four standard errors of its many trajectories."""
    experiment = Experiment(name, name, num_mdps=6, horizon=60, trajectories_per_mdp=1500)
    returns = evaluate(Random(), experiment).trajectory_returns
    shape = (experiment.test.num_states, experiment.test.num_actions)
    for i, played in enumerate(returns):
        policy = np.full(shape, 1 / shape[1])
        exact = experiment.mdp(i).expected_return(policy, 0.95, 60)
        assert abs(played.mean() - exact) <= 4 * played.std(ddof=1) / np.sqrt(len(played))
