"""Copying between arrays, and unsigned indices.

Without Numba's reference counts (see `jit`), compiled code can't assign one slice to another.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .jit import inlined
from .types import Floats


@inlined
def copy_start(target: NDArray[Any], source: NDArray[Any], length: int) -> None:
    """Copy the first elements of a vector."""
    for i in range(length):
        target[i] = source[i]


@inlined
def copy_vector(target: NDArray[Any], source: NDArray[Any]) -> None:
    """Copy a vector to one of the same length."""
    copy_start(target, source, len(source))


@inlined
def copy_matrix(target: Floats, source: Floats) -> None:
    """Copy a matrix to one of the same shape."""
    for i in range(source.shape[0]):
        for j in range(source.shape[1]):
            target[i, j] = source[i, j]


@inlined
def at(index: int) -> np.uint64:
    """An index known to be at least zero: compiled code need not test its sign."""
    return np.uint64(index)
