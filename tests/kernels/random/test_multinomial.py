"""Shortcuts in sharing draws give what sharing gives; `test_outcomes` tests the law."""

import numpy as np
import pytest

from helpers.compiled import new_rng
from helpers.compiled_planning import draw_words, share_first

NUMBER = 2_000


@pytest.mark.parametrize("number", [3, 8, 9, 16])
@pytest.mark.parametrize("part", [1e-9, 0.3, 0.5, 127 / 128, 1.0])
def test_a_first_part_whose_end_is_known(number: int, part: float) -> None:
    """The same draws are in it, and the generator goes on from the same words."""
    out = np.zeros((NUMBER, 2, 9))
    share_first(new_rng(), number, part, out)
    assert (out[:, 0] == out[:, 1]).all()
    if part == 0.3:  # some draws have the digit of its end
        assert out[:, 0, 4].any() and out[:, 0, 3].any()


@pytest.mark.parametrize("number", [0, 1, 2, 3, 8, 9, 16, 17, 40])
def test_draws_that_are_skipped(number: int) -> None:
    """The generator goes on from the words that it has after drawing."""
    words, skipped = new_rng(), np.zeros(4, np.uint64)
    draw_words(words, number, skipped)
    assert (words == skipped).all()
