"""Sparse tables of numbers by (state, action, next state).

Notation: S states, A actions, a pair is `state * A + action`, and E is the number of entries kept.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InvalidInput, short
from ..memory import check_memory

_BYTES_PER_ENTRY = 200  # about, while a table is made
_BYTES_PER_PAIR = 50
_MAX_PLACES = np.iinfo(np.int64).max  # a place is numbered by a 64-bit integer

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class SparseTable:
    """A table [S, A, S] that keeps its entries row by row, one row per (state, action) pair."""

    num_states: int
    num_actions: int
    row_start: Integers  # [S * A + 1]; the entries of a pair are row_start[pair]:row_start[pair+1]
    next_state: Integers  # [E], increasing within a row
    values: Floats  # [E]

    def __post_init__(self) -> None:
        for array in (self.row_start, self.next_state, self.values):
            array.flags.writeable = False

    @classmethod
    def from_dense(cls, table: ArrayLike, what: str) -> "SparseTable":
        """Keep the non-zero numbers of an array [S, A, S]; `what` names it in errors."""
        dense = _finite(table, what)
        if dense.ndim != 3 or dense.shape[0] != dense.shape[2] or 0 in dense.shape:
            raise InvalidInput(
                f"{what} has shape {list(dense.shape)}: it must be [states, actions, states]"
            )
        num_states, num_actions, _ = dense.shape
        check_size(num_states, num_actions)
        place = np.flatnonzero(dense)
        return cls.from_places(num_states, num_actions, place, dense.ravel()[place])

    @classmethod
    def from_entries(
        cls,
        num_states: int,
        num_actions: int,
        state: ArrayLike,
        action: ArrayLike,
        next_state: ArrayLike,
        values: ArrayLike,
        what: str,
    ) -> "SparseTable":
        """Build a table from its entries; if a place has several, the last one counts."""
        if num_states < 1 or num_actions < 1:
            raise InvalidInput(
                f"{what}: {num_states} states and {num_actions} actions: both must be at least 1"
            )
        check_size(num_states, num_actions)
        states = as_indices(state, num_states, f"{what}: state")
        actions = as_indices(action, num_actions, f"{what}: action")
        following = as_indices(next_state, num_states, f"{what}: next state")
        numbers = _finite(values, what)
        if not states.shape == actions.shape == following.shape == numbers.shape:
            raise InvalidInput(
                f"{what}: {states.size} states, {actions.size} actions, {following.size} next "
                f"states and {numbers.size} values: must be four lists of one length"
            )
        place = (states * num_actions + actions) * num_states + following
        return cls.from_places(num_states, num_actions, place, numbers)

    @classmethod
    def from_places(
        cls, num_states: int, num_actions: int, place: Integers, numbers: Floats
    ) -> "SparseTable":
        """Build a table from valid entries; if a place has several, the last one counts."""
        # The first occurrence in the reversed list is the last one given.
        place, last = np.unique(place[::-1], return_index=True)
        numbers = numbers[::-1][last]
        place, numbers = place[numbers != 0], numbers[numbers != 0]
        pair = place // num_states
        row_start = np.searchsorted(pair, np.arange(num_states * num_actions + 1))
        return cls(num_states, num_actions, row_start, place % num_states, numbers)

    @classmethod
    def from_dict(
        cls,
        num_states: int,
        num_actions: int,
        entries: Mapping[tuple[int, int, int], float],
        what: str,
    ) -> "SparseTable":
        """Build a table from numbers by (state, action, next state)."""
        state, action, following = np.array(list(entries), dtype=np.int64).reshape(-1, 3).T
        values = list(entries.values())
        return cls.from_entries(num_states, num_actions, state, action, following, values, what)

    @property
    def num_pairs(self) -> int:
        """The number of (state, action) pairs."""
        return self.num_states * self.num_actions

    @property
    def shape(self) -> tuple[int, int, int]:
        """The shape of the dense table."""
        return self.num_states, self.num_actions, self.num_states

    @cached_property
    def pair(self) -> Integers:
        """The pair [E] of each entry."""
        return np.repeat(np.arange(self.num_pairs), np.diff(self.row_start))

    @cached_property
    def place(self) -> Integers:
        """The number [E] of each entry's place in the dense table."""
        return self.pair * self.num_states + self.next_state

    def union(self, other: "SparseTable") -> "SparseTable":
        """A table of ones, at the places of this table and of another."""
        place = np.concatenate([self.place, other.place])
        return self.from_places(*self.shape[:2], place, np.ones(len(place)))

    def replace(self, values: Floats) -> "SparseTable":
        """A table with the same places and other numbers."""
        return SparseTable(
            self.num_states, self.num_actions, self.row_start, self.next_state, values
        )

    def renumbered(self, order: Integers) -> "SparseTable":
        """The same table where state x has become state `order[x]`, an array [S]."""
        states, actions = np.divmod(self.pair, self.num_actions)
        pair = order[states] * self.num_actions + actions
        place = pair * self.num_states + order[self.next_state]
        return self.from_places(self.num_states, self.num_actions, place, self.values)

    def to_dense(self) -> Floats:
        """The table as an array [S, A, S]."""
        check_dense(self.num_states, self.num_actions)
        dense = np.zeros((self.num_pairs, self.num_states))
        dense[self.pair, self.next_state] = self.values
        return dense.reshape(self.shape)

    def at(self, places: "SparseTable") -> Floats:
        """This table's numbers at the entries of another table (zero where it has none)."""
        return self.at_places(places.place)

    def at_places(self, wanted: Integers) -> Floats:
        """This table's numbers at some places of the dense table (zero where it has none)."""
        mine = self.place
        entry = np.searchsorted(mine, wanted)
        entry[entry == len(mine)] = 0
        if not len(mine):
            return np.zeros(len(wanted))
        return np.where(mine[entry] == wanted, self.values[entry], 0.0)

    def action_groups(self, state: int, *numbers: Floats) -> list[list[int]]:
        """The actions of a state, grouped by equal rows: of next states, and of numbers [E]."""
        groups: dict[tuple[bytes, ...], list[int]] = {}
        for action in range(self.num_actions):
            pair = state * self.num_actions + action
            row = slice(self.row_start[pair], self.row_start[pair + 1])
            content = tuple(each[row].tobytes() for each in (self.next_state, *numbers))
            groups.setdefault(content, []).append(action)
        return list(groups.values())

    def row_sums(self) -> Floats:
        """The sum [S * A] of each row."""
        sums = np.bincount(self.pair, self.values, minlength=self.num_pairs)
        # Without entries, NumPy returns integers.
        return sums.astype(np.float64, copy=False)

    def locate(self, entry: int) -> str:
        """The place of an entry, in words."""
        return f"({self.locate_pair(self.pair[entry])}, next state {int(self.next_state[entry])})"

    def locate_pair(self, pair: int | np.int64) -> str:
        """A pair, in words."""
        state, action = divmod(int(pair), self.num_actions)
        return f"state {state}, action {action}"

    def content(self) -> bytes:
        """The table as bytes, for digests."""
        header = np.array(self.shape[:2], dtype=np.int64)
        parts = (header, self.row_start, self.next_state, self.values)
        return b"".join(np.ascontiguousarray(part).tobytes() for part in parts)


