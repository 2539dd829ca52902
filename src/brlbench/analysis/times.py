"""Time features: one number that says how much computation an agent takes.

A feature is a function of the offline time and the times of all decisions, in seconds.
"""

import math
from collections.abc import Callable

import numpy as np

from ..arguments import import_named
from ..errors import InvalidInput, did_you_mean
from ..mdps.sparse import Floats

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


def find_feature(name: str) -> Feature:
    """A feature by its name, or a user's own from `"my_module:my_function"`."""
    if name in FEATURES:
        return FEATURES[name]
    if ":" not in name:
        raise InvalidInput(
            f"unknown time feature {name!r}{did_you_mean(name, FEATURES)}: must be one of "
            f'{", ".join(FEATURES)}, or "module:function"'
        )
    found: Feature = import_named(name, "time feature")
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
