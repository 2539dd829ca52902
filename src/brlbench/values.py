"""Kinds of values, each with its limits and the sentence that states them.

Calling a kind with a value returns the value as plain Python data, or raises ValueError with the
remedy ("must be a whole number at least 1"). One check serves all: arguments and agents'
parameters are checked by `check`, and fields of files are annotated with a kind, which pydantic
calls (see `schemas`).
"""

import math
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Generic, TypeVar

import numpy as np

from .errors import InvalidInput, short

_LONGEST = 1e15  # seconds
Value = TypeVar("Value")


@dataclass(frozen=True)
class Kind(Generic[Value]):
    """A kind of values."""

    allowed: str  # completes "must be …"
    accepts: Callable[[Any], bool]
    convert: Callable[[Any], Value]

    def __call__(self, value: Any) -> Value:
        """The value as plain Python data; ValueError unless it is of this kind."""
        value = _plain(value)
        if not self.accepts(value):
            raise ValueError(f"must be {self.allowed}")
        return self.convert(value)

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return {"type": "function-plain", "function": {"type": "no-info", "function": self}}


def check(value: Any, name: str, kind: Kind[Value]) -> Value:
    """The value of an argument as plain Python data; InvalidInput unless it is of this kind."""
    try:
        return kind(value)
    except InvalidInput:  # a text that says more about itself
        raise
    except ValueError as error:
        raise InvalidInput(f"{name} = {short(_plain(value))}: {error}") from None


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def number(
    least: float = -math.inf,
    most: float = math.inf,
    above: float = -math.inf,
    below: float = math.inf,
) -> Kind[float]:
    """Finite real numbers from `least` to `most`, greater than `above`, less than `below`."""

    def accepts(value: Any) -> bool:
        return _is_number(value) and least <= value <= most and above < value < below

    if (above, below) == (0, 1):
        return Kind("a number between 0 and 1, both excluded", accepts, float)
    limits = {"above": above, "below": below, "at least": least, "at most": most}
    return Kind(_limited("a number", limits), accepts, float)


def whole(least: float = -math.inf, most: float = math.inf) -> Kind[int]:
    """Whole numbers from `least` to `most`."""

    def accepts(value: Any) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most

    return Kind(_limited("a whole number", {"at least": least, "at most": most}), accepts, int)


def _is_number(value: Any) -> bool:
    """Whether a value is a finite number: no infinity, NaN or integer beyond all floats."""
    real = isinstance(value, int | float) and not isinstance(value, bool)
    return real and abs(value) <= sys.float_info.max


def _limited(kind: str, limits: dict[str, float]) -> str:
    listed = [f"{word} {limit:g}" for word, limit in limits.items() if math.isfinite(limit)]
    return f"{kind} {' and '.join(listed)}".strip()


def words(*options: str) -> Kind[str]:
    """One of some words."""
    allowed = " or ".join(f'"{word}"' for word in options)
    return Kind(allowed, lambda value: isinstance(value, str) and value in options, str)


def text(allowed: str, parse: Callable[[str], object]) -> Kind[str]:
    """Texts that can be parsed; `parse` raises InvalidInput with the remedy for others."""

    def accepts(value: Any) -> bool:
        if isinstance(value, str):
            parse(value)
        return isinstance(value, str)

    return Kind(allowed, accepts, str)


def _is_interval(value: Any) -> bool:
    pair = isinstance(value, list | tuple) and len(value) == 2
    return pair and all(map(_is_number, value)) and value[0] <= value[1]


def _are_intervals(value: Any) -> bool:
    named = isinstance(value, dict) and len(value) > 0 and all(isinstance(n, str) for n in value)
    return named and all(map(_is_interval, value.values()))


def _are_layers(value: Any) -> bool:
    written = isinstance(value, int | str) and not isinstance(value, bool)
    return written and re.fullmatch(r"[1-9]\d{0,3}(-[1-9]\d{0,3})*", str(value)) is not None


TEXT = Kind("a text", lambda value: isinstance(value, str), str)
FLAG = Kind("true or false", lambda value: isinstance(value, bool), bool)
COUNT = whole(1)
INDEX = whole(0)
POSITIVE = number(above=0)
NOT_NEGATIVE = number(least=0)
PROBABILITY = number(least=0, most=1)
BETWEEN_0_AND_1 = number(above=0, below=1)
DISCOUNT = number(above=0, most=1)  # 1 in episodes only
LAYERS = Kind('whole numbers from 1 to 9999 joined by hyphens, as in "10-10"', _are_layers, str)
INTERVALS = Kind(
    "a table of parameters with [low, high] each",
    _are_intervals,
    lambda value: {name: [float(low), float(high)] for name, (low, high) in value.items()},
)

# The same as types of fields.
Text = Annotated[str, TEXT]
Flag = Annotated[bool, FLAG]
Count = Annotated[int, COUNT]
Index = Annotated[int, INDEX]
Bytes = Annotated[int, whole(0, 2**63 - 1)]
Number = Annotated[float, number()]
Positive = Annotated[float, POSITIVE]
NotNegative = Annotated[float, NOT_NEGATIVE]
Discount = Annotated[float, DISCOUNT]
Seconds = Annotated[float, number(least=0, below=_LONGEST)]
