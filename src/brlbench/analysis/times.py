"""Time features: one number that says how much computation an agent takes.

A feature is a function of the offline time and the times of all decisions, in seconds.
"""

import importlib
import math
import re
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

from ..errors import InvalidInput, did_you_mean
from ..sparse import Floats

Feature = Callable[[float, Floats], float]

FEATURES: dict[str, Feature] = {
    "offline": lambda offline, decisions: offline,
    "mean": lambda offline, decisions: float(decisions.mean()),
    "median": lambda offline, decisions: float(np.median(decisions)),
    "p95": lambda offline, decisions: float(np.quantile(decisions, 0.95)),
    "max": lambda offline, decisions: float(decisions.max()),
    "total": lambda offline, decisions: float(decisions.sum(axis=-1).mean()),
}
"""`decisions` has one row a trajectory; `total` is the mean over trajectories of their sums."""

UNITS = {
    **{"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "": 1.0, "s": 1.0},
    **{"m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0},
}
_SHOWN_UNITS = ((3600, "h"), (60, "min"), (1, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


def parse_seconds(text: str, name: str = "duration") -> float:
    """Seconds from a text like 300us, 5 ms, 1.5s, 1m, 2h or 0.25."""
    found = re.fullmatch(r"\s*([-+.\d]+(?:e[-+]?\d+)?)\s*(\D*?)\s*", text, re.IGNORECASE)
    try:
        seconds = float(found[1]) * UNITS[found[2].lower()] if found else math.nan
    except (KeyError, ValueError):
        seconds = math.nan
    if not 0 <= seconds < math.inf:
        raise InvalidInput(
            f"{name} = {text!r}: must be a duration like 300us, 5ms, 1.5s, 1m or 2h, "
            "or a number of seconds"
        )
    return seconds


def format_seconds(seconds: float, digits: int = 3) -> str:
    """A time with three digits, or fewer, and a fitting unit."""
    for size, unit in _SHOWN_UNITS:
        if seconds >= 0.9995 * size:  # what is rounded up to one of this unit belongs to it
            return f"{float(f'{seconds / size:.{digits}g}'):g} {unit}"
    return "0 s"


def find_feature(name: str) -> Feature:
    """A feature by its name, or a user's own from `"my_module:my_function"`."""
    if name in FEATURES:
        return FEATURES[name]
    if ":" not in name:
        raise InvalidInput(
            f"unknown time feature {name!r}{did_you_mean(name, FEATURES)}: must be one of "
            f'{", ".join(FEATURES)}, or "module:function"'
        )
    module, _, function = name.partition(":")
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        found: Feature = getattr(importlib.import_module(module), function)
    except Exception as error:  # a user's module can raise anything
        raise InvalidInput(f"time feature {name!r} can't be imported: {error}") from error
    return found


def time_of(feature: Feature, name: str, offline: float, decisions: Floats) -> float:
    """The value of a feature; a user's own can raise or return anything."""
    try:
        seconds = float(feature(offline, decisions))
    except Exception as error:
        raise InvalidInput(f"time feature {name!r} failed: {error}") from error
    if not 0 <= seconds < math.inf:
        raise InvalidInput(f"time feature {name!r} gave {seconds}: must be seconds, 0 or more")
    return seconds
