from typing import Any

import numpy as np
import pytest
from hypothesis import given
from numpy.typing import ArrayLike

from brlbench.beliefs.flat import FlatDirichlet
from brlbench.errors import InvalidInput
from brlbench.mdps.sparse import SparseTable, as_array, as_indices
from helpers.strategies import priors, reproducible


def small() -> SparseTable:
    """Entries at (0, 1, 0) = 3, (0, 1, 2) = 4, (2, 0, 1) = 5."""
    return SparseTable.from_entries(3, 2, [2, 0, 0], [0, 1, 1], [1, 2, 0], [5, 4, 3], "counts")


def test_entries_are_sorted_by_row() -> None:
    table = small()
    assert table.row_start.tolist() == [0, 0, 2, 2, 2, 3, 3]
    assert table.next_state.tolist() == [0, 2, 1]
    assert table.values.tolist() == [3, 4, 5]
    assert table.pair.tolist() == [1, 1, 4]
    assert (table.num_pairs, table.shape) == (6, (3, 2, 3))


def test_the_last_entry_of_a_place_counts_and_zero_removes() -> None:
    table = SparseTable.from_entries(
        2, 1, [0, 0, 1, 1], [0] * 4, [1, 1, 0, 0], [7, 2, 5, 0], "counts"
    )
    assert table.to_dense().tolist() == [[[0, 2]], [[0, 0]]]
    assert len(table.values) == 1


@reproducible
@given(priors())
def test_dense_and_back(prior: FlatDirichlet) -> None:
    dense = prior.counts.to_dense()
    again = SparseTable.from_dense(dense, "counts")
    np.testing.assert_array_equal(again.to_dense(), dense)
    assert again.content() == prior.counts.content()
    np.testing.assert_allclose(again.row_sums(), dense.sum(axis=2).ravel(), rtol=1e-12)


@reproducible
@given(priors())
def test_numbers_at_the_places_of_another_table(prior: FlatDirichlet) -> None:
    places = prior.counts
    at = prior.rewards.mean.at(places)
    expected = prior.rewards.mean.to_dense().reshape(-1, prior.num_states)
    np.testing.assert_array_equal(at, expected[places.pair, places.next_state])
    back = places.at(prior.rewards.mean)
    dense = places.to_dense().reshape(-1, prior.num_states)
    mean = prior.rewards.mean
    np.testing.assert_array_equal(back, dense[mean.pair, mean.next_state])


def test_a_table_without_entries() -> None:
    empty = SparseTable.from_entries(3, 2, [], [], [], [], "rewards")
    assert empty.row_sums().tolist() == [0.0] * 6
    assert empty.row_sums().dtype == np.float64
    assert empty.at(small()).tolist() == [0, 0, 0]
    assert small().at(empty).tolist() == []
    assert not empty.to_dense().any()


def test_other_values_in_the_same_places() -> None:
    doubled = small().replace(small().values * 2)
    np.testing.assert_array_equal(doubled.to_dense(), 2 * small().to_dense())


def test_tables_are_read_only_and_keep_no_reference_to_the_input() -> None:
    dense = np.ones((2, 1, 2))
    table = SparseTable.from_dense(dense, "counts")
    dense[0, 0, 0] = 9
    assert table.values.tolist() == [1, 1, 1, 1]
    with pytest.raises(ValueError, match="read-only"):
        table.values[0] = 2


def test_locate() -> None:
    assert small().locate(2) == "(state 2, action 0, next state 1)"


def test_content_tells_tables_apart() -> None:
    tables = [
        small(),
        small().replace(small().values + 1),
        SparseTable.from_entries(3, 2, [2, 0, 0], [0, 1, 1], [1, 2, 1], [5, 4, 3], "counts"),
        SparseTable.from_dense(np.ones((2, 3, 2)), "counts"),
        SparseTable.from_dense(np.ones((3, 2, 3)), "counts"),
    ]
    assert len({table.content() for table in tables}) == len(tables)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (np.ones((2, 3)), r"counts has shape \[2, 3\]: it must be \[states, actions, states\]"),
        (np.ones((2, 1, 3)), r"counts has shape \[2, 1, 3\]: it must be"),
        (np.ones((2, 0, 2)), r"counts has shape \[2, 0, 2\]: it must be"),
        (3.0, r"counts has shape \[\]: it must be"),
        ([[[1, 2]], [[1]]], "counts must be an array of numbers, all rows of one length"),
        ([[["a"]]], "counts must be an array of numbers"),
        ([[[1, np.nan]], [[1, 1]]], r"counts\[0, 0, 1\] = nan: must be a finite number"),
        ([[[1, 1]], [[-np.inf, 1]]], r"counts\[1, 0, 0\] = -inf: must be a finite number"),
    ],
)
def test_refused_arrays(table: ArrayLike, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        SparseTable.from_dense(table, "counts")


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (([3], [0], [0], [1]), "counts: state 3 is out of range: must be 0 to 2"),
        (([-1], [0], [0], [1]), "counts: state -1 is out of range: must be 0 to 2"),
        (([0], [2], [0], [1]), "counts: action 2 is out of range: must be 0 to 1"),
        (([0], [0], [7], [1]), "counts: next state 7 is out of range: must be 0 to 2"),
        (([0.5], [0], [0], [1]), "counts: state must be whole numbers, not float64"),
        (([True], [0], [0], [1]), "counts: state must be whole numbers, not bool"),
        (([0], [0], [0], [np.nan]), r"counts\[0\] = nan: must be a finite number"),
        (([0, 1], [0], [0], [1]), "counts: 2 states, 1 actions, 1 next states and 1 values"),
        (([0], [0], [0], [1, 2]), "and 2 values: must be four lists of one length"),
        (([0, [1]], [0], [0], [1]), "counts: state must be an array of numbers"),
    ],
)
def test_refused_entries(entry: tuple[Any, Any, Any, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        SparseTable.from_entries(3, 2, *entry, "counts")


@pytest.mark.parametrize("shape", [(0, 2), (2, 0), (-1, 1)])
def test_refused_sizes(shape: tuple[int, int]) -> None:
    message = f"counts: {shape[0]} states and {shape[1]} actions: both must be at least 1"
    with pytest.raises(InvalidInput, match=message):
        SparseTable.from_entries(*shape, [], [], [], [], "counts")


def test_arrays_and_indices_of_one_number() -> None:
    assert as_array(2, "it", np.float64).shape == ()
    assert as_indices(2, 3, "it").tolist() == [2]
    with pytest.raises(InvalidInput, match="it 3 is out of range: must be 0 to 2"):
        as_indices(3, 3, "it")
