from pathlib import Path
from typing import Any

import numpy as np
import pytest

from brlbench import storage
from brlbench.agents import make_agent
from brlbench.agents.base import Task
from brlbench.beliefs.flat import FlatDirichlet
from brlbench.beliefs.flat.single import SingleMDP, alike_actions
from brlbench.errors import InvalidInput
from brlbench.mdps.sparse import SparseTable
from brlbench.problems import distribution, read, write
from brlbench.protocol.evaluate import evaluate
from brlbench.protocol.experiment import Experiment
from brlbench.streams import generator
from helpers.own_agents import Scripted

# The prior allows transitions that are impossible.
TRANSITIONS = np.array([[[0, 1.0], [0.25, 0.75]], [[1, 0], [0, 1]]])
COUNTS = np.array([[[2.0, 1], [1, 1]], [[1, 0], [3, 1]]])


def single(**changes: Any) -> SingleMDP:
    given = {"counts": COUNTS, "rewards": [0, 1], "name": "small", **changes}
    return SingleMDP(given.pop("transitions", TRANSITIONS), FlatDirichlet(**given))


def test_every_draw_is_the_mdp() -> None:
    mdp = single()
    for drawn in (mdp.mean(), mdp.sample(generator("one")), mdp.sample(generator("other"))):
        np.testing.assert_array_equal(drawn.transitions.to_dense(), TRANSITIONS)
    rngs = [generator("several", i) for i in range(4)]
    assert (mdp.sample_many(rngs) == mdp.probabilities).all()


def test_agents_are_told_the_counts_only() -> None:
    told: list[Any] = []

    class Asking(Scripted):
        def train(self, prior: FlatDirichlet, task: Task, rng: np.random.Generator) -> None:
            told.append(prior)
            super().train(prior, task, rng)

    evaluate(Asking([1]), Experiment(single(), single(), num_mdps=2, horizon=3))
    (prior,) = told
    assert type(prior) is FlatDirichlet
    np.testing.assert_array_equal(prior.counts.to_dense(), COUNTS)
    assert prior.digest == FlatDirichlet(COUNTS, [0, 1]).digest
    assert (prior.sample(generator("a")).transitions.values != single().probabilities).any()


def test_observations_are_added_to_what_agents_are_told() -> None:
    posterior = single().posterior([(0, 0, 1), (0, 0, 1)])
    assert posterior.counts.to_dense()[0, 0].tolist() == [2, 3]
    assert type(single().posterior([])) is FlatDirichlet


def test_experiments_are_named_after_what_agents_are_told() -> None:
    assert Experiment(single(), single()).name == "small"
    assert Experiment(single().uniform(), single()).name == "small from uniform:small"
    settings = Experiment(single(), single()).settings()
    assert settings["prior_digest"] == settings["test_digest"]


def test_experiments_with_other_probabilities_differ() -> None:
    other = single(transitions=[[[0.5, 0.5], [0.5, 0.5]], [[1, 0], [0.5, 0.5]]])
    assert other.as_prior().digest == single().as_prior().digest
    assert other.digest != single().digest
    assert Experiment(other, other, 3).hash != Experiment(single(), single(), 3).hash


def test_optimal_gets_the_mdps_value() -> None:
    experiment = Experiment(single(), single(), num_mdps=400, horizon=100)
    mdp = single().mean()
    expected = mdp.expected_return(mdp.solve(0.95).policy, 0.95, 100)
    result = evaluate(make_agent("optimal"), experiment)
    assert abs(result.mean - expected) <= 1.5 * result.ci95 + 1e-9


@pytest.mark.parametrize("suffix", ["toml", "json"])
def test_files(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"small.{suffix}"
    write(single(start=[0.5, 0.5], reward_variances=2.0), path)
    found = read(path)
    assert isinstance(found, SingleMDP)
    assert found.digest == single(start=[0.5, 0.5], reward_variances=2.0).digest
    np.testing.assert_array_equal(found.probabilities, single().probabilities)


def test_the_original_format_has_distributions_only(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"can.t hold a single MDP: write \.toml or \.json"):
        write(single(), tmp_path / "small.dat")
    write(single().as_prior(), tmp_path / "small.dat")


def test_experiments_are_stored(tmp_path: Path) -> None:
    path = tmp_path / "small.parquet"
    experiment = Experiment("Chain", "Chain", num_mdps=3)
    storage.write_experiment(path, experiment)
    found = storage.read_experiment(path)
    assert (found.hash, found.name) == (experiment.hash, "Chain")
    assert isinstance(found.test, SingleMDP)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"counts": np.where(np.arange(2), COUNTS, 0) + np.eye(2)[:, None]},
            "the transition (state 1, action 0, next state 0) has no count",
        ),
        ({"transitions": TRANSITIONS / 2}, "sum to 0.5: must sum to 1"),
        ({"transitions": np.ones((3, 1, 3)) / 3}, "rewards has shape"),
    ],
)
def test_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        single(**changes)
    assert message in str(caught.value)


def test_alike_actions() -> None:
    counts = alike_actions(SparseTable.from_dense(TRANSITIONS, "transitions"), 0.5)
    np.testing.assert_array_equal(counts.to_dense(), np.full((2, 2, 2), 0.5))
    deterministic = np.eye(3)[[[1, 2], [1, 1], [0, 2]]]
    counts = alike_actions(SparseTable.from_dense(deterministic, "transitions"))
    expected = [[[0, 1, 1]] * 2, [[0, 1, 0]] * 2, [[1, 0, 1]] * 2]
    np.testing.assert_array_equal(counts.to_dense(), expected)


def test_draws_around_an_mdp() -> None:
    around = distribution("around:20:Chain")
    chain = distribution("Chain")
    assert around.name == "around:20:Chain"
    assert around.rewards.content() == chain.rewards.content()
    np.testing.assert_allclose(around.counts.row_sums(), 20, rtol=1e-12)
    expected = chain.mean().transitions.to_dense()
    np.testing.assert_allclose(around.mean().transitions.to_dense(), expected, rtol=1e-12)
    drawn = around.sample_many([generator("around", i) for i in range(500)])
    # A Dirichlet variable with parameters a and b has the variance ab / (a+b)² / (a+b+1).
    wanted = np.sqrt(0.2 * 0.8 / 21)
    np.testing.assert_allclose(drawn.std(axis=0), wanted, rtol=0.12)
    assert abs(drawn.mean(axis=0) - around.mean().transitions.values).max() < 4 * wanted / 500**0.5


def test_what_is_impossible_stays_so_around_an_mdp() -> None:
    around = single().around(4)
    np.testing.assert_array_equal(around.counts.to_dense(), 4 * TRANSITIONS)


@pytest.mark.parametrize("total", ["0", "-1", "nan", "inf"])
def test_counts_around_an_mdp_are_positive(total: str) -> None:
    with pytest.raises(InvalidInput, match=r"each pair's counts = .*: must be a number above 0"):
        distribution(f"around:{total}:GC")


def test_many_draws_are_those_of_each_generator() -> None:
    prior = distribution("Grid").around(3.5)
    together = prior.sample_many([generator("draw", i) for i in range(500)])
    one_by_one = [prior.sample(generator("draw", i)).transitions.values for i in range(500)]
    np.testing.assert_array_equal(together, one_by_one)
