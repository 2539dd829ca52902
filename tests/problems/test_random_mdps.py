import numpy as np
import pytest

from brlbench.errors import InvalidInput
from brlbench.problems import distribution, parameters_of
from brlbench.protocol.experiment import Experiment
from brlbench.streams import generator


def test_dense() -> None:
    problem = distribution("Dense:states=7,actions=2")
    assert (problem.counts.to_dense() == 1).all()
    rewards = problem.rewards.mean.to_dense()
    assert rewards.shape == (7, 2, 7)
    assert (rewards == rewards[:, :, :1]).all()  # of the pair
    assert 0 <= rewards.min() < rewards.max() < 1


def test_dense_with_goals() -> None:
    problem = distribution("Dense:goals=2")
    assert (problem.counts.to_dense() == 1).all()
    assert (problem.rewards.mean.to_dense() == [0] * 8 + [1, 1]).all()
    assert distribution("Dense:goals=0").digest == distribution("Dense").digest


def test_sparse() -> None:
    problem = distribution("Sparse:states=500,actions=3,successors=4")
    assert (np.diff(problem.counts.row_start) == 4).all()
    assert (problem.counts.values == 1).all()
    rewards = problem.rewards.mean.at(problem.counts).reshape(-1, 4)
    assert (rewards == rewards[:, :1]).all()
    assert abs(rewards.mean() - 0.5) < 4 * (1 / 12 / len(rewards)) ** 0.5
    # Every state is as likely a successor as any other.
    expected = 500 * 3 * 4 / 500
    statistic = ((np.bincount(problem.counts.next_state) - expected) ** 2 / expected).sum()
    assert 400 < statistic < 600


def test_garnet() -> None:
    """Structure and rewards are the name's; the probabilities of branches are unknown."""
    problem = distribution("Garnet:states=200,actions=3,branching=4,rewarded=0.05")
    assert (np.diff(problem.counts.row_start) == 4).all()
    assert (problem.counts.values == 1).all()
    rewards = problem.rewards.mean.to_dense()
    assert (rewards == rewards[:1, :1]).all()  # of the next state
    paid = rewards[0, 0][rewards[0, 0] != 0]
    assert len(paid) == 10
    assert 0 < paid.min() < paid.max() < 1
    # Random points cut the unit interval: a branch has mean 1/4 and variance 3/80.
    drawn = problem.draw([generator("garnet draws", i) for i in range(20)]).probability
    assert abs(drawn.var() - 3 / 80) < 4.5 * 0.05 / drawn.size**0.5
    # More states that pay are more of the same, and the branches stay.
    richer = distribution("Garnet:states=200,actions=3,branching=4,rewarded=1.0")
    np.testing.assert_array_equal(richer.counts.place, problem.counts.place)
    amounts = richer.rewards.mean.to_dense()[0, 0]
    assert np.count_nonzero(amounts) == 200
    assert (amounts[rewards[0, 0] != 0] == paid).all()
    assert len(np.unique(distribution("Garnet:rewarded=0.001").rewards.mean.values)) == 1


@pytest.mark.parametrize("name", ["Dense", "Sparse", "Garnet"])
def test_the_seed_decides_what_is_drawn_once(name: str) -> None:
    digests = {distribution(f"{name}:seed={seed}").digest for seed in range(4)}
    assert len(digests) == 4
    assert distribution(f"{name}:seed=0").digest == distribution(name).digest


@pytest.mark.parametrize(
    "name", ["Dense:states=12,actions=3", "Sparse:states=12", "Garnet:states=12,branching=3"]
)
def test_optimal_values(name: str) -> None:
    """Against plain value iteration."""
    mdp = distribution(name).sample(generator("random mdps", name))
    transitions, rewards = mdp.transitions.to_dense(), mdp.rewards.mean.to_dense()
    value = np.zeros(mdp.num_states)
    for _ in range(800):
        value = (transitions * (rewards + 0.95 * value)).sum(axis=2).max(axis=1)
    np.testing.assert_allclose(mdp.solve(0.95).value, value, rtol=1e-12)


def test_large_ones_are_kept_sparse() -> None:
    problem = distribution("Sparse:states=20000,actions=2,successors=2")
    assert len(problem.counts.values) == len(problem.rewards.mean.values) == 80_000


def test_parameters() -> None:
    assert parameters_of("Sparse") == {"states": 50, "actions": 4, "successors": 3, "seed": 0}
    assert parameters_of("GDL") == {}
    assert distribution("Sparse:states=50,seed=2").name == "Sparse:seed=2"
    assert Experiment("uniform:DeepSea:size=3", "DeepSea:size=3").name == (
        "DeepSea:size=3 from uniform:DeepSea:size=3"
    )


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("GDL:size=3", "GDL: unknown parameter 'size': it has no parameters"),
        ("DeepSea:sise=3", "DeepSea: unknown parameter 'sise' (did you mean 'size'?): its "
         "parameters are size"),
        ("DeepSea:3", "'3' is not a parameter: must be name=value"),
        ("DeepSea:size=three", "DeepSea: size = 'three': must be a whole number at least 2"),
        ("RiverSwim:size=1", "RiverSwim: size = 1: must be a whole number at least 2"),
        ("Dense:states=0", "Dense: states = 0: must be a whole number at least 1"),
        ("Dense:states=3,goals=4", "Dense: goals = 4: must be at most the 3 states"),
        ("Sparse:states=2", "Sparse: successors = 3: must be at most the 2 states"),
        ("Garnet:branching=31", "Garnet: branching = 31: must be at most the 30 states"),
        ("Garnet:rewarded=0", "Garnet: rewarded = 0: must be a number above 0 and at most 1"),
        ("Sparse:seed=-1", "Sparse: seed = -1: must be a whole number at least 0"),
        ("around:GC", "'around:GC': must be around:, the sum of each pair's counts, a colon, and "
         "a distribution, as in around:20:Chain"),
    ],
)  # fmt: skip
def test_refused(source: str, message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        distribution(source)
    assert str(caught.value) == message
