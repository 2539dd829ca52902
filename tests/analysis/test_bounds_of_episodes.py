"""Bounds in episodes: against exact values, and where no search can be made."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import brlbench as bb
from brlbench.analysis import bayes_bound
from brlbench.analysis.bayes_bound.known import known_bound, read_bound, write_bound
from brlbench.mdps.mdp import MDP
from helpers.families import FAMILIES, slippery_chain

EPISODES: dict[str, Any] = {"horizon": 4, "episode": 2}
FLAT = bb.FlatDirichlet(
    [[[1.0, 0.5], [0.3, 2.0]], [[1.0, 0.0], [0.7, 0.4]]],
    [[[0.2, 0.3], [0.0, 1.0]], [[0.5, 0.0], [1.0, 0.1]]],
    [0.6, 0.4],
)
PRIORS = {
    "flat": FLAT,
    "tied": slippery_chain(3),
    "bandit": bb.distribution("Bandit:arms=2"),
    "binary": FAMILIES["binary"],
    "constant": FAMILIES["constant"],
}


@pytest.fixture(autouse=True)
def few_mdps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bayes_bound, "_BLOCKS_OF_VALUES", 32)


@pytest.mark.parametrize("discount", [1.0, 0.8])
@pytest.mark.parametrize("name", PRIORS)
def test_as_deep_as_the_horizon_they_are_bayes_optimal_values(name: str, discount: float) -> None:
    prior: Any = PRIORS[name]
    value = bb.bayes_optimal_value(prior, discount, **EPISODES)
    bounds = [bb.bayes_optimal_bound(prior, discount, depth=d, **EPISODES) for d in (1, 3, 9)]
    assert [bound.depth for bound in bounds] == [1, 3, 4]
    estimates = [bound.estimate for bound in bounds]
    assert max(np.diff(estimates)) < 2 * bounds[0].standard_error + 1e-12  # slopes differ
    error = bounds[-1].standard_error
    assert abs(estimates[-1] - value) < 4 * error + 1e-9
    assert error < 0.02 * value and (error == 0) == (name == "constant")
    assert bounds[-1].is_complete
    assert value < bounds[-1].clairvoyant + 4 * error


def test_who_knows_the_mdp_is_bayes_optimal_in_one() -> None:
    """With nothing to learn, nothing is lost: the value of plain backward induction."""
    rng = np.random.default_rng(1)
    transitions, rewards = rng.dirichlet(np.ones(3), (3, 2)), rng.normal(size=(3, 2, 3))
    value = np.zeros(3)
    for _ in range(5):
        value = (transitions * (rewards + 0.9 * value)).sum(axis=2).max(axis=1)
    prior = bb.Hypotheses([MDP(transitions, rewards, [0.2, 0.8, 0.0])])
    bound = bb.bayes_optimal_bound(prior, 0.9, depth=2, horizon=15, episode=5)
    expected = value @ [0.2, 0.8, 0.0] * (1 + 0.9**5 + 0.9**10)
    assert bound.upper == pytest.approx(expected, rel=1e-12)


def test_of_unknown_gaussian_rewards_there_is_the_value_of_knowing_the_mdp() -> None:
    """Two arms with means N(1, 1) and N(0, 1): the mean of the greater one has a closed form."""
    arms = bb.NormalRewards([[1.0, 0.0]], 1.0, 1.0)
    prior = bb.FlatDirichlet(np.ones((1, 2, 1)), arms)
    bound = bb.bayes_optimal_bound(prior, 1.0, **EPISODES)
    spread = np.sqrt(2.0)
    density = np.exp(-0.25) / np.sqrt(2 * np.pi)
    below = 0.7602499389065233  # of a normal variate, below 1 / sqrt(2)
    expected = 4 * (below + spread * density)
    assert abs(bound.estimate - expected) < 4 * bound.standard_error
    assert bound.estimate == bound.clairvoyant < bound.upper
    assert (bound.depth, bound.beliefs, bound.is_complete) == (0, 0, False)
    endless = bb.bayes_optimal_bound(prior, 0.5, horizon=4)
    assert endless.estimate == pytest.approx(expected / 4 * 1.875, abs=4 * endless.standard_error)


def test_of_hypotheses_that_differ_in_gaussian_rewards_too() -> None:
    """It is exact: the mean of the hypotheses' values."""
    prior: Any = FAMILIES["gaussian"]
    values = []
    for mdp in prior.mdps:
        value = np.zeros(3)
        for _ in range(6):
            worth = mdp.rewards.mean.to_dense() + 0.9 * value
            value = (mdp.transitions.to_dense() * worth).sum(axis=2).max(axis=1)
        values.append(mdp.start @ value)
    bound = bb.bayes_optimal_bound(prior, 0.9, horizon=6)
    assert bound.upper == bound.estimate == pytest.approx(prior.weights @ values, rel=1e-12)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"episode": 2}, "horizon is not given, and episode = 2: give the decisions per"),
        ({"episode": 4, "horizon": 10}, "horizon = 10: must be a multiple of episode = 4, such as"),
        ({"episode": 0, "horizon": 10}, "episode = 0: must be a whole number at least 1"),
    ],
)
def test_refusals(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(bb.BrlbenchError, match=message):
        bb.bayes_optimal_bound(FLAT, 1.0, depth=1, **settings)
    with pytest.raises(bb.BrlbenchError, match="discount"):
        bb.bayes_optimal_bound(FLAT, 1.0, depth=1)
    with pytest.raises(
        bb.BrlbenchError, match="horizon is not given, and its rewards are Gaussian"
    ):
        bb.bayes_optimal_bound(FAMILIES["normal"], 0.9)


def test_files_hold_for_their_episodes_alone(tmp_path: Path) -> None:
    experiment = bb.Experiment("RandomMDP", num_mdps=1, horizon=20, episode=10, discount=1)
    test = experiment.test
    bound = bb.bayes_optimal_bound(test, 1.0, horizon=20, episode=10)
    path = tmp_path / "some.bound.json"
    write_bound(path, test, 1.0, bound, horizon=20, episode=10)
    known = [read_bound(path)]
    assert known_bound(experiment.settings(), known) == bound
    for change in ({"horizon": 30}, {"episode": 5}, {"discount": 0.9}):
        assert known_bound({**experiment.settings(), **change}, known) is None
    # Without episodes, there is one as long as the trajectory.
    other = tmp_path / "other.bound.json"
    write_bound(other, test, 0.9, bound, horizon=20)
    endless = experiment.replace(episode=None, discount=0.9)
    assert known_bound(endless.settings(), [read_bound(other)]) == bound
    assert known_bound({**endless.settings(), "horizon": 30}, [read_bound(other)]) is None