def check_size(num_states: int, num_actions: int) -> None:
    """Raise if there are too many states and actions for any table of them."""
    needed = num_states * num_actions * _BYTES_PER_PAIR
    if num_states**2 * num_actions > _MAX_PLACES:
        needed = max(needed, _MAX_PLACES)
    sizes = f"{short(num_states)} states and {short(num_actions)} actions"
    check_memory(needed, sizes, "use fewer states or actions")


def check_entries(number: int, what: str) -> None:
    """Raise if a table has too many entries; `what` names the table."""
    check_memory(number * _BYTES_PER_ENTRY, what, "use fewer states or actions")


def check_dense(num_states: int, num_actions: int) -> None:
    """Raise if there are too many states and actions for a table with all their transitions."""
    sizes = f"{short(num_states)} states and {short(num_actions)} actions"
    check_entries(num_states**2 * num_actions, f"a table of all transitions between {sizes}")


def as_array(numbers: ArrayLike, what: str, dtype: type | None = None) -> NDArray[Any]:
    """An array; `what` names it in the error if its rows differ in length or aren't numbers."""
    try:
        return np.asarray(numbers, dtype)
    except (TypeError, ValueError, OverflowError):
        raise InvalidInput(f"{what} must be an array of numbers, all rows of one length") from None


def _finite(numbers: ArrayLike, what: str) -> Floats:
    array = as_array(numbers, what, np.float64)
    wrong = np.argwhere(~np.isfinite(array))
    if len(wrong):
        place = [int(i) for i in wrong[0]]
        raise InvalidInput(f"{what}{place} = {array[tuple(place)]}: must be a finite number")
    return array


def as_indices(numbers: ArrayLike, end: int, what: str) -> Integers:
    """Whole numbers from 0 to `end - 1`; `what` names them in errors."""
    array = np.atleast_1d(as_array(numbers, what))
    if array.size == 0:
        return np.zeros(0, dtype=np.int64)
    if not np.issubdtype(array.dtype, np.integer):
        raise InvalidInput(f"{what} must be whole numbers, not {array.dtype}")
    wrong = np.flatnonzero((array < 0) | (array >= end))
    if len(wrong):
        raise InvalidInput(f"{what} {array[wrong[0]]} is out of range: must be 0 to {end - 1}")
    return array.astype(np.int64)
