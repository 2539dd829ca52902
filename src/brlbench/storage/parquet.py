"""Checks what a Parquet file says about itself, before Polars reads the file.

Polars allocates what a file announces, and ends the process where that fails. So the footer and the
header of every page are read here: sizes must agree with each other, and all that they expand to
must fit in memory. Both are Thrift structs in the compact protocol; only whole numbers, lists and
structs of them are kept, by the number of their field:

    footer           2: schema   3: rows   4: row groups
    row group        1: columns   3: rows
    column           3: its metadata
    its metadata     5: values   7: compressed bytes   9: first page   11: page of the dictionary
    page             2: bytes   3: compressed bytes   5: data   7: dictionary   8: data, version 2
    data, dictionary 1: values
"""

from functools import partial
from typing import Any

from ..memory import check_memory

_MAGIC = b"PAR1"
_MAX_DEPTH = 12  # of structs; those of Parquet are less than half as deep
_BYTES_PER_VALUE = 40  # about, while it is decoded and copied


def check_sizes(data: bytes) -> tuple[int, list[int]]:
    """The numbers of rows of a file and of values in each column, if all of it fits in memory.

    What a damaged file raises is left to the caller.
    """
    end = len(data) - 8
    start = end - int.from_bytes(data[end:-4], "little")
    if data[:4] != _MAGIC or data[-4:] != _MAGIC or not 4 <= start < end:
        raise ValueError("it has no footer")
    footer = _Reader(data, start).struct()
    num_rows, groups = _size(footer, 3), footer.get(4, [])
    if num_rows != sum(_size(group, 3) for group in groups):
        raise ValueError("its numbers of rows differ")
    if not groups:
        raise ValueError("it has no rows")
    values = [0] * len(groups[0][1])
    needed = 0
    for group in groups:
        for i, column in enumerate(group[1]):
            number, expanded = _check_column(data, start, column[3])
            values[i] += number
            needed += expanded + number * _BYTES_PER_VALUE
    check_memory(needed, f"what it expands to, {num_rows} rows,", "use a smaller file")
    return num_rows, values


def _check_column(data: bytes, footer: int, column: dict[int, Any]) -> tuple[int, int]:
    """The number of values of a column, and the bytes that its pages expand to."""
    values = expanded = 0
    at = column.get(11, column[9])
    end = at + _size(column, 7)
    if not 4 <= at <= column[9] <= end <= footer:
        raise ValueError("a column is not within the file")
    while at < end:
        reader = _Reader(data, at)
        page = reader.struct()
        at = reader.at + _size(page, 3)
        expanded += _size(page, 2)
        header = page.get(5) or page.get(8)
        if header is None:
            _size(page[7], 1)
        else:
            values += _size(header, 1)
    if at != end or values != _size(column, 5):
        raise ValueError("the pages of a column don't add up")
    return values, expanded


def _size(struct: dict[int, Any], field: int) -> int:
    size: int = struct[field]
    if size < 0:
        raise ValueError(f"a size is {size}")
    return size


class _Reader:
    """Reads Thrift's compact protocol from a place on."""

    def __init__(self, data: bytes, at: int) -> None:
        self.data, self.at = data, at
        self._depth = 0

    def struct(self) -> dict[int, Any]:
        """The fields of a struct by number; None for texts and numbers with a fraction."""
        self._deeper()
        data, at, number = self.data, self.at, 0
        fields: dict[int, Any] = {}
        while byte := data[at]:
            at += 1
            if byte > 15:
                number += byte >> 4
            else:
                self.at = at
                number, at = self._signed(), self.at
            kind = byte & 15
            if kind in (5, 6) and data[at] < 128:  # a small number: the most frequent case
                fields[number] = (data[at] >> 1) ^ -(data[at] & 1)
                at += 1
            elif kind == 8 and data[at] < 128:  # a short text
                fields[number] = None
                at += 1 + data[at]
            elif kind == 12:
                self.at = at
                fields[number], at = self.struct(), self.at
            elif kind > 2:  # 1 and 2 are true and false
                self.at = at
                fields[number], at = self._value(kind), self.at
        self.at = at + 1
        self._depth -= 1
        return fields

    def _value(self, kind: int) -> Any:
        if kind in (4, 5, 6):
            return self._signed()
        if kind == 8:
            size = self._unsigned()
            self.at += size
            return None
        if kind == 12:
            return self.struct()
        if kind in (9, 10):
            return self._list()
        if kind in (1, 2, 3, 7):
            self.at += 8 if kind == 7 else 1
            return None
        raise ValueError(f"its metadata has a value of kind {kind}")

    def _list(self) -> list[Any]:
        self._deeper()
        head = self._byte()
        size = self._unsigned() if head >> 4 == 15 else head >> 4
        if size > len(self.data) - self.at:  # every element takes a byte or more
            raise ValueError(f"a list of {size} elements is longer than the file")
        read = self.struct if head & 15 == 12 else partial(self._value, head & 15)
        values = [read() for _ in range(size)]
        self._depth -= 1
        return values

    def _deeper(self) -> None:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise ValueError("its metadata is nested too deeply")

    def _byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def _unsigned(self) -> int:
        number = self._byte()
        if number < 128:
            return number
        number &= 127
        for shift in range(7, 70, 7):
            byte = self._byte()
            number |= (byte & 127) << shift
            if byte < 128:
                return number
        raise ValueError("its metadata has a number of more than 64 bits")

    def _signed(self) -> int:
        number = self._unsigned()
        return (number >> 1) ^ -(number & 1)
