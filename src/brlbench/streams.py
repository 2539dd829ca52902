"""Random streams keyed by names.

A stream is a Philox generator whose key is a digest of the names, so it depends on its purpose and
never on what was drawn before. Compiled code starts its own generators from the stream's first four
words.
"""

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]


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
    words = np.empty((len(keys), 4), np.uint64)
    bits = np.random.Philox(key=0)
    state: Any = bits.state
    for i, own_key in enumerate(keys):
        state["state"]["key"] = own_key
        bits.state = state  # much quicker than a new generator
        words[i] = bits.random_raw(4)
    return words
