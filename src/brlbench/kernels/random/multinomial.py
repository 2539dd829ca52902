"""Numbers of draws that are shared among the parts of a row, part after part: multinomial.

Up to 16 draws are made at once: uniform numbers in [0, 1), of which a digit to the base 128 is
known. How many of them are below the end of one part after another is how often these come. Where
a draw has the digit of such an end, it is decided when the need arises. More draws than 16 are
shared by binomial numbers; of two or fewer, all digits are drawn.

A digit has the low bits of a byte; its high bit shows how a comparison ends.
"""

from typing import NamedTuple

import numpy as np

from ..jit import inlined
from ..types import Words
from .rng import (
    LOW_BITS,
    binomial,
    first_bytes,
    is_equal,
    is_less,
    next_word,
    repeated,
    sum_of_bytes,
    uniform,
)

_BASE = 128
_MOST_DIGITS = 16
FEW = 2


class Draws(NamedTuple):
    """Draws of a row; their digits are in the bytes of two words."""

    number: int
    weight: float  # the sum of the row's
    scale: float  # the base over it
    low: np.uint64
    high: np.uint64
    low_used: np.uint64  # which of the bytes are used
    high_used: np.uint64
    one: float  # where a draw falls in the row, if they are few; infinite if there is none
    other: float


class Shared(NamedTuple):
    """How far the draws are shared: some parts of the row are over."""

    number: int  # draws in these parts
    weight: float  # their sum
    digit: int  # of where they end
    inside: int  # draws with this digit that are in these parts
    undecided: int  # those that may be or not,
    passed: float  # and how much of the digit's interval is out of question for them


NOTHING_SHARED = Shared(0, 0.0, -1, 0, 0, 0.0)


@inlined
def new_draws(rng: Words, number: int, weight: float) -> Draws:
    """Draws with random digits."""
    low = high = low_used = high_used = np.uint64(0)
    one = other = np.inf
    if number <= FEW:
        if number > 0:
            one = uniform(rng) * weight
        if number > 1:
            other = uniform(rng) * weight
        return Draws(number, weight, 0.0, low, high, low_used, high_used, one, other)
    if number <= _MOST_DIGITS:
        low, low_used = next_word(rng) & LOW_BITS, first_bytes(min(8, number))
        if number > 8:
            high, high_used = next_word(rng) & LOW_BITS, first_bytes(number - 8)
    return Draws(number, weight, _BASE / weight, low, high, low_used, high_used, one, other)


@inlined
def share_next(rng: Words, draws: Draws, shared: Shared, part: float) -> Shared:
    """Find how many draws are in the next part of the row."""
    weight = shared.weight + part
    if draws.number <= FEW:
        number = int(draws.one < weight) + int(draws.other < weight)
        return Shared(number, weight, -1, 0, 0, 0.0)
    if draws.number > _MOST_DIGITS:
        left, chance = draws.number - shared.number, part / (draws.weight - shared.weight)
        return Shared(shared.number + binomial(rng, left, chance), weight, -1, 0, 0, 0.0)
    bound = draws.scale * weight
    digit = min(_BASE - 1, int(bound))
    inside, undecided, passed = shared.inside, shared.undecided, shared.passed
    if digit != shared.digit:
        inside, undecided, passed = 0, count_equal(draws, digit), 0.0
    if undecided > 0:
        more = binomial(rng, undecided, (bound - digit - passed) / (1 - passed))
        inside, undecided, passed = inside + more, undecided - more, bound - digit
    return Shared(count_below(draws, digit) + inside, weight, digit, inside, undecided, passed)


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
