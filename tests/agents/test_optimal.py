import numpy as np
import pytest

from brlbench.agents.base import Task
from brlbench.agents.optimal import Optimal
from brlbench.beliefs.flat import FlatDirichlet
from brlbench.errors import AgentError
from brlbench.problems import distribution
from brlbench.protocol.evaluate import evaluate
from brlbench.protocol.experiment import Experiment
from brlbench.streams import generator


def gaussian() -> FlatDirichlet:
    """Gaussian rewards of both signs, and any start state."""
    rng = generator("test gaussian")
    counts = rng.uniform(0.1, 2, (6, 3, 6)) * (rng.random((6, 3, 6)) < 0.6)
    counts[:, :, 0] += 0.5
    return FlatDirichlet(counts, rng.normal(size=counts.shape), np.full(6, 1 / 6), 1.0)


def problem(name: str) -> FlatDirichlet:
    return gaussian() if name == "gaussian" else distribution(name)


@pytest.mark.parametrize("name", ["GC", "GDL", "Grid", "gaussian"])
def test_returns_are_those_of_the_optimal_policy(name: str) -> None:
    """In each MDP on its own, within four standard errors of its many trajectories."""
    prior = problem(name)
    experiment = Experiment(
        prior.uniform(), prior, num_mdps=6, horizon=60, trajectories_per_mdp=1500
    )
    returns = evaluate(Optimal(), experiment).trajectory_returns
    for i, played in enumerate(returns):
        mdp = experiment.mdp(i)
        exact = mdp.expected_return(mdp.solve(0.95).policy, 0.95, 60)
        error = played.std(ddof=1) / np.sqrt(len(played))
        assert error > 0
        assert abs(played.mean() - exact) <= 4 * error


@pytest.mark.parametrize("discount", [0.5, 0.95])
@pytest.mark.parametrize("name", ["GC", "GDL", "Grid", "gaussian"])
def test_every_action_is_optimal(name: str, discount: float) -> None:
    prior = problem(name)
    experiment = Experiment(prior, prior, num_mdps=40, horizon=50, discount=discount)
    result = evaluate(Optimal(), experiment)
    assert result.actions is not None
    assert result.states is not None
    for i in range(experiment.num_mdps):
        q, value, _ = experiment.mdp(i).solve(discount)
        states, actions = result.states[i, 0, :-1], result.actions[i, 0]
        assert (q[states, actions] >= value[states] - 1e-9 * np.abs(value).max()).all()


def test_it_must_be_told_the_mdp() -> None:
    agent = Optimal()
    agent.train(distribution("GC"), Task(0.95, 10), generator("train"))
    with pytest.raises(AgentError, match=r"optimal must be told the MDP: call start_known\(mdp"):
        agent.start(0, generator("start"))


def test_step_by_step() -> None:
    prior = distribution("Grid")
    mdp = prior.sample(generator("test mdp"))
    agent = Optimal()
    agent.train(prior, Task(0.95, 10), generator("train"))
    agent.start_known(mdp, 0, generator("start"))
    q, value, _ = mdp.solve(0.95)
    for state in range(25):
        assert q[state, agent.act(state)] == pytest.approx(value[state], rel=1e-9)
