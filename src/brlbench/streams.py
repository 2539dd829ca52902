"""Random streams keyed by names.

A stream is a Philox generator whose key is a digest of the names, so it depends on its purpose and
never on what was drawn before. Compiled code starts its own generators from the stream's first four
words, which `first_words` computes without building a generator.
"""

import hashlib
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]

_MULTIPLIERS = (0xD2E7470EE14C6C93, 0xCA5A826395121157)
_WEYL = (0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B)
_ROUNDS = 10
_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)


def key(*names: object) -> Words:
    """The 128-bit key [2] of the stream with these names."""
    text = "\x1f".join(str(name) for name in names)
    return np.frombuffer(hashlib.blake2b(text.encode(), digest_size=16).digest(), np.uint64)


def keys(names: Iterable[object], numbers: Iterable[Iterable[int]]) -> Words:
    """The keys [n, 2] of the streams named by `names` and then by each of `numbers`."""
    start = hashlib.blake2b("".join(f"{name}\x1f" for name in names).encode(), digest_size=16)
    digests = []
    for last_names in numbers:
        digest = start.copy()
        digest.update("\x1f".join(map(str, last_names)).encode())
        digests.append(digest.digest())
    return np.frombuffer(b"".join(digests), np.uint64).reshape(-1, 2)


def generator(*names: object) -> np.random.Generator:
    """The NumPy generator of the stream with these names."""
    return np.random.Generator(np.random.Philox(key=key(*names)))


def first_words(keys: Sequence[Words] | Words) -> Words:
    """The first four words [n, 4] of each keyed stream: what its generator draws first."""
    key0, key1 = np.array(keys, dtype=np.uint64).reshape(-1, 2).T.copy()
    counter = [np.full(len(key0), word, dtype=np.uint64) for word in (1, 0, 0, 0)]
    for _ in range(_ROUNDS):
        high0, low0 = _multiply(_MULTIPLIERS[0], counter[0])
        high1, low1 = _multiply(_MULTIPLIERS[1], counter[2])
        counter = [high1 ^ counter[1] ^ key0, low1, high0 ^ counter[3] ^ key1, low0]
        key0 = key0 + np.uint64(_WEYL[0])
        key1 = key1 + np.uint64(_WEYL[1])
    return np.stack(counter, axis=1)


def _multiply(constant: int, values: Words) -> tuple[Words, Words]:
    """The high and the low 64 bits of a 128-bit product."""
    a1, a0 = np.uint64(constant >> 32), np.uint64(constant & 0xFFFFFFFF)
    b1, b0 = values >> _HALF, values & _LOW
    middle = a1 * b0 + ((a0 * b0) >> _HALF)
    carry = a0 * b1 + (middle & _LOW)
    return a1 * b1 + (middle >> _HALF) + (carry >> _HALF), np.uint64(constant) * values
