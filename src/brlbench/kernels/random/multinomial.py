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
from .rng import (
    LOW_BITS,
    State,
    advance,
    binomial,
    chosen,
    first_bytes,
    is_equal,
    is_less,
    repeated,
    signed,
    sum_of_bytes,
    unit,
)

_BASE = 128
_MAX_BY_DIGIT = 16  # up to this many draws have only their first digit drawn
_NO_DIGIT = -1
_ONE_DIGIT = np.uint64(_BASE - 1)
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
def has_digits(number: int) -> bool:
    """Whether the first digits of this many draws are drawn, and compared."""
    return FEW < number <= _MAX_BY_DIGIT


@inlined
def new_draws(state: State, number: int, weight: float) -> tuple[Draws, State]:
    """Draw what is needed at first: all digits of FEW draws, the first digits, or nothing."""
    low = high = low_used = high_used = np.uint64(0)
    first = second = np.inf
    scale = 0.0
    if number <= FEW:
        if number > 0:
            word, state = advance(state)
            first = unit(word) * weight
        if number > 1:
            word, state = advance(state)
            second = unit(word) * weight
    else:
        scale = _BASE / weight
        if number <= _MAX_BY_DIGIT:
            word, state = advance(state)
            low, low_used = word & LOW_BITS, first_bytes(min(8, number))
            if number > 8:
                word, state = advance(state)
                high, high_used = word & LOW_BITS, first_bytes(number - 8)
    draws = Draws(
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
    return draws, state


@inlined
def skip_draws(state: State, number: int) -> State:
    """The generator's words after `new_draws`, for draws that need not be shared.

    It has no branches, because the number of words is random.
    """
    words = number if number <= FEW else 1 + (number > 8)
    words *= number <= _MAX_BY_DIGIT
    _, one = advance(state)
    _, two = advance(one)
    return chosen(words > 1, two, chosen(words > 0, one, state))


@inlined
def share_next(state: State, draws: Draws, shared: Shared, part: float) -> tuple[Shared, State]:
    """Add the row's next part, which has weight `part`."""
    weight = shared.weight + part
    if draws.number <= FEW:
        number = int(draws.first < weight) + int(draws.second < weight)
        return without_digit(number, weight), state
    if draws.number > _MAX_BY_DIGIT:
        left, chance = draws.number - shared.number, part / (draws.weight - shared.weight)
        more, state = binomial(state, left, chance)
        return without_digit(shared.number + more, weight), state
    end = draws.scale * weight
    digit = min(_BASE - 1, int(end))
    inside, undecided, passed = shared.inside, shared.undecided, shared.passed
    if digit != shared.digit:
        inside, undecided, passed = 0, count_equal(draws, digit), 0.0
    if undecided > 0:
        more, state = binomial(state, undecided, (end - digit - passed) / (1 - passed))
        inside, undecided, passed = inside + more, undecided - more, end - digit
    shared = Shared(
        number=count_below(draws, digit) + inside,
        weight=weight,
        digit=digit,
        inside=inside,
        undecided=undecided,
        passed=passed,
    )
    return shared, state


@inlined
def first_end(weight: float, part: float) -> tuple[np.uint64, float]:
    """Where the first part of a row ends: its digit, repeated, and the part of the digit in it."""
    end = _BASE / weight * part
    digit = min(_BASE - 1, int(end))
    return repeated(digit), end - digit


@inlined
def share_first(
    state: State, draws: Draws, part: float, digits: np.uint64, inside: float
) -> tuple[Shared, State]:
    """`share_next` for the first part, whose end is known, of 3 to 16 draws."""
    more, passed = 0, 0.0
    undecided = equal_to(draws, digits)
    if undecided > 0:
        more, state = binomial(state, undecided, inside)
        undecided, passed = undecided - more, inside
    shared = Shared(
        number=less_than(draws, digits) + more,
        weight=part,
        digit=signed(digits & _ONE_DIGIT),
        inside=more,
        undecided=undecided,
        passed=passed,
    )
    return shared, state


@inlined
def without_digit(number: int, weight: float) -> Shared:
    """Draws in the parts so far, where digits are not compared."""
    return Shared(number=number, weight=weight, digit=_NO_DIGIT, inside=0, undecided=0, passed=0.0)


@inlined
def count_below(draws: Draws, digit: int) -> int:
    """Number of draws with a lower digit."""
    return less_than(draws, repeated(digit))


@inlined
def less_than(draws: Draws, digits: np.uint64) -> int:
    """Number of draws with a lower digit than the repeated one."""
    low = is_less(draws.low, digits, draws.low_used)
    return sum_of_bytes(low + is_less(draws.high, digits, draws.high_used))


@inlined
def count_equal(draws: Draws, digit: int) -> int:
    """Number of draws with this digit."""
    return equal_to(draws, repeated(digit))


@inlined
def equal_to(draws: Draws, digits: np.uint64) -> int:
    """Number of draws with the repeated digit."""
    low = is_equal(draws.low, digits, draws.low_used)
    return sum_of_bytes(low + is_equal(draws.high, digits, draws.high_used))
