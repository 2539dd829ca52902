"""NumPy's legacy random numbers in compiled code: the same numbers from the same seed.

`numpy.random.RandomState` is frozen, so what was drawn from a seed in 2016 can be drawn again.
These functions draw as its methods of the same names do; a test compares them number by number.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from brlbench.kernels.jit import cold, inlined
from brlbench.kernels.types import Floats, Integers

WORDS, MIDDLE = 624, 397


class Stream(NamedTuple):
    """The state of a generator."""

    key: NDArray[np.uint32]  # [624]
    position: Integers  # [1]; of the next word
    spare: Floats  # [1]; a normal number that is left, or NaN


def stream(seed: int) -> Stream:
    """The stream of `np.random.seed(seed)`."""
    state: Any = np.random.RandomState(seed).get_state()
    return Stream(key=state[1].copy(), position=np.array([state[2]]), spare=np.array([math.nan]))


@cold
def renew(stream: Stream) -> None:
    """Make the next 624 words."""
    key = stream.key
    for i in range(WORDS):
        after = i + 1 if i + 1 < WORDS else 0
        middle = i + MIDDLE if i + MIDDLE < WORDS else i + MIDDLE - WORDS
        mixed = (key[i] & np.uint32(0x80000000)) | (key[after] & np.uint32(0x7FFFFFFF))
        word = key[middle] ^ (mixed >> np.uint32(1))
        if mixed & np.uint32(1):
            word ^= np.uint32(0x9908B0DF)
        key[i] = word
    stream.position[0] = 0


@inlined
def word(stream: Stream) -> np.uint32:
    """32 random bits."""
    if stream.position[0] == WORDS:
        renew(stream)
    y = stream.key[stream.position[0]]
    stream.position[0] += 1
    y ^= y >> np.uint32(11)
    y ^= (y << np.uint32(7)) & np.uint32(0x9D2C5680)
    y ^= (y << np.uint32(15)) & np.uint32(0xEFC60000)
    y ^= y >> np.uint32(18)
    return np.uint32(y)


@inlined
def random_sample(stream: Stream) -> float:
    """A number from [0, 1)."""
    high, low = np.int64(word(stream)) >> 5, np.int64(word(stream)) >> 6
    return (high * 67108864.0 + low) * (1.0 / 9007199254740992.0)


@inlined
def choice(stream: Stream, number: int) -> int:
    """One of some things, all equally probable; a single one takes no random number."""
    most = np.int64(number - 1)
    if most == 0:
        return 0
    mask = most
    for shift in (1, 2, 4, 8, 16):
        mask |= mask >> shift
    drawn = np.int64(word(stream)) & mask
    while drawn > most:
        drawn = np.int64(word(stream)) & mask
    return int(drawn)


@inlined
def binomial(stream: Stream, p: float) -> int:
    """1 with probability p, else 0."""
    less = min(p, 1.0 - p)
    drawn = 1 if random_sample(stream) > math.exp(math.log(1.0 - less)) else 0
    return drawn if p <= 0.5 else 1 - drawn


@cold
def standard_normal(stream: Stream) -> float:
    """A normal number, by the polar method."""
    if not math.isnan(stream.spare[0]):
        number = stream.spare[0]
        stream.spare[0] = math.nan
        return number
    square = 0.0
    while square >= 1.0 or square == 0.0:
        x = 2.0 * random_sample(stream) - 1.0
        y = 2.0 * random_sample(stream) - 1.0
        square = x * x + y * y
    factor = math.sqrt(-2.0 * math.log(square) / square)
    stream.spare[0] = factor * x
    return factor * y


@inlined
def standard_gamma(stream: Stream, shape: float) -> float:
    """A gamma number of shape 1 or more."""
    if shape == 1.0:
        return -math.log(1.0 - random_sample(stream))
    return higher_gamma(stream, shape)


@cold
def higher_gamma(stream: Stream, shape: float) -> float:
    """A gamma number of a shape above 1."""
    b = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * b)
    while True:
        x = standard_normal(stream)
        v = 1.0 + c * x
        while v <= 0.0:
            x = standard_normal(stream)
            v = 1.0 + c * x
        v = v * v * v
        u = random_sample(stream)
        if u < 1.0 - 0.0331 * (x * x) * (x * x):
            return b * v
        if math.log(u) < 0.5 * x * x + b * (1.0 - v + math.log(v)):
            return b * v


@cold
def beta(stream: Stream, a: float, b: float) -> float:
    """A beta number, whose parameters are at least 1."""
    if a <= 1.0 and b <= 1.0:
        total = 2.0
        while total > 1.0 or total == 0.0:
            x = random_sample(stream)
            total = x + random_sample(stream)
        return x / total
    x = standard_gamma(stream, a)
    return x / (x + standard_gamma(stream, b))
