"""What files must hold: their content is checked before anything is made of it."""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ..errors import InvalidInput, StoreError, short
from ..protocol.times import KNOWN_FEATURES, ONLINE_FEATURES

Rule = Callable[[Any], bool]

DAMAGE = (
    ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, TypeError,
    ValueError, pl.exceptions.PolarsError, pl.exceptions.PanicException,
)  # fmt: skip
"""What code raises that is given content of another form than it expects."""


@contextmanager
def reading(path: Path | str) -> Iterator[None]:
    """Say that a file is damaged if its content has another form than the code expects."""
    try:
        yield
    except InvalidInput as error:
        raise StoreError(f"{path} can't be used: {error}") from None
    except DAMAGE as error:
        raise StoreError(f"{path} is damaged, or not a file of brlbench: make it again") from error


def check(content: Mapping[str, Any], rules: Mapping[str, Rule]) -> None:
    """Raise ValueError unless each of these entries is there and follows its rule."""
    for name, rule in rules.items():
        if not rule(content.get(name)):
            raise ValueError(f"{name} = {short(content.get(name))}")


def is_text(value: Any) -> bool:
    """A text."""
    return isinstance(value, str)


def is_flag(value: Any) -> bool:
    """True or false."""
    return isinstance(value, bool)


def is_table(value: Any) -> bool:
    """Values by name."""
    return isinstance(value, dict)


def is_list(value: Any) -> bool:
    """A list."""
    return isinstance(value, list)


def is_number(value: Any) -> bool:
    """A finite number."""
    return type(value) in (int, float) and abs(value) <= sys.float_info.max


def is_time(value: Any) -> bool:
    """Seconds, or a share of them."""
    return is_number(value) and 0 <= value < _LONGEST


def is_features(value: Any) -> bool:
    """Seconds by time feature; only `KNOWN_FEATURES` if single decisions were not timed."""
    return (
        is_table(value)
        and value.keys() in (ONLINE_FEATURES.keys(), set(KNOWN_FEATURES))
        and all(map(is_time, value.values()))
    )


def optional(rule: Rule) -> Rule:
    """Nothing, or what follows a rule."""
    return lambda value: value is None or rule(value)


def whole(least: int) -> Rule:
    """A whole number ≥ least."""
    return lambda value: type(value) is int and value >= least


def is_size(value: Any) -> bool:
    """A number of bytes."""
    return whole(0)(value) and value < 2**63


def is_machine(value: Any) -> bool:
    """A machine, or several."""
    if not is_table(value):
        return False
    numbers = [value.get(name, 0.0) for name in ("calibration_microseconds", "waiting_share")]
    several = value.get("machines", [])
    is_named = optional(is_text)(value.get("processor")) and is_list(several)
    return is_named and all(map(is_time, numbers)) and all(map(is_machine, several))


def is_settings(value: Any) -> bool:
    """The settings of an experiment, under their current names."""
    if is_table(value):
        check(value, _SETTINGS)
    return is_table(value)


def check_times(*arrays: NDArray[Any]) -> None:
    """Raise ValueError unless all times are 0 or more."""
    if any((array < 0).any() for array in arrays):
        raise ValueError("a time is negative")


def check_probabilities(mdps: NDArray[Any], row_start: NDArray[np.int64]) -> None:
    """Raise ValueError unless the probabilities [n, E] of each pair of each MDP sum to 1."""
    sums = np.add.reduceat(mdps, row_start[:-1], axis=1)
    # Written so that NaN is refused too.
    if not (mdps >= 0).all() or not (np.abs(sums - 1) <= _TOLERANCE).all():
        raise ValueError("probabilities don't sum to 1")


_TOLERANCE = 1e-9
_LONGEST = 1e15  # seconds
_SETTINGS: dict[str, Rule] = {
    **dict.fromkeys(("name", "prior", "prior_digest", "test", "test_digest"), is_text),
    **dict.fromkeys(("num_mdps", "horizon", "trajectories_per_mdp"), whole(1)),
    "discount": lambda value: is_number(value) and 0 < value < 1,
    "seed": whole(0),
    "deadline": optional(lambda value: is_number(value) and value > 0),
    "origin": optional(is_text),
}
