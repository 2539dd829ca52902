"""Hypotheses at the roots of simulations are drawn by their weights, in groups of any size."""

import numpy as np
import pytest

import brlbench as bb
from brlbench.agents.bamcp import case_urn
from brlbench.streams import generator
from helpers.compiled_urn import draw_cases, learn_case, reset_cases

pytestmark = pytest.mark.slow  # compiled code of tests is not kept on disk

DRAWS = 20_000


def coins(number: int) -> bb.Hypotheses:
    """Coins that show state 1 with unknown chances, one of them never."""
    chances = np.linspace(0, 0.9, number)
    rows = np.stack([1 - chances, chances], axis=1)[:, None, None, :]  # [K, 1, 1, S]
    mdps = [bb.MDP(np.repeat(row, 2, axis=0), 0.0) for row in rows]
    return bb.Hypotheses(mdps, generator("coins").uniform(0.1, 1, number))


@pytest.mark.parametrize("most", [1024, 4, 1])
def test_hypotheses_are_drawn_by_their_weights(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """13 hypotheses in groups of one, of four (the last one of one) and of all."""
    monkeypatch.setattr(case_urn, "_MOST_GROUPS", most)
    prior = coins(13)
    urn, belief = case_urn.build_case_urn(prior, 5), prior.belief()
    rng = generator("draws of hypotheses", most).integers(0, 2**64, 4, dtype=np.uint64)
    drawn = np.zeros(DRAWS, np.int64)
    reset_cases(urn, 0)
    for y in (0, 1, 1, 0):
        draw_cases(urn, rng, drawn)
        seen = np.bincount(drawn, minlength=len(prior)) / DRAWS
        error = np.sqrt(belief.weights * (1 - belief.weights) / DRAWS)
        assert (np.abs(seen - belief.weights) <= 4.5 * error).all()
        learn_case(urn, 0, y, 0.0)
        belief.observe(0, 0, y, 0.0)
    assert belief.weights[0] == 0
    assert urn.groups.sizes[case_urn.MEMBERS] == -(-12 // min(most, 13))
    reset_cases(urn, 0)
    draw_cases(urn, rng, drawn)
    assert 0 in drawn
