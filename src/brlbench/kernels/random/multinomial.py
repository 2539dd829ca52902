"""Multinomial numbers: draws from a row, shared among its parts, one part after another.

A draw is a uniform number in [0, 1). Up to 16 draws are made at once, but only their first digits
in base 128. Counting draws below each part's end gives its multiplicity. A draw with the same first
digit as an end is decided when that end is reached. More than 16 draws are shared by binomial
numbers. One or two draws are made with all their digits.

A digit fills the low bits of a byte; the high bit receives the result of a comparison.
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
_MAX_BY_DIGIT = 16  # up to this many draws have only their first digit drawn
_NO_DIGIT = -1
FEW = 2  # up to this many draws have all their digits drawn


class Draws(NamedTuple):
    """Draws from a row; their digits are in the bytes of two words."""

    number: int
    weight: float  # of the whole row
    scale: float  # the base divided by this weight
    low: np.uint64
    high: np.uint64
    low_used: np.uint64  # high bits of the bytes in use
    high_used: np.uint64
    first: float  # where the draws fall in the row, if they are FEW; infinite if not drawn
    second: float


class Shared(NamedTuple):
    """The draws that fall in the parts of the row handled so far."""

    number: int
    weight: float  # of these parts
    digit: int  # of the last part's end, or _NO_DIGIT
    inside: int  # draws with this digit, known to fall in these parts
    undecided: int  # draws with this digit, not decided yet
    passed: float  # part of the digit's interval in which no undecided draw falls


NOTHING_SHARED = Shared(number=0, weight=0.0, digit=_NO_DIGIT, inside=0, undecided=0, passed=0.0)


@inlined
def new_draws(rng: Words, number: int, weight: float) -> Draws:
    """Draw what is needed at first: all digits of FEW draws, the first digits, or nothing."""
    low = high = low_used = high_used = np.uint64(0)
    first = second = np.inf
    scale = 0.0
    if number <= FEW:
        if number > 0:
            first = uniform(rng) * weight
        if number > 1:
            second = uniform(rng) * weight
    else:
        scale = _BASE / weight
        if number <= _MAX_BY_DIGIT:
            low, low_used = next_word(rng) & LOW_BITS, first_bytes(min(8, number))
            if number > 8:
                high, high_used = next_word(rng) & LOW_BITS, first_bytes(number - 8)
    return Draws(
        number=number,
        weight=weight,
        scale=scale,
        low=low,
        high=high,
        low_used=low_used,
        high_used=high_used,
        first=first,
        second=second,
    )


@inlined
def share_next(rng: Words, draws: Draws, shared: Shared, part: float) -> Shared:
    """Add the row's next part, which has weight `part`."""
    weight = shared.weight + part
    if draws.number <= FEW:
        return without_digit(int(draws.first < weight) + int(draws.second < weight), weight)
    if draws.number > _MAX_BY_DIGIT:
        left, chance = draws.number - shared.number, part / (draws.weight - shared.weight)
        return without_digit(shared.number + binomial(rng, left, chance), weight)
    end = draws.scale * weight
    digit = min(_BASE - 1, int(end))
    inside, undecided, passed = shared.inside, shared.undecided, shared.passed
    if digit != shared.digit:
        inside, undecided, passed = 0, count_equal(draws, digit), 0.0
    if undecided > 0:
        more = binomial(rng, undecided, (end - digit - passed) / (1 - passed))
        inside, undecided, passed = inside + more, undecided - more, end - digit
    return Shared(
        number=count_below(draws, digit) + inside,
        weight=weight,
        digit=digit,
        inside=inside,
        undecided=undecided,
        passed=passed,
    )


@inlined
def without_digit(number: int, weight: float) -> Shared:
    """Draws in the parts so far, where digits are not compared."""
    return Shared(number=number, weight=weight, digit=_NO_DIGIT, inside=0, undecided=0, passed=0.0)


@inlined
def count_below(draws: Draws, digit: int) -> int:
    """Number of draws with a lower digit."""
    digits = repeated(digit)
    low = is_less(draws.low, digits, draws.low_used)
    return sum_of_bytes(low + is_less(draws.high, digits, draws.high_used))


@inlined
def count_equal(draws: Draws, digit: int) -> int:
    """Number of draws with this digit."""
    digits = repeated(digit)
    low = is_equal(draws.low, digits, draws.low_used)
    return sum_of_bytes(low + is_equal(draws.high, digits, draws.high_used))
