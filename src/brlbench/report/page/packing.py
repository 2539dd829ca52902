"""Packs arrays of numbers into the page."""

import base64
import zlib
from collections.abc import Iterable

import numpy as np


class Numbers:
    """Arrays of one type, joined end to end; JSON refers to each by its start and length."""

    def __init__(self, dtype: str) -> None:
        self._dtype = np.dtype(dtype)
        self._arrays = [np.zeros(0, self._dtype)]
        self._length = 0

    def add(self, values: Iterable[float]) -> list[int]:
        """Append an array; returns its start and length."""
        array = np.fromiter(values, self._dtype)
        self._arrays.append(array)
        self._length += len(array)
        return [self._length - len(array), len(array)]

    def packed(self) -> str:
        """All numbers as text; all first bytes come first, which compresses better."""
        raw = np.concatenate(self._arrays).view(np.uint8).reshape(-1, self._dtype.itemsize)
        return base64.b64encode(zlib.compress(raw.T.tobytes(), 9)).decode()
