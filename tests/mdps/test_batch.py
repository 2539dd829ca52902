from typing import Any

import numpy as np
import pytest

from brlbench.errors import InvalidInput
from brlbench.mdps.batch import MDPs
from brlbench.mdps.mdp import MDP

STAY = np.array([[[1.0, 0.0]], [[0.0, 1.0]]])
LEAVE = np.array([[[0.5, 0.5]], [[1.0, 0.0]]])


def mdps() -> list[MDP]:
    """Three MDPs that differ in transitions, rewards and start."""
    return [
        MDP(STAY, [1, 2], 0),
        MDP(LEAVE, [1, 3], 1, reward_variances=4),
        MDP(LEAVE, [[[5, 6]], [[7, 8]]], "uniform"),
    ]


def same(one: MDP, other: MDP) -> None:
    np.testing.assert_array_equal(one.transitions.to_dense(), other.transitions.to_dense())
    np.testing.assert_array_equal(one.start, other.start)
    places = one.transitions
    for each in ("mean", "variance"):
        ours, theirs = (getattr(mdp.rewards, each).at(places) for mdp in (one, other))
        np.testing.assert_array_equal(ours, theirs)


def test_gathered_mdps_are_those_of_the_list() -> None:
    batch = MDPs.gather(mdps())
    assert len(batch) == 3
    for mdp, again in zip(mdps(), batch, strict=True):
        same(mdp, again)
    same(batch.mdp(-1), mdps()[2])
    assert batch.places.place.tolist() == [0, 1, 2, 3]


def test_only_numbers_that_differ_have_a_row_per_mdp() -> None:
    batch = MDPs.gather([MDP(STAY, 1), MDP(LEAVE, 1)])
    assert (len(batch.probability), len(batch.start), len(batch.variance)) == (2, 1, 1)
    assert batch.share_all and batch.rewards is not None
    assert not MDPs.gather(mdps()).share_all
    assert MDPs.gather(mdps()).rewards is None


@pytest.mark.parametrize(
    "which", [slice(1, 3), [2, 0, 2], np.array([1]), [], slice(None, None, -1)]
)
def test_some_of_them(which: Any) -> None:
    batch, numbers = MDPs.gather(mdps()), np.arange(3)[which]
    assert len(batch[which]) == len(numbers)
    for number, mdp in zip(numbers, batch[which], strict=True):
        same(mdp, mdps()[number])


def test_their_numbers_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="read-only"):
        MDPs.gather(mdps()).probability[0, 0] = 2


def test_columns_make_the_same_mdps_again() -> None:
    batch = MDPs.gather(mdps())
    again = MDPs.from_columns(2, 1, batch.places.place, batch.columns())
    assert again.content() == batch.content()
    shared = MDPs.gather([MDP(STAY, 1), MDP(LEAVE, 1)])
    assert MDPs.from_columns(2, 1, shared.places.place, shared.columns()).share_all


def test_columns_of_no_mdps_are_refused() -> None:
    batch = MDPs.gather(mdps())
    wrong = {**batch.columns(), "probabilities": np.full((3, 4), 0.3)}
    with pytest.raises(InvalidInput, match="must sum to 1"):
        MDPs.from_columns(2, 1, batch.places.place, wrong)
    with pytest.raises(InvalidInput, match="places must increase"):
        MDPs.from_columns(2, 1, [1, 0, 2, 3], batch.columns())


def test_contents_do_not_depend_on_the_other_mdps() -> None:
    """Hashes of experiments must not depend on the batches in which MDPs are drawn."""
    alone = [next(MDPs.gather([mdp]).contents()) for mdp in mdps()]
    assert list(MDPs.gather(mdps()).contents()) == alone
    assert len(set(alone)) == 3


def test_mdps_followed_by_others() -> None:
    batch = MDPs.gather(mdps())
    joined = batch[:1].followed_by(batch[1:])
    for mdp, again in zip(mdps(), joined, strict=True):
        same(mdp, again)
    shared = MDPs.gather([MDP(STAY, 1), MDP(LEAVE, 1)])
    assert shared.followed_by(shared).share_all


def test_mdps_over_more_places() -> None:
    narrow = MDPs.gather(mdps()[:1])
    wide = narrow.over(MDPs.gather(mdps()).places)
    assert wide.probability.shape == (1, 4)
    same(wide.mdp(0), mdps()[0])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ([], "must be a list of at least one brlbench.MDP"),
        ("GC", "of class str: must be a brlbench.MDP"),
        ([MDP(STAY, 1), 3], r"mdps\[1\] is of class int: must be a brlbench.MDP"),
        ([MDP(STAY, 1), MDP([[[1.0]]], 1)], "MDP 1 has 1 state and 1 action, MDP 0 has 2 and 1"),
    ],
)
def test_other_things_are_no_mdps(wrong: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        MDPs.gather(wrong)
