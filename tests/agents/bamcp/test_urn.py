"""BAMCP's urns against the law of draws from Dirichlet rows."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brlbench.agents.bamcp.ball_urn import BallUrn, build_balls, has_balls
from brlbench.agents.bamcp.table_urn import TableUrn, build_tables
from brlbench.agents.bamcp.urn import Urn, build_urn, tiny_prior
from brlbench.beliefs.flat import FlatDirichlet
from helpers.compiled import new_rng
from helpers.compiled_urn import draw_sequences, learn_all
from helpers.laws import assert_law
from helpers.strategies import priors, reproducible, transitions
from helpers.urn_cases import (
    NUMBER,
    OBSERVED,
    PRIORS,
    SPARSE,
    TURNS,
    UNIFORM,
    WHOLE,
    frequencies,
    probabilities,
)

pytestmark = pytest.mark.slow  # compiled code of tests is not kept on disk

Transitions = list[tuple[int, int, int]]


BALLS, TABLES, BACKGROUND = "balls", "tables", "tables with background"
CASES = [
    (name, kind)
    for name, kind in itertools.product(PRIORS, (BALLS, TABLES, BACKGROUND))
    if kind != BALLS or name in ("uniform", "whole")
]


def build(prior: FlatDirichlet, observed: Transitions, kind: str, room: int = 6) -> Urn:
    urn: Urn = (
        build_balls(prior, len(observed), room)
        if kind == BALLS
        else build_tables(prior, len(observed), kind == BACKGROUND, room)
    )
    learn_all(urn, np.array(observed, np.int64).reshape(-1, 3))
    return urn


@pytest.mark.parametrize("turns", TURNS)
@pytest.mark.parametrize("observed", [[], OBSERVED], ids=["before", "after"])
@pytest.mark.parametrize(("name", "kind"), CASES)
def test_sequences(name: str, observed: Transitions, turns: list[int], kind: str) -> None:
    urn = build(PRIORS[name], observed, kind)
    out = np.zeros((NUMBER, len(turns)), np.int64)
    draw_sequences(urn, np.array(turns), new_rng(), out)
    alphas = PRIORS[name].posterior(observed).counts.to_dense()
    assert_law(frequencies(out, 3), probabilities(alphas, turns))
    assert_all_is_undone(urn)


def assert_all_is_undone(urn: Urn) -> None:
    if isinstance(urn, BallUrn):
        np.testing.assert_array_equal(urn.size, urn.learned)
    else:
        assert (urn.number == 0).all()


@reproducible
@given(st.data(), priors(), st.sampled_from([BALLS, TABLES, BACKGROUND]))
def test_only_possible_next_states_are_drawn(
    data: st.DataObject, prior: FlatDirichlet, kind: str
) -> None:
    prior = prior.uniform() if kind == BALLS or data.draw(st.booleans()) else prior
    observed = data.draw(transitions(prior))
    urn = build(prior, observed, kind, room=200)
    possible = prior.posterior(observed).counts.to_dense().reshape(-1, prior.num_states) > 0
    turns = np.arange(200) % len(possible)
    out = np.zeros((20, 200), np.int64)
    draw_sequences(urn, turns, new_rng(), out)
    assert possible[turns, out].all()


def test_balls_of_many_states_and_pairs() -> None:
    """Numbers of states beyond a byte; and so many pairs that each draw is undone alone."""
    states, step = 1000, np.arange(1000)
    counts = np.zeros((states, 1, states))
    counts[step, 0, (step + 300) % states], counts[step, 0, step] = 2, 1
    prior = FlatDirichlet(counts, 0.0)
    observed = [(7, 0, 999), (7, 0, 999), (999, 0, 0)]
    urn = build_urn(prior, len(observed), False, 2)
    learn_all(urn, np.array(observed))
    out = np.zeros((30_000, 2), np.int64)
    draw_sequences(urn, np.array([7, 7]), new_rng(), out)
    assert isinstance(urn, BallUrn) and urn.balls.dtype == np.uint16
    assert_all_is_undone(urn)
    names = np.array([7, 307, 999])
    assert_law(
        frequencies(np.searchsorted(names, out), 3),
        probabilities(np.array([[[1, 2, 2]]]), [0, 0]),
    )
    assert (names[np.searchsorted(names, out)] == out).all()


@pytest.mark.parametrize(
    ("prior", "horizon", "expected"),
    [
        (WHOLE, 1000, True),
        (SPARSE, 10, False),  # tenths
        (UNIFORM.scaled(7000), 10, True),
        (UNIFORM.scaled(10_000), 10, False),  # too many counts
        (UNIFORM, 10**7, False),  # too many that may be learned
        (UNIFORM.scaled(1e300), 10, False),
    ],
)
def test_balls_are_for_whole_and_few_counts(
    prior: FlatDirichlet, horizon: int, expected: bool
) -> None:
    assert has_balls(prior, horizon, 6) == expected
    tiny = tiny_prior(prior, horizon, 6)
    assert isinstance(tiny, FlatDirichlet)
    assert has_balls(tiny, 2, 6) == expected
    assert type(build_urn(tiny, 2, False, 6)) is (BallUrn if expected else TableUrn)


def test_horizons_that_are_too_long_are_noticed() -> None:
    with pytest.raises(IndexError, match="more decisions than the agent was trained for"):
        learn_all(build_balls(UNIFORM, 2, 6), np.array([[0, 0, 1]] * 3))


@pytest.mark.parametrize("background", [True, False])
@pytest.mark.parametrize("name", PRIORS)
def test_rounding_past_the_end_takes_a_possible_next_state(name: str, background: bool) -> None:
    """Totals that are far too large stand for those that rounding makes a little too large."""
    urn = build_tables(PRIORS[name], 0, background, 6)
    learn_all(urn, np.zeros((0, 3), np.int64))
    urn.counts.total[:] *= 1e6
    out = np.zeros((200, 6), np.int64)
    draw_sequences(urn, np.arange(6), new_rng(), out)
    assert (PRIORS[name].counts.to_dense().reshape(6, 3) > 0)[np.arange(6), out].all()


def test_entries_without_a_count_are_never_drawn() -> None:
    urn = build_tables(SPARSE, 1, True, 6)
    counts = urn.initial
    row = slice(counts.row_start[4], counts.row_start[4] + 3)
    counts.entry_count[row] = [0.0, 2.0, 0.0]
    counts.total[4] = 1.0
    learn_all(urn, np.array([[2, 0, 1]]))
    out = np.zeros((500, 6), np.int64)
    draw_sequences(urn, np.full(6, 4), new_rng(), out)
    assert (out == 1).all()
