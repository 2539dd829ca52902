"""A few draws at once: for each, the first digit to the base 128 of a uniform number in [0, 1).

How many of the numbers are below one bound after another is how often each part of a row comes.
A digit has the low bits of a byte; its high bit shows how a comparison ends.
"""

from typing import NamedTuple

import numpy as np

from .jit import inlined
from .rng import (
    LOW_BITS,
    Words,
    first_bytes,
    is_equal,
    is_less,
    next_word,
    repeated,
    sum_of_bytes,
)

BASE = 128
MOST_DRAWS = 16


class Draws(NamedTuple):
    """The digits of up to 16 draws in two words, and which of the bytes are used."""

    low: np.uint64
    high: np.uint64
    low_used: np.uint64
    high_used: np.uint64


@inlined
def new_draws(rng: Words, number: int) -> Draws:
    """Random digits."""
    low, high = next_word(rng) & LOW_BITS, next_word(rng) & LOW_BITS
    return Draws(low, high, first_bytes(min(8, number)), first_bytes(max(0, number - 8)))


@inlined
def count_below(draws: Draws, digit: int) -> int:
    """How many of the draws have a lower digit."""
    digits = repeated(digit)
    low = is_less(draws.low, digits, draws.low_used)
    return sum_of_bytes(low + is_less(draws.high, digits, draws.high_used))


@inlined
def count_equal(draws: Draws, digit: int) -> int:
    """How many of the draws have this digit."""
    digits = repeated(digit)
    low = is_equal(draws.low, digits, draws.low_used)
    return sum_of_bytes(low + is_equal(draws.high, digits, draws.high_used))
