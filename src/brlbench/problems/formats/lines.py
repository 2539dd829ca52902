"""Numbers by (state, action, next state), as lists of lines in files of distributions."""

import math
import sys
from typing import Any

import numpy as np

from ...errors import InvalidInput, short
from ...mdps.sparse import Floats, SparseTable, check_entries

ALL = "*"
"""Stands for all states or all actions."""


def tables(
    lines: Any, shape: tuple[int, int], key: str, columns: tuple[str, ...]
) -> list[SparseTable]:
    """One table per column of numbers."""
    num_states, num_actions = shape
    _check_lines(lines, shape, key, columns)
    places, numbers = [np.zeros(0, dtype=np.int64)], []
    for line in lines:
        state, action, next_state = (
            np.arange(end) if index == ALL else index
            for index, end in zip(line, (*shape, num_states), strict=False)
        )
        pair = np.add.outer(state * num_actions, action)
        places.append(np.add.outer(pair * num_states, next_state).ravel())
        numbers.append([*line[3:], 0.0, 0.0][: len(columns)])
    repeated = np.repeat(
        np.array(numbers, dtype=np.float64).reshape(-1, len(columns)),
        [len(place) for place in places[1:]],
        axis=0,
    )
    place = np.concatenate(places)
    return [SparseTable.from_places(*shape, place, values) for values in repeated.T]


def _check_lines(lines: Any, shape: tuple[int, int], key: str, columns: tuple[str, ...]) -> None:
    """Check each line, and how many entries all of them make."""
    if not isinstance(lines, list):
        raise InvalidInput(f"{key} = {short(lines)}: must be a list of lists")
    num_entries = 0
    for i, line in enumerate(lines):
        try:
            _check_line(line, shape, columns)
        except InvalidInput as error:
            raise InvalidInput(f"{key}[{i}] = {short(line)}: {error}") from None
        ends = zip(line, (*shape, shape[0]), strict=False)
        num_entries += math.prod(end for index, end in ends if index == ALL)
    check_entries(num_entries, f"{key}: {num_entries} entries")


def _check_line(line: Any, shape: tuple[int, int], columns: tuple[str, ...]) -> None:
    names = ("state", "action", "next_state", *columns)
    if not isinstance(line, list) or not 4 <= len(line) <= len(names):
        optional = "".join(f" or [{', '.join(names)}]" for _ in columns[1:])
        raise InvalidInput(f"must be [{', '.join(names[:4])}]{optional}")
    for name, index, end in zip(names, line, (*shape, shape[0]), strict=False):
        if index == ALL:
            continue
        if type(index) is not int:
            raise InvalidInput(f'{name} {short(index)} must be a whole number or "{ALL}"')
        if not 0 <= index < end:
            raise InvalidInput(f"{name} {short(index)} is out of range, must be 0 to {end - 1}")
    for name, number in zip(columns, line[3:], strict=False):
        if type(number) not in (int, float) or not abs(number) <= sys.float_info.max:
            raise InvalidInput(f"{name} {short(number)} must be a finite number")
        if name != "mean" and number < 0:
            raise InvalidInput(f"{name} {short(number)} must not be negative")


def lines_of(places: SparseTable, *columns: Floats) -> list[list[float]]:
    """One line per entry; a variance of zero, the fifth number, is left out."""
    states, actions = np.divmod(places.pair, places.num_actions)
    parts = (part.tolist() for part in (states, actions, places.next_state, *columns))
    return [[*line[:4], *filter(None, line[4:])] for line in zip(*parts, strict=True)]
