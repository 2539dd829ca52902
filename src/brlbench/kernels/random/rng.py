"""Random numbers in compiled code: xoshiro256++ (Blackman and Vigna, 2021), and a keyed hash.

A generator is an array of four `uint64`, seeded from the first words of a named stream.
"""

import numpy as np

from ..jit import inlined
from ..types import Words

State = tuple[np.uint64, np.uint64, np.uint64, np.uint64]

_1 = np.uint64(1)
_7 = np.uint64(7)
_11 = np.uint64(11)
_17 = np.uint64(17)
_19 = np.uint64(19)
_23 = np.uint64(23)
_27 = np.uint64(27)
_30 = np.uint64(30)
_31 = np.uint64(31)
_32 = np.uint64(32)
_41 = np.uint64(41)
_45 = np.uint64(45)
_56 = np.uint64(56)
LOW_BITS = np.uint64(0x7F7F7F7F7F7F7F7F)
_HIGH_BITS = np.uint64(0x8080808080808080)
_ONES = np.uint64(0x0101010101010101)
_LOW_HALF = np.uint64(0xFFFFFFFF)
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX2 = np.uint64(0x94D049BB133111EB)
_UNIT = 2.0**-53


@inlined
def load(rng: Words) -> State:
    """A generator's words, for loops that keep them in registers and `store` them afterwards."""
    return rng[0], rng[1], rng[2], rng[3]


@inlined
def store(rng: Words, state: State) -> None:
    """Set a generator's words."""
    rng[0], rng[1], rng[2], rng[3] = state


@inlined
def advance(state: State) -> tuple[np.uint64, State]:
    """The next 64 random bits, and the generator's words after them."""
    s0, s1, s2, s3 = state
    total = s0 + s3
    word = ((total << _23) | (total >> _41)) + s0
    shifted = s1 << _17
    s2 ^= s0
    s3 ^= s1
    return word, (s0 ^ s3, s1 ^ s2, s2 ^ shifted, (s3 << _45) | (s3 >> _19))


@inlined
def next_word(rng: Words) -> np.uint64:
    """The next 64 random bits."""
    word, state = advance(load(rng))
    store(rng, state)
    return word


@inlined
def signed(word: np.uint64) -> int:
    """A word as a signed integer: Numba adds signed to unsigned ones in floats."""
    return np.int64(word)  # type: ignore[return-value]


@inlined
def unit(word: np.uint64) -> float:
    """A number in [0, 1) from 64 random bits."""
    return np.float64(word >> _11) * _UNIT


@inlined
def uniform(rng: Words) -> float:
    """A uniform number in [0, 1)."""
    return unit(next_word(rng))


@inlined
def below(rng: Words, end: int) -> int:
    """A uniform whole number in [0, end)."""
    return int(uniform(rng) * end)


@inlined
def two_below(rng: Words, end: int) -> tuple[int, int]:
    """Two uniform whole numbers in [0, end) from one word (Lemire, 2019); end is below 2^32."""
    while True:
        word, size = next_word(rng), np.uint64(end)
        high, low = (word >> _32) * size, (word & _LOW_HALF) * size
        rest = min(high & _LOW_HALF, low & _LOW_HALF)
        # A word that would make some numbers more likely than others is rejected.
        if rest >= size or rest >= (_LOW_HALF + _1) % size:
            return signed(high >> _32), signed(low >> _32)


@inlined
def binomial(rng: Words, trials: int, probability: float) -> int:
    """The number of trials that succeed.

    A trial compares a random number with the probability, digit by digit to the base 128, until
    they differ. A random word has a digit for each of eight trials, in the low bits of its bytes;
    the high bits show the results of all eight comparisons.
    """
    if probability >= 1.0:
        return trials
    successes = 0
    while trials > 0 and probability > 0.0:
        scaled = probability * 128.0
        digit = int(scaled)
        probability = scaled - digit
        digits, undecided = repeated(digit), 0
        while trials > 0:
            word, used = next_word(rng) & LOW_BITS, first_bytes(min(8, trials))
            successes += sum_of_bytes(is_less(word, digits, used))
            undecided += sum_of_bytes(is_equal(word, digits, used))
            trials -= 8
        trials = undecided
    return successes


@inlined
def repeated(byte: int) -> np.uint64:
    """A word of equal bytes."""
    return np.uint64(byte) * _ONES


@inlined
def first_bytes(number: int) -> np.uint64:
    """A word with the high bits of its first `number` bytes set."""
    half = np.uint64(4 * (8 - number))
    return (_HIGH_BITS >> half) >> half


@inlined
def is_less(word: np.uint64, digits: np.uint64, used: np.uint64) -> np.uint64:
    """A word with 1 in each used byte where the word's digit is less than the other."""
    return (~((word | _HIGH_BITS) - digits) & used) >> _7


@inlined
def is_equal(word: np.uint64, digits: np.uint64, used: np.uint64) -> np.uint64:
    """A word with 1 in each used byte where the digits are equal."""
    return (~((word ^ digits) + LOW_BITS) & used) >> _7


@inlined
def sum_of_bytes(word: np.uint64) -> int:
    """The sum of a word's bytes, which must be below 256."""
    return signed((word * _ONES) >> _56)


@inlined
def mix(word: np.uint64) -> np.uint64:
    """A bijection that scatters bits (the finaliser of splitmix64)."""
    word = (word ^ (word >> _30)) * _MIX1
    word = (word ^ (word >> _27)) * _MIX2
    return word ^ (word >> _31)


@inlined
def keyed_word(key: np.uint64, row: int, column: int) -> np.uint64:
    """64 random bits that depend only on a key and two numbers."""
    first = mix(key + np.uint64(row) * _GOLDEN)
    return mix(first + np.uint64(column + 1) * _GOLDEN)
