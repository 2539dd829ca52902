"""Experiments whose MDPs have rewards of their own: stored, sent, played, bounded."""

from functools import cache
from pathlib import Path

import gymnasium
import numpy as np
import pytest

import brlbench as bb
from brlbench.errors import InvalidInput
from brlbench.protocol.experiment import Experiment
from brlbench.storage import read_experiment, write_experiment
from brlbench.study.worker import pack_experiment, unpack_experiment
from helpers.families import FAMILIES

NAMES = ("binary", "normal")


@pytest.mark.parametrize("given", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_files_and_workers_have_the_same_mdps(tmp_path: Path, name: str, given: bool) -> None:
    experiment = Experiment(FAMILIES[name], num_mdps=5, horizon=10)
    assert len(np.unique(experiment.mdps.reward, axis=0)) == 5
    if given:
        experiment = experiment.replace(mdps=list(experiment.mdps))
    write_experiment(tmp_path / "experiment.parquet", experiment)
    for again in (
        read_experiment(tmp_path / "experiment.parquet"),
        unpack_experiment(pack_experiment(experiment)),
    ):
        assert again.hash == experiment.hash
        assert list(again.mdps.contents()) == list(experiment.mdps.contents())
        assert again.mdps.is_binary == (name == "binary")


def test_the_hash_depends_on_the_rewards() -> None:
    mdps = Experiment("Bandit", num_mdps=3).mdps
    one, other = (
        Experiment("Bandit", num_mdps=3, mdps=mdps[order]) for order in ([0, 1, 2], [1, 0, 2])
    )
    assert one.hash != other.hash


def test_agents_are_played_the_same_rewards() -> None:
    """At equal visits to a pair, all agents meet the same reward: comparisons are paired."""
    experiment = Experiment("Bandit:arms=2", num_mdps=3, horizon=60)
    seen: dict[tuple[int, int, int], float] = {}
    for name in ("random", "epsilon-greedy"):
        result = bb.evaluate(bb.make_agent(name), experiment)
        assert result.actions is not None
        assert result.rewards is not None
        for mdp in range(3):
            visits = [0, 0]
            actions, rewards = result.actions[mdp, 0], result.rewards[mdp, 0]
            for action, reward in zip(actions.tolist(), rewards.tolist(), strict=True):
                assert reward in (0.0, 1.0)
                key = (mdp, action, visits[action])
                assert seen.setdefault(key, reward) == reward
                visits[action] += 1


def test_another_prior_of_rewards_can_be_told() -> None:
    """It is believed: sure of the wrong arm, a greedy agent never leaves it."""
    test = bb.FlatDirichlet(np.ones((1, 2, 1)), bb.BernoulliRewards([[900.0, 100.0]], 500.0))
    prior = test.with_rewards(bb.BernoulliRewards([[1.0, 1e6]], [[1e6, 1.0]]))
    experiment = Experiment(prior, test, num_mdps=10, horizon=30)
    result = bb.evaluate(bb.make_agent("epsilon-greedy", epsilon=0.0), experiment)
    assert result.actions is not None
    assert (result.actions == 1).all()
    with pytest.raises(InvalidInput, match="rewards are 1 or 0 in the prior, and not in the test"):
        Experiment("Bandit", "Bandit:rewards=normal")
    Experiment("Bandit:rewards=normal", "Bandit")


def recursion(horizon: int) -> float:
    """The value of two arms of which nothing is known, by successes and failures."""

    @cache
    def value(a: int, b: int, c: int, d: int, left: int) -> float:
        if left == 0:
            return 0.0
        p, q = a / (a + b), c / (c + d)
        first = p * (1 + value(a + 1, b, c, d, left - 1)) + (1 - p) * value(
            a, b + 1, c, d, left - 1
        )
        other = q * (1 + value(a, b, c + 1, d, left - 1)) + (1 - q) * value(
            a, b, c, d + 1, left - 1
        )
        return max(first, other)

    return value(1, 1, 1, 1, horizon)


def test_the_bayes_optimal_value_of_a_bandit() -> None:
    bandit = bb.distribution("Bandit:arms=2")
    exact = bb.bayes_optimal_value(bandit, horizon=10, discount=1.0)
    assert exact == pytest.approx(recursion(10), abs=1e-9)


@pytest.mark.parametrize("name", ["Bandit:arms=2", "binary"])
def test_bounds_are_above_bayes_optimal_values(name: str) -> None:
    prior = FAMILIES.get(name) or bb.distribution(name)
    bound = bb.bayes_optimal_bound(prior, discount=0.5, depth=3, repetitions=4)
    value = bb.bayes_optimal_value(prior, discount=0.5, horizon=6)
    assert value < bound.upper < bound.clairvoyant + 4 * bound.standard_error
    with pytest.raises(InvalidInput, match="no search lowers the bound"):
        bb.bayes_optimal_bound(FAMILIES["normal"], depth=1, horizon=5)


@pytest.mark.parametrize("name", ["Bandit", "RandomMDP"])
def test_environments_of_gymnasium(name: str) -> None:
    """One of many behaves as one alone, and rewards have the means of the MDP."""
    import brlbench.gym  # noqa: F401 (registers)

    alone = gymnasium.make(f"brlbench/{name}-v1", mdp=2, horizon=600)
    many = gymnasium.make_vec(f"brlbench/{name}-v1", num_envs=2, mdp=[2, 2], horizon=600)
    _, info = alone.reset(seed=5)
    assert info["rewards"] is None
    many.reset(seed=5)
    rewards = []
    for _ in range(500):
        _, reward, *_ = alone.step(1)
        _, both, *_ = many.step(np.array([1, 1]))
        assert both[0] == reward
        rewards.append(float(reward))
    if name == "Bandit":
        mean = Experiment(name, num_mdps=3).mdp(2).rewards.mean.to_dense()[0, 1, 0]
        assert set(rewards) == {0.0, 1.0}
        assert np.mean(rewards) == pytest.approx(mean, abs=4 * 0.5 / np.sqrt(500))
