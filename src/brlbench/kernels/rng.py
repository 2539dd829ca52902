"""Random numbers in compiled code: xoshiro256++ (Blackman and Vigna, 2021), and a keyed hash.

A generator is an array of four `uint64`, seeded from the first words of a named stream.
"""

import numpy as np
from numpy.typing import NDArray

from .jit import inlined

Words = NDArray[np.uint64]
State = tuple[np.uint64, np.uint64, np.uint64, np.uint64]

_0 = np.uint64(0)
_1 = np.uint64(1)
_2 = np.uint64(2)
_4 = np.uint64(4)
_11 = np.uint64(11)
_17 = np.uint64(17)
_19 = np.uint64(19)
_23 = np.uint64(23)
_27 = np.uint64(27)
_30 = np.uint64(30)
_31 = np.uint64(31)
_41 = np.uint64(41)
_45 = np.uint64(45)
_56 = np.uint64(56)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_FIVES = np.uint64(0x5555555555555555)
_THREES = np.uint64(0x3333333333333333)
_NIBBLES = np.uint64(0x0F0F0F0F0F0F0F0F)
_ONES = np.uint64(0x0101010101010101)
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX2 = np.uint64(0x94D049BB133111EB)
_UNIT = 2.0**-53
_TWO_53 = 2.0**53


@inlined
def load(rng: Words) -> State:
    """A generator's words, for loops that keep them in registers; afterwards `store` them."""
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
def binomial(rng: Words, trials: int, probability: float) -> int:
    """How many of some trials succeed.

    Up to 64 trials at a time, a bit each: a trial compares a random number with the probability
    bit by bit, and most trials are decided after a few bits.
    """
    if probability >= 1.0:
        return trials
    bits = np.uint64(probability * _TWO_53)
    successes = 0
    while trials > 0:
        lanes = min(trials, 64)
        undecided = _ALL >> np.uint64(64 - lanes)
        succeeded = _0
        bit = 53
        while undecided != _0 and bit > 0:
            bit -= 1
            word = next_word(rng)
            if (bits >> np.uint64(bit)) & _1 != _0:
                succeeded |= undecided & ~word
                undecided &= word
            else:
                undecided &= ~word
        successes += count_bits(succeeded)
        trials -= lanes
    return successes


@inlined
def count_bits(word: np.uint64) -> int:
    """How many bits are set."""
    word = word - ((word >> _1) & _FIVES)
    word = (word & _THREES) + ((word >> _2) & _THREES)
    word = (word + (word >> _4)) & _NIBBLES
    return int((word * _ONES) >> _56)


@inlined
def mix(word: np.uint64) -> np.uint64:
    """A bijection that scatters bits (the finaliser of splitmix64)."""
    word = (word ^ (word >> _30)) * _MIX1
    word = (word ^ (word >> _27)) * _MIX2
    return word ^ (word >> _31)


@inlined
def keyed_word(key: np.uint64, row: int, column: int) -> np.uint64:
    """64 random bits that depend on a key and two numbers only."""
    first = mix(key + np.uint64(row) * _GOLDEN)
    return mix(first + np.uint64(column + 1) * _GOLDEN)
