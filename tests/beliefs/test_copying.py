import numpy as np
import pytest

from brlbench.beliefs.copying import private_copy
from brlbench.beliefs.flat import FlatDirichlet
from brlbench.problems import distribution
from helpers.vandals import arrays_in, vandalise


@pytest.mark.parametrize("name", ["GC", "Grid", "Chain", "uniform:GDL"])
def test_a_copy_is_equal_and_shares_no_memory(name: str) -> None:
    given = distribution(name)
    given.mean().solve(0.9)
    copied = private_copy(given)
    assert type(copied) is type(given)
    assert (copied.name, copied.digest, repr(copied)) == (given.name, given.digest, repr(given))
    ours, its = arrays_in(given), arrays_in(copied)
    assert len(ours) == len(its) > 3
    for one, other in zip(ours, its, strict=True):
        np.testing.assert_array_equal(one, other)
        assert not np.shares_memory(one, other)
        assert one.flags.writeable == other.flags.writeable


def test_a_copy_can_be_ruined_without_harm() -> None:
    given = distribution("GDL")
    before = FlatDirichlet(given.counts.to_dense(), given.rewards.mean.to_dense()).digest
    copied = private_copy(given)
    vandalise(copied)
    assert not vars(copied)
    after = FlatDirichlet(given.counts.to_dense(), given.rewards.mean.to_dense()).digest
    assert after == before


def test_plain_data_is_copied_too() -> None:
    given = {"table": np.arange(3), "list": [1, [2]]}
    copied = private_copy(given)
    vandalise(copied)
    assert given["table"].tolist() == [0, 1, 2]  # type: ignore[attr-defined]
    assert given["list"] == [1, [2]]
