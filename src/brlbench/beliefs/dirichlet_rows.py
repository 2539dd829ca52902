"""Rows of probabilities drawn from Dirichlet distributions."""

from collections.abc import Sequence

import numpy as np

from ..errors import InvalidInput
from ..mdps.sparse import Floats, Integers

_NUMBERS_AT_ONCE = 2**16  # fits in a processor's cache
LEAST_COUNT = 1e-300  # draws divide by it


def draw_rows(
    counts: Floats,  # [E]
    row_start: Integers,  # [R + 1]
    rngs: Sequence[np.random.Generator],
) -> Floats:
    """Draw the probabilities [n, E] of all rows n times, each time with another generator."""
    probabilities = np.empty((len(rngs), len(counts)))
    size = max(1, _NUMBERS_AT_ONCE // probabilities.shape[1])
    row = np.repeat(np.arange(len(row_start) - 1), np.diff(row_start))
    for first in range(0, len(rngs), size):
        some = rngs[first : first + size]
        probabilities[first : first + size] = _draw_some(counts, row_start, row, some)
    return probabilities


def _draw_some(
    counts: Floats, row_start: Integers, row: Integers, rngs: Sequence[np.random.Generator]
) -> Floats:
    """Normalise gamma variates in logarithms: with tiny counts they would underflow."""
    shapes = counts + 1
    uniforms = np.empty((len(rngs), len(shapes)))
    gammas = np.empty_like(uniforms)
    for i, rng in enumerate(rngs):
        rng.random(out=uniforms[i])
        rng.standard_gamma(shapes, out=gammas[i])
    logs = np.log(gammas) + np.log(1.0 - uniforms) / counts
    largest = np.maximum.reduceat(logs, row_start[:-1], axis=1)
    weights = np.exp(logs - largest[:, row])
    rows = (len(row_start) - 1) * np.arange(len(rngs))[:, None] + row
    sums = np.bincount(rows.ravel(), weights.ravel())
    return np.asarray(weights / sums[rows])


def check_count(number: float, place: str) -> None:
    """Refuse a count that is neither zero nor large enough to divide by."""
    if not number == 0 and not number >= LEAST_COUNT:
        must = "must not be negative" if number < 0 else f"must be 0 or at least {LEAST_COUNT}"
        raise InvalidInput(f"the count at {place} is {number}: {must}")
