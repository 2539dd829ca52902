"""The files of the original C++ library, BBRL, read line by line.

A file is text, or text through zlib. Each class of the library writes its name, how many values
follow, and the values, one per line; a class begins with what its base class writes. An object
within another is a block: its length in bytes, then its text.
"""

import math
import re
from collections.abc import Sequence

import numpy as np

from ...errors import StoreError, short
from ...mdps.sparse import Floats


class Lines:
    """Lines of a file, or of a block in it, which are read one after the other."""

    def __init__(self, lines: Sequence[bytes], source: str, before: int = 0) -> None:
        """Start at the first line; `before` of the file's lines precede it."""
        self._lines, self._before, self.source = lines, before, source
        self._at = 0

    def damage(self, what: str) -> StoreError:
        """The error that names the last line that was read."""
        return damaged(self.source, f"line {self._before + self._at} {what}")

    def text(self, what: str) -> str:
        """The next line."""
        if self._at >= len(self._lines):
            number = self._before + len(self._lines)
            raise damaged(self.source, f"it ends at line {number}, before {what}")
        self._at += 1
        try:
            return self._lines[self._at - 1].removesuffix(b"\r").decode()
        except UnicodeDecodeError:
            raise self.damage("is not UTF-8 text") from None

    def whole(self, what: str, least: int = 0) -> int:
        """The next line, a whole number ≥ least."""
        text = self.text(what).strip()
        if not re.fullmatch(r"\d{1,15}", text, re.ASCII) or int(text) < least:
            raise self.damage(f"is {short(text)}, must be {what}, a whole number ≥ {least}")
        return int(text)

    def number(self, what: str) -> float:
        """The next line, a finite number ≥ 0."""
        text = self.text(what)
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not 0 <= value < math.inf:
            raise self.damage(f"is {short(text)}, must be {what}, a finite number ≥ 0")
        return value

    def header(self, name: str, size: int | None = None) -> int:
        """The name of a class and the number of its values, which must be `size` if given."""
        if (text := self.text(f"the name {name}")).strip() != name:
            raise self.damage(f"is {short(text)}, must be {name!r}")
        announced = self.whole(f"the number of values of {name}")
        if size is not None and announced != size:
            raise self.damage(f"is {announced}, must be {size}, the number of values of {name}")
        return announced

    def rows(self, number: int, width: int, what: str) -> Floats:
        """The next lines [number, width] of numbers."""
        lines = self._lines[self._at : self._at + number]
        words = b" ".join(lines).split()
        if len(lines) < number or len(words) != number * width:
            raise self.damage(f"is followed by {len(words)} of {number * width} numbers of {what}")
        try:
            rows = np.array(words, dtype=np.float64).reshape(number, width)
        except ValueError as error:
            raise self.damage(f"is followed by {what}: {error}") from None
        if not np.isfinite(rows).all():
            raise self.damage(f"is followed by {what} that are not finite")
        self._at += number
        return rows

    def block(self, what: str) -> "Lines":
        """The lines of an object: a line with its length in bytes precedes them."""
        length = self.whole(f"the length of {what}")
        start = self._at
        while length > 0 and self._at < len(self._lines):
            length -= len(self._lines[self._at]) + 1
            self._at += 1
        if length:
            self._at = start
            raise self.damage(f"is not the length of {what}")
        return Lines(self._lines[start : self._at], self.source, self._before + start)

    @property
    def is_empty(self) -> bool:
        """Whether there is no line at all."""
        return not self._lines

    def words(self) -> list[bytes]:
        """All words of the lines that are left."""
        words = b" ".join(self._lines[self._at :]).split()
        self._at = len(self._lines)
        return words

    def end(self) -> None:
        """Raise if something is left."""
        if self.words():
            raise damaged(self.source, "something follows where it should end")


def damaged(source: str, why: str) -> StoreError:
    """The error that a file can't be read."""
    return StoreError(f"{source} is damaged: {why}")
