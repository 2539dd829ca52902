"""What compiled code measures of luck, against plain NumPy and against its own expectation."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from brlbench.agents import make_agent
from brlbench.beliefs.flat import FlatDirichlet
from brlbench.mdps.mdp import MDP
from brlbench.protocol.experiment import Experiment
from brlbench.protocol.luck import estimate_start_values, greedy_policy
from brlbench.protocol.playing import Part, play
from brlbench.protocol.training import train
from brlbench.results.schema import NUM_BASELINES

Floats = NDArray[np.float64]


def noisy_prior() -> FlatDirichlet:
    """Sparse rows, Gaussian rewards, and a random start."""
    rng = np.random.default_rng(0)
    counts = rng.uniform(0.5, 2, (4, 3, 4)) * (rng.random((4, 3, 4)) < 0.7)
    counts[:, :, 0] = 1
    rewards = rng.normal(size=(4, 3, 4))
    return FlatDirichlet(counts, rewards, [0.5, 0.25, 0.25, 0], reward_variances=rewards**2)


def played(agent: str, experiment: Experiment, **parameters: Any) -> Any:
    made = make_agent(agent, **parameters)
    train(made, experiment.prior, experiment.task, 0)
    return play(made, experiment, Part(0, experiment.num_trajectories))


def plain_values(mdp: MDP, discount: float, layers: int, greedy: Any) -> Floats:
    """The values [F, L + 1, S] of optimal, random and greedy play, by decisions left."""
    p, r = mdp.transitions.to_dense(), mdp.rewards.mean.to_dense()
    values = np.zeros((NUM_BASELINES, layers + 1, mdp.num_states))
    for n in range(1, layers + 1):
        best, mean, chosen = ((p * (r + discount * v)).sum(axis=2) for v in values[:, n - 1])
        following = best.max(axis=1), mean.mean(axis=1), chosen[np.arange(len(greedy)), greedy]
        values[:, n] = following
    return values


@pytest.mark.parametrize(("discount", "horizon", "layers"), [(0.9, 7, 7), (0.5, 30, 10)])
def test_against_plain_sums(discount: float, horizon: int, layers: int) -> None:
    """With a long horizon, values of ten decisions stand for those of more."""
    prior = noisy_prior()
    experiment = Experiment(
        prior.uniform(), prior, num_mdps=3, discount=discount, horizon=horizon,
        trajectories_per_mdp=2,
    )  # fmt: skip
    record = played("random", experiment)
    for i in range(6):
        mdp, x = experiment.mdp(i // 2), record.states[i]
        values = plain_values(mdp, discount, layers, greedy_policy(experiment))
        p, r = mdp.transitions.to_dense(), mdp.rewards.mean.to_dense()
        for f in range(NUM_BASELINES):
            noise = 0.0
            for t in range(horizon):
                left = values[f, min(horizon - t, layers) - 1]
                u = record.actions[i, t]
                expected = p[x[t], u] @ (r[x[t], u] + discount * left)
                came = record.rewards[i, t] + discount * left[x[t + 1]]
                noise += discount**t * (came - expected)
            assert record.noise[i, f] == pytest.approx(noise, abs=1e-9)
            assert record.start_values[i, f] == pytest.approx(values[f, layers, x[0]], abs=1e-9)


@pytest.mark.parametrize("agent", ["random", "epsilon-greedy", "psrl", "optimal"])
def test_noise_has_mean_zero_whatever_the_agent_does(agent: str) -> None:
    experiment = Experiment(noisy_prior(), num_mdps=4000, horizon=10)
    noise = played(agent, experiment).noise
    z = noise.mean(axis=0) / (noise.std(axis=0, ddof=1) / np.sqrt(len(noise)))
    assert (np.abs(z) < 4).all()


def test_start_values_have_the_expected_mean() -> None:
    experiment = Experiment(noisy_prior(), num_mdps=4000, horizon=10)
    expected = estimate_start_values(experiment, 20_000)
    found = played("random", experiment).start_values
    error = np.sqrt(found.var(axis=0, ddof=1) / len(found) + np.diag(expected.covariance))
    assert (np.abs(found.mean(axis=0) - expected.mean) < 4 * error).all()


def test_expected_start_values_are_the_baselines_own_scores() -> None:
    """Random actions and optimal ones earn, on average, what the baselines are worth."""
    experiment = Experiment("GC", num_mdps=3000, horizon=20)
    expected = estimate_start_values(experiment, 20_000)
    for agent, baseline in (("optimal", 0), ("random", 1)):
        returns = played(agent, experiment).rewards @ 0.95 ** np.arange(20)
        error = returns.std(ddof=1) / np.sqrt(len(returns))
        assert abs(returns.mean() - expected.mean[baseline]) < 4.5 * error


def test_greedy_actions_are_the_first_optimal_ones_of_the_mean_mdp() -> None:
    experiment = Experiment("Grid", num_mdps=1)
    policy = greedy_policy(experiment)
    mean = experiment.prior.mean()
    best = mean.solve(0.95)
    assert mean.expected_return(policy, 0.95, 250) == pytest.approx(best.value[0], rel=1e-4)
    uniform = Experiment("uniform:Grid", "Grid", num_mdps=1)
    # All actions are alike, but in the two cells beside the goal.
    assert np.flatnonzero(greedy_policy(uniform)).tolist() == [19, 23]
