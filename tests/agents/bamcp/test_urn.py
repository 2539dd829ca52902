"""BAMCP's urn against the law of draws from Dirichlet rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brlbench.agents.bamcp.urn import Urn, build_urn
from brlbench.mdps.dirichlet import FlatDirichlet
from helpers.compiled import new_rng
from helpers.compiled_urn import draw_sequences, learn_all
from helpers.laws import assert_law
from helpers.strategies import priors, reproducible, transitions
from helpers.urn_cases import NUMBER, OBSERVED, PRIORS, SPARSE, TURNS, frequencies, probabilities

pytestmark = pytest.mark.slow  # compiled code of tests is not kept on disk

Transitions = list[tuple[int, int, int]]


def build(prior: FlatDirichlet, observed: Transitions, background: bool, room: int = 6) -> Urn:
    urn = build_urn(prior, len(observed), background, room)
    learn_all(urn, np.array(observed, np.int64).reshape(-1, 3))
    return urn


@pytest.mark.parametrize("background", [True, False])
@pytest.mark.parametrize("turns", TURNS)
@pytest.mark.parametrize("observed", [[], OBSERVED], ids=["before", "after"])
@pytest.mark.parametrize("name", PRIORS)
def test_sequences(name: str, observed: Transitions, turns: list[int], background: bool) -> None:
    urn = build(PRIORS[name], observed, background)
    out = np.zeros((NUMBER, len(turns)), np.int64)
    draw_sequences(urn, np.array(turns), new_rng(), out)
    alphas = PRIORS[name].posterior(observed).counts.to_dense()
    assert_law(frequencies(out, 3), probabilities(alphas, turns))
    assert (urn.number == 0).all()


@reproducible
@given(st.data(), priors(), st.booleans(), st.booleans())
def test_only_possible_next_states_are_drawn(
    data: st.DataObject, prior: FlatDirichlet, uniform: bool, background: bool
) -> None:
    prior = prior.uniform() if uniform else prior
    observed = data.draw(transitions(prior))
    urn = build(prior, observed, background, room=200)
    possible = prior.posterior(observed).counts.to_dense().reshape(-1, prior.num_states) > 0
    turns = np.arange(200) % len(possible)
    out = np.zeros((20, 200), np.int64)
    draw_sequences(urn, turns, new_rng(), out)
    assert possible[turns, out].all()


@pytest.mark.parametrize("background", [True, False])
@pytest.mark.parametrize("name", PRIORS)
def test_rounding_past_the_end_takes_a_possible_next_state(name: str, background: bool) -> None:
    """Totals that are far too large stand for those that rounding makes a little too large."""
    urn = build(PRIORS[name], [], background)
    urn.counts.total[:] *= 1e6
    out = np.zeros((200, 6), np.int64)
    draw_sequences(urn, np.arange(6), new_rng(), out)
    assert (PRIORS[name].counts.to_dense().reshape(6, 3) > 0)[np.arange(6), out].all()


def test_entries_without_a_count_are_never_drawn() -> None:
    urn = build(SPARSE, [], True)
    counts = urn.counts
    row = slice(counts.row_start[4], counts.row_start[4] + 3)
    counts.entry_count[row] = [0.0, 2.0, 0.0]
    counts.total[4] = 1.0
    learn_all(urn, np.array([[2, 0, 1]]))
    out = np.zeros((500, 6), np.int64)
    draw_sequences(urn, np.full(6, 4), new_rng(), out)
    assert (out == 1).all()
