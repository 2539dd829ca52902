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
from ..protocol.times import ONLINE_FEATURES

Feature = Callable[[float, Floats], float]


def _of_decisions(online: Callable[[Floats], float]) -> Feature:
    return lambda offline, decisions: online(decisions)


FEATURES: dict[str, Feature] = {
    "offline": lambda offline, decisions: offline,
    **{name: _of_decisions(online) for name, online in ONLINE_FEATURES.items()},
    "max_with_training": lambda offline, decisions: max(offline, float(decisions.max())),
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
    return _checked(seconds, name)


def _checked(seconds: float, name: str) -> float:
    if not 0 <= seconds < math.inf:
        raise InvalidInput(f"time feature {name!r} gave {seconds}: must be seconds, 0 or more")
    return seconds


def all_features(seconds: Mapping[str, float]) -> dict[str, float]:
    """Times by feature, with the one that follows from others: results don't store it."""
    if "max" not in seconds:
        return dict(seconds)
    return {**seconds, "max_with_training": max(seconds["offline"], seconds["max"])}


def summarise(result: Result, features: Mapping[str, Feature] = FEATURES) -> Summary:
    """What reports need from a result, with the given time features."""
    known = all_features({"offline": result.offline_seconds, **result.online_seconds})
    return Summary(
        algorithm=result.algorithm,
        parameters=result.parameters,
        label=result.label,
        returns=result.returns,
        seconds={
            name: _checked(known[name], name) if name in known else _own(feature, name, result)
            for name, feature in features.items()
            if name in known or name not in FEATURES
        },
        machine=result.machine,
        overruns=result.overruns,
        adjusted=result.adjusted if result.can_be_adjusted else None,
        deadline=result.deadline,
        stopped=result.stopped,
        peak_bytes=result.peak_bytes,
    )


def _own(feature: Feature, name: str, result: Result) -> float:
    """The time by a user's own feature."""
    nanoseconds = result.nanoseconds.reshape(-1, result.nanoseconds.shape[2])
    decisions = nanoseconds.astype(np.float64) * 1e-9
    return time_of(feature, name, result.offline_seconds, decisions)
