"""Time features: one number each for how much time an agent takes.

A feature is a function of the offline time and the times of all decisions, in seconds.
"""

import math
from collections.abc import Callable, Mapping

import numpy as np

from ..arguments import import_named
from ..errors import InvalidInput, did_you_mean
from ..mdps.sparse import Floats
from ..protocol.result import Result
from ..protocol.summary import Summary

Feature = Callable[[float, Floats], float]

FEATURES: dict[str, Feature] = {
    "offline": lambda offline, decisions: offline,
    "mean": lambda offline, decisions: float(decisions.mean()),
    "median": lambda offline, decisions: float(np.median(decisions)),
    "p95": lambda offline, decisions: float(np.quantile(decisions, 0.95)),
    "max": lambda offline, decisions: float(decisions.max()),
    "total": lambda offline, decisions: float(decisions.sum(axis=-1).mean()),
}
"""`decisions` has one row per trajectory; `total` is the mean over trajectories of their sums."""

ONLINE = "mean"
"""The feature that stands for online time unless another is chosen."""


def find_feature(name: str) -> Feature:
    """The feature of a name, or a user's own from `"my_module:my_function"`."""
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
    """The seconds that a feature returns; a user's own may raise or return anything."""
    try:
        seconds = float(feature(offline, decisions))
    except Exception as error:
        raise InvalidInput(f"time feature {name!r} failed: {error}") from error
    if not 0 <= seconds < math.inf:
        raise InvalidInput(f"time feature {name!r} gave {seconds}: must be seconds, 0 or more")
    return seconds


def summarise(result: Result, features: Mapping[str, Feature] = FEATURES) -> Summary:
    """What reports need from a result, with the given time features."""
    nanoseconds = result.nanoseconds.reshape(-1, result.nanoseconds.shape[2])
    decisions = nanoseconds.astype(np.float64) * 1e-9
    return Summary(
        algorithm=result.algorithm,
        parameters=result.parameters,
        label=result.label,
        returns=result.returns,
        seconds={
            name: time_of(feature, name, result.offline_seconds, decisions)
            for name, feature in features.items()
        },
        machine=result.machine,
        overruns=result.overruns,
    )
