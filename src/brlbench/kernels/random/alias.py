"""Alias tables (Walker, 1977): a draw from weighted values in constant time.

A table has one cell per value. A cell holds two values; a limit says which part of
the cell belongs to the first. One random word chooses a cell uniformly, and one of its two
values. 40 bits of the word are used, so probabilities are exact to about 2**-40.
"""

from typing import NamedTuple

import numpy as np

from ..arrays import at
from ..jit import cold, inlined
from ..types import Floats, Integers, Words

BITS = 40  # for at most 2**23 cells: BITS + 23 bits fit into a word
WHOLE = 1 << BITS
_BITS = np.uint64(BITS)
_UNUSED = np.uint64(64 - BITS)
_PART = np.uint64(WHOLE - 1)
_LOW = np.int64((1 << 32) - 1)


class Alias(NamedTuple):
    """The cells of tables that share a pool; values are below 2**31."""

    limit: Words  # [pool]; the part of WHOLE that belongs to the cell's first value
    values: Integers  # [pool]; first + second * 2**32: packed, so that no branch is random


@inlined
def pick(alias: Alias, first: int, cells: int, word: np.uint64) -> int:
    """The value that a random word draws from the table at `first`."""
    place = (word >> _UNUSED) * np.uint64(cells)
    cell = at(first) + (place >> _BITS)
    shift = 0 if place & _PART < alias.limit[cell] else 32
    return (alias.values[cell] >> shift) & _LOW


@inlined
def set_cell(alias: Alias, cell: int, part: float, first: int, second: int) -> None:
    """Set a cell: its first value has this part, its second value the rest."""
    alias.limit[cell] = np.uint64(part * WHOLE + 0.5)
    alias.values[cell] = first | second << 32


@cold
def build(alias: Alias, values: Integers, weights: Floats, first: int, cells: int) -> None:
    """Make the table at `first` from the values and weights at the same place.

    A light cell, one below the mean, is filled up from a heavy cell. Once that becomes light
    itself, the next heavy cell fills it. Cells that rounding leaves unfilled weigh about as much as
    the mean, so none of them has a weight of zero.
    """
    end = first + cells
    mean = 0.0
    for cell in range(first, end):
        mean += weights[cell] / cells
        set_cell(alias, cell, 1.0, values[cell], values[cell])
    light = following(weights, first, end, mean, False)
    heavy = following(weights, first, end, mean, True)
    left = weights[heavy] if heavy < end else mean
    while heavy < end:
        if left > mean:
            if light == end:
                return
            set_cell(alias, light, weights[light] / mean, values[light], values[heavy])
            left -= mean - weights[light]
            light = following(weights, light + 1, end, mean, False)
        else:
            filled, heavy = heavy, following(weights, heavy + 1, end, mean, True)
            if heavy < end:
                set_cell(alias, filled, left / mean, values[filled], values[heavy])
                left = weights[heavy] - (mean - left)


@inlined
def following(weights: Floats, cell: int, end: int, mean: float, heavy: bool) -> int:
    """The first heavy (or light) cell, from `cell` on; `end` if there is none."""
    while cell < end and (weights[cell] > mean) != heavy:
        cell += 1
    return cell
