"""Random numbers in compiled code: xoshiro256++ (Blackman and Vigna, 2021), and a keyed hash.

A generator is an array of four `uint64`, seeded from the first words of a named stream.
"""

import numpy as np
from numpy import uint64

from ..jit import inlined
from ..types import Words

State = tuple[uint64, uint64, uint64, uint64]

LOW_BITS = uint64(0x7F7F7F7F7F7F7F7F)
_HIGH_BITS = uint64(0x8080808080808080)
_ONES = uint64(0x0101010101010101)
LOW_HALF = uint64(0xFFFFFFFF)
_GOLDEN = uint64(0x9E3779B97F4A7C15)
_MIX1 = uint64(0xBF58476D1CE4E5B9)
_MIX2 = uint64(0x94D049BB133111EB)
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
def advance(state: State) -> tuple[uint64, State]:
    """The next 64 random bits, and the generator's words after them."""
    s0, s1, s2, s3 = state
    total = s0 + s3
    word = ((total << uint64(23)) | (total >> uint64(41))) + s0
    shifted = s1 << uint64(17)
    s2 ^= s0
    s3 ^= s1
    return word, (s0 ^ s3, s1 ^ s2, s2 ^ shifted, (s3 << uint64(45)) | (s3 >> uint64(19)))


@inlined
def chosen(first: bool, one: State, other: State) -> State:
    """One of two generators' words, without a branch."""
    (a0, a1, a2, a3), (b0, b1, b2, b3) = one, other
    mask = uint64(0) - uint64(first)
    return (
        b0 ^ ((a0 ^ b0) & mask),
        b1 ^ ((a1 ^ b1) & mask),
        b2 ^ ((a2 ^ b2) & mask),
        b3 ^ ((a3 ^ b3) & mask),
    )


@inlined
def next_word(rng: Words) -> uint64:
    """The next 64 random bits."""
    word, state = advance(load(rng))
    store(rng, state)
    return word


@inlined
def signed(word: uint64) -> int:
    """A word as a signed integer: Numba adds signed to unsigned ones in floats."""
    return np.int64(word)  # type: ignore[return-value]


@inlined
def unit(word: uint64) -> float:
    """A number in [0, 1) from 64 random bits."""
    return np.float64(word >> uint64(11)) * _UNIT


@inlined
def uniform(rng: Words) -> float:
    """A uniform number in [0, 1)."""
    return unit(next_word(rng))


@inlined
def below(rng: Words, end: int) -> int:
    """A uniform whole number in [0, end)."""
    return int(uniform(rng) * end)


@inlined
def two_below(state: State, end: int) -> tuple[int, int, State]:
    """Two uniform whole numbers in [0, end) from one word (Lemire, 2019); end is below 2^32."""
    size = uint64(end)
    while True:
        word, state = advance(state)
        high, low = (word >> uint64(32)) * size, (word & LOW_HALF) * size
        rest = min(high & LOW_HALF, low & LOW_HALF)
        # A word that would make some numbers more likely than others is rejected.
        if rest >= size or rest >= (LOW_HALF + uint64(1)) % size:
            return signed(high >> uint64(32)), signed(low >> uint64(32)), state


@inlined
def binomial(state: State, trials: int, probability: float) -> tuple[int, State]:
    """The number of trials that succeed.

    A trial compares a random number with the probability, digit by digit to the base 128, until
    they differ. A random word has a digit for each of eight trials, in the low bits of its bytes;
    the high bits show the results of all eight comparisons.
    """
    if probability >= 1.0:
        return trials, state
    successes = 0
    while trials > 0 and probability > 0.0:
        scaled = probability * 128.0
        digit = int(scaled)
        probability = scaled - digit
        digits, undecided = repeated(digit), 0
        while trials > 0:
            word, state = advance(state)
            word, used = word & LOW_BITS, first_bytes(min(8, trials))
            successes += sum_of_bytes(is_less(word, digits, used))
            undecided += sum_of_bytes(is_equal(word, digits, used))
            trials -= 8
        trials = undecided
    return successes, state


@inlined
def repeated(byte: int) -> uint64:
    """A word of equal bytes."""
    return uint64(byte) * _ONES


@inlined
def first_bytes(number: int) -> uint64:
    """A word with the high bits of its first `number` bytes set."""
    half = uint64(4 * (8 - number))
    return (_HIGH_BITS >> half) >> half


@inlined
def is_less(word: uint64, digits: uint64, used: uint64) -> uint64:
    """A word with 1 in each used byte where the word's digit is less than the other."""
    return (~((word | _HIGH_BITS) - digits) & used) >> uint64(7)


@inlined
def is_equal(word: uint64, digits: uint64, used: uint64) -> uint64:
    """A word with 1 in each used byte where the digits are equal."""
    return (~((word ^ digits) + LOW_BITS) & used) >> uint64(7)


@inlined
def sum_of_bytes(word: uint64) -> int:
    """The sum of a word's bytes, which must be below 256."""
    return signed((word * _ONES) >> uint64(56))


@inlined
def mix(word: uint64) -> uint64:
    """A bijection that scatters bits (the finaliser of splitmix64)."""
    word = (word ^ (word >> uint64(30))) * _MIX1
    word = (word ^ (word >> uint64(27))) * _MIX2
    return word ^ (word >> uint64(31))


@inlined
def keyed_word(key: uint64, row: int, column: int) -> uint64:
    """64 random bits that depend only on a key and two numbers."""
    first = mix(key + uint64(row) * _GOLDEN)
    return mix(first + uint64(column + 1) * _GOLDEN)
