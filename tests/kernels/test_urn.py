"""The urn against Dirichlet rows drawn explicitly, and against the law that follows from them."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brlbench.agents.model import build_counts, copy
from brlbench.agents.planning import build_urn
from brlbench.kernels.counts import Counts
from brlbench.kernels.urn import NONE, Urn
from brlbench.prior import FlatDirichlet
from compiled import count_all, new_rng
from compiled_planning import draw_next, draw_sequences, push_draw, undo_draws
from laws import assert_law, assert_same_frequencies
from strategies import priors, reproducible
from urn_cases import NUMBER, OBSERVED, PRIORS, SPARSE, TURNS, UNIFORM, frequencies, probabilities


def build(prior: FlatDirichlet, observed: list[tuple[int, int, int]], room: int = 40) -> Any:
    counts = build_counts(prior, len(observed))
    count_all(counts, np.array(observed, np.int64).reshape(-1, 3))
    return counts, build_urn(counts, room)


@pytest.mark.parametrize("turns", TURNS)
@pytest.mark.parametrize("observed", [[], OBSERVED], ids=["before", "after"])
@pytest.mark.parametrize("name", PRIORS)
def test_sequences(name: str, observed: list[tuple[int, int, int]], turns: list[int]) -> None:
    counts, urn = build(PRIORS[name], observed)
    out = np.zeros((NUMBER, len(turns)), np.int64)
    draw_sequences(counts, urn, np.array(turns), new_rng(), out)
    alphas = PRIORS[name].posterior(observed).counts.to_dense()
    assert_law(frequencies(out, 3), probabilities(alphas, turns))


@pytest.mark.parametrize("observed", [[], OBSERVED], ids=["before", "after"])
@pytest.mark.parametrize("name", PRIORS)
def test_sequences_of_mdps_that_are_drawn(name: str, observed: list[tuple[int, int, int]]) -> None:
    number, turns = 20_000, TURNS[2]
    counts, urn = build(PRIORS[name], observed)
    out = np.zeros((number, len(turns)), np.int64)
    draw_sequences(counts, urn, np.array(turns), new_rng(), out)
    rng = np.random.default_rng(2)
    alphas = PRIORS[name].posterior(observed).counts.to_dense().reshape(6, 3)
    rows = rng.standard_gamma(alphas, size=(number, 6, 3))
    limits = rows.cumsum(axis=2)[:, turns] / rows.sum(axis=2, keepdims=True)[:, turns]
    plain = (limits <= rng.random((number, len(turns), 1))).sum(axis=2)
    assert_same_frequencies(frequencies(out, 3), frequencies(plain, 3))


def test_a_next_state_that_was_impossible_can_be_pushed() -> None:
    """It then counts as much as any draw; without it the row goes back to what it was."""
    counts, urn = build(SPARSE, [])
    out = np.zeros((NUMBER, 1), np.int64)
    push_draw(counts, urn, 0, 1)
    rng = new_rng()
    drawn = [draw_next(counts, urn, 0, rng) for _ in range(20_000)]
    assert_law(np.bincount(drawn, minlength=3), [1 / 4, 1 / 4, 2 / 4])
    undo_draws(urn, 0)
    draw_sequences(counts, urn, np.array([0]), rng, out)
    assert_law(frequencies(out, 3), [1 / 3, 0, 2 / 3])


def test_a_draw_alone_counts_nothing() -> None:
    counts, urn = build(UNIFORM, OBSERVED)
    before = copy(urn)
    rng = new_rng()
    drawn = [draw_next(counts, urn, 0, rng) for _ in range(20_000)]
    assert_law(np.bincount(drawn, minlength=3), [1 / 4, 1 / 4, 2 / 4])
    assert_identical(urn, before)


def assert_identical(one: Any, other: Any) -> None:
    """The same numbers, bit for bit."""
    for name, array, expected in zip(one._fields, one, other, strict=True):
        if isinstance(array, np.ndarray):
            assert array.tobytes() == expected.tobytes(), name


def content(counts: Counts, urn: Urn) -> Counter[tuple[int, int]]:
    """How often each (pair, next state) is counted in an urn, after a check of its totals."""
    found: Counter[tuple[int, int]] = Counter()
    for pair, element in enumerate(urn.newest.tolist()):
        first = counts.row_start[pair]
        for entry in range(first, first + counts.row_length[pair]):
            found[pair, int(counts.entry_next[entry])] += int(urn.entry_extra[entry])
        while element != NONE:
            assert element < urn.size[0]
            found[pair, int(urn.drawn[element])] += int(urn.times[element])
            element = int(urn.older[element])
        assert urn.extra[pair] == sum(n for place, n in found.items() if place[0] == pair)
    assert urn.size[1] == found.total()
    return +found


@st.composite
def operations(draw: st.DrawFn) -> list[tuple[int, int] | int]:
    """Pushes of (pair, next state), and the draws that an undo leaves."""
    pushes = st.tuples(st.integers(0, 5), st.integers(0, 2))
    return draw(st.lists(pushes | st.integers(0, 10), max_size=40))


@reproducible
@given(operations(), st.sampled_from(list(PRIORS)), st.booleans())
def test_what_was_pushed_last_is_undone_first(
    operations: list[tuple[int, int] | int], name: str, learned: bool
) -> None:
    counts, urn = build(PRIORS[name], OBSERVED if learned else [])
    counts_before, before = copy(counts), copy(urn)
    pushed: list[tuple[int, int]] = []
    for operation in operations:
        if isinstance(operation, tuple):
            push_draw(counts, urn, *operation)
            pushed.append(operation)
        else:
            undo_draws(urn, min(operation, len(pushed)))
            del pushed[operation:]
        assert content(counts, urn) == Counter(pushed)
    # As if what was undone had never been.
    fresh = copy(before)
    for pair, y in pushed:
        push_draw(counts, fresh, pair, y)
    for array in ("extra", "entry_extra", "newest", "size"):
        assert getattr(urn, array).tobytes() == getattr(fresh, array).tobytes()
    undo_draws(urn, 0)
    for array in ("extra", "entry_extra", "newest", "size"):
        assert getattr(urn, array).tobytes() == getattr(before, array).tobytes()
    assert_identical(counts, counts_before)


@reproducible
@given(priors(), st.integers(0, 2**32 - 1))
def test_only_possible_next_states_are_drawn(prior: FlatDirichlet, seed: int) -> None:
    counts, urn = build(prior, [], room=200)
    rng = new_rng(seed, 1, 2, 3)
    possible = prior.counts.to_dense().reshape(-1, prior.num_states) > 0
    turns = np.arange(200) % len(possible)
    out = np.zeros((20, 200), np.int64)
    draw_sequences(counts, urn, turns, rng, out)
    assert possible[turns, out].all()


@pytest.mark.parametrize("pushed", [[], [0, 1, 1]])
@pytest.mark.parametrize("name", PRIORS)
def test_rounding_past_the_end_takes_a_possible_next_state(name: str, pushed: list[int]) -> None:
    """Totals that are far too large stand for those that rounding makes a little too large."""
    counts, urn = build(PRIORS[name], [])
    counts.total[:] *= 1e6
    rng = new_rng()
    possible = PRIORS[name].counts.to_dense().reshape(6, 3) > 0
    for pair in range(6):
        for y in pushed:
            if possible[pair, y]:
                push_draw(counts, urn, pair, y)
        assert all(possible[pair, draw_next(counts, urn, pair, rng)] for _ in range(200))


def test_rounding_past_the_end_skips_entries_without_a_count() -> None:
    counts, urn = build(SPARSE, [])
    row = slice(counts.row_start[4], counts.row_start[4] + 3)
    counts.entry_count[row] = [1.0, 2.0, 0.0]
    counts.total[4] = 1e6
    rng = new_rng()
    assert {draw_next(counts, urn, 4, rng) for _ in range(500)} == {1}
