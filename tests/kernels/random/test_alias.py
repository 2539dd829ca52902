"""Alias tables against the probabilities that they are made of."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brlbench.builders.planning import build_alias
from brlbench.kernels.random.alias import WHOLE, Alias
from brlbench.mdps.sparse import Floats
from helpers.compiled import draw_words, new_rng
from helpers.compiled_urn import build, pick_all
from helpers.laws import assert_law
from helpers.strategies import reproducible


def table_of(weights: Floats) -> Alias:
    table = build_alias(len(weights))
    build(table, np.arange(len(weights)), weights, 0, len(weights))
    return table


def probabilities(table: Alias) -> Floats:
    """What a table draws: the sum over its cells."""
    cells = len(table.limit)
    own_part = table.limit / WHOLE
    found = np.zeros(cells)
    np.add.at(found, table.values & (2**32 - 1), own_part / cells)
    np.add.at(found, table.values >> 32, (1 - own_part) / cells)
    return found


weights_of_any_size = st.just(0.0) | st.floats(1e-3, 1e3) | st.floats(1e-30, 1e30)


@reproducible
@given(st.lists(weights_of_any_size, min_size=1, max_size=30).filter(any))
def test_probabilities_are_exact(weights: list[float]) -> None:
    array = np.array(weights)
    found = probabilities(table_of(array))
    np.testing.assert_allclose(found, array / array.sum(), rtol=0, atol=2.0**-40)
    assert (found[array == 0] == 0).all()


@pytest.mark.parametrize(
    "weights", [[1.0], [0.1] * 7, [0.1, 0.2, 0.3], [0, 0, 1, 0], [1, 0, 1, 0, 1 / 3], [1e-300, 1]]
)
def test_frequencies(weights: list[float]) -> None:
    array = np.array(weights)
    words, out = np.zeros(50_000, np.uint64), np.zeros(50_000, np.int64)
    draw_words(new_rng(), words)
    pick_all(table_of(array), 0, len(array), words, out)
    assert_law(np.bincount(out, minlength=len(array)), array / array.sum())


def test_where_a_word_leads() -> None:
    """The word's upper bits, times the number of cells: a cell, and a place in it."""
    table = table_of(np.array([1.0, 5.0, 2.0]))
    ends = [k * 2**64 // 3 + i * 2**23 for k in range(3) for i in range(-3, 4)]
    words = [0, 2**64 - 1, *(end for end in ends if 0 <= end < 2**64)]
    out = np.zeros(len(words), np.int64)
    pick_all(table, 0, 3, np.array(words, np.uint64), out)
    for word, found in zip(words, out.tolist(), strict=True):
        cell, place = divmod((word >> 24) * 3, WHOLE)
        values = int(table.values[cell])
        assert found == (values % 2**32 if place < table.limit[cell] else values >> 32)


def test_tables_lie_side_by_side() -> None:
    values, weights = np.array([7, 8, 9, 3, 4]), np.array([1.0, 2.0, 3.0, 1.0, 0.0])
    table, words = build_alias(5), np.zeros(60_000, np.uint64)
    before = table.limit[:3].tolist(), table.values[:3].tolist()
    build(table, values, weights, 3, 2)
    assert (table.limit[:3].tolist(), table.values[:3].tolist()) == before
    build(table, values, weights, 0, 3)
    draw_words(new_rng(), words)
    out = np.zeros(len(words), np.int64)
    pick_all(table, 3, 2, words, out)
    assert (out == 3).all()
    pick_all(table, 0, 3, words, out)
    assert_law(np.bincount(out, minlength=10)[7:], np.array([1, 2, 3]) / 6)
