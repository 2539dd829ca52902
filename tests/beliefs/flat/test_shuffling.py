"""MDPs around a problem, with the actions of each state in another order."""

import numpy as np
import pytest

from brlbench.beliefs.flat import FlatDirichlet
from brlbench.beliefs.flat.shuffling import shuffled
from brlbench.errors import InvalidInput
from brlbench.problems import distribution
from brlbench.protocol.experiment import Experiment

SIZE = 6


def test_counts_are_those_told_and_those_seen() -> None:
    sea, around = distribution("DeepSea:size=6"), distribution("shuffled:20:DeepSea:size=6")
    assert around.name == "shuffled:20:DeepSea:size=6"
    assert around.rewards.content() == sea.rewards.content()
    assert around.counts.next_state.tolist() == sea.counts.next_state.tolist()
    seen = (around.counts.to_dense() - sea.counts.to_dense()) / 20
    real = sea.mean().transitions.to_dense()
    # Each state has the rows of the problem, in some order.
    for rows, expected in zip(seen, real, strict=True):
        assert sorted(rows.tolist()) == sorted(expected.tolist())
    swapped = [not np.array_equal(*pair) for pair in zip(seen, real, strict=True)]
    assert 5 <= sum(swapped) <= 20  # of 30 states that are not in the last row
    # There the rewards tell the actions apart.
    assert not any(swapped[SIZE * (SIZE - 1) :])


@pytest.mark.parametrize("name", ["RiverSwim", "RiverSwim:size=20", "DeepSea:size=6", "DeepSea"])
def test_no_constant_action_is_good(name: str) -> None:
    mean = distribution(f"shuffled:20:{name}").mean()
    best = mean.expected_return(mean.solve(0.99).policy, 0.99, 1000)
    for action in range(2):
        constant = np.full(mean.num_states, action)
        assert mean.expected_return(constant, 0.99, 1000) < 0.1 * best


def test_ends_of_a_river_keep_their_actions_because_rewards_tell_them_apart() -> None:
    river, around = distribution("RiverSwim"), distribution("shuffled:1e6:RiverSwim")
    real, mean = (made.mean().transitions.to_dense() for made in (river, around))
    np.testing.assert_allclose(mean[[0, -1]], real[[0, -1]], atol=1e-5)
    assert not np.allclose(mean, real, atol=1e-5)


def test_different_counts_tell_actions_apart() -> None:
    counts = np.array([[[1.0, 1], [1, 1]], [[1, 2], [2, 1]]])
    for i in range(20):  # 20 problems, each with an order of its own
        told = FlatDirichlet(counts * (i + 1), [0, 1])
        mean = told.mean().transitions.to_dense()
        seen = shuffled(told, 3).counts.to_dense() - told.counts.to_dense()
        np.testing.assert_allclose(seen, 3 * mean)


def test_agents_are_told_the_map() -> None:
    experiment = Experiment("RiverSwim", "shuffled:20:RiverSwim", num_mdps=3)
    assert experiment.name == "shuffled:20:RiverSwim from RiverSwim"
    assert set(experiment.prior.counts.values) == {1.0}
    assert len(np.unique(experiment.mdps.probability, axis=0)) == 3


@pytest.mark.parametrize("seen", ["0", "-1", "inf", "nan"])
def test_something_must_be_seen(seen: str) -> None:
    with pytest.raises(InvalidInput, match=r"each pair = .*: must be a number above 0"):
        distribution(f"shuffled:{seen}:Chain")
    with pytest.raises(InvalidInput, match="must be shuffled:, the transitions seen of each pair"):
        distribution("shuffled:some:Chain")
