"""Time features: one number each for how much time an agent takes.

Most are functions of the offline time and the times of all decisions, in seconds. Where those are
too many to keep, features come from a histogram. The processor time is that of whole trajectories;
it alone hardly depends on what else the machine does.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from ..arguments import import_guest
from ..errors import InvalidInput, did_you_mean
from ..mdps.sparse import Floats, Integers

Feature = Callable[[float, Floats], float]
"""A function of the offline time and the seconds [n, T] of decisions, a row per trajectory."""

ONLINE = "processor"
"""The feature that stands for online time unless another is chosen: the processor time per
decision, without the environment's, as the median over trajectories."""

_OF_DECISIONS: dict[str, Callable[[Floats], float]] = {
    "mean": lambda decisions: float(decisions.mean()),
    "median": lambda decisions: float(np.median(decisions)),
    "p95": lambda decisions: float(np.quantile(decisions, 0.95)),
    "max": lambda decisions: float(decisions.max()),
    "total": lambda decisions: float(decisions.sum(axis=-1).mean()),
}

ONLINE_FEATURES = (ONLINE, *_OF_DECISIONS)
"""The features that don't count the offline time."""

FEATURES = ("offline", *ONLINE_FEATURES, "max_with_training")
"""The features of the package."""

KNOWN_FEATURES = ("mean", "total")
"""The features that are known even if there is only one time for all decisions together."""


_BITS = 10  # 2**10 slots per power of two, so that times in a slot differ by less than 0.1%
_SLOTS = (63 - _BITS + 1) << _BITS


def users_feature(name: str) -> dict[str, Feature]:
    """A user's own feature by its name, `"module:function"`; empty for one of the package."""
    if name in FEATURES:
        return {}
    if ":" not in name:
        raise InvalidInput(
            f"unknown time feature {name!r}{did_you_mean(name, FEATURES)}: must be one of "
            f'{", ".join(FEATURES)}, or "module:function"'
        )
    return {name: import_guest(name, "time feature")}


def time_of(feature: Feature, name: str, offline: float, decisions: Floats) -> float:
    """The seconds that a feature returns; a user's own may raise or return anything."""
    try:
        seconds = float(feature(offline, decisions))
    except Exception as error:
        raise InvalidInput(f"time feature {name!r} failed: {error}") from error
    if not 0 <= seconds < math.inf:
        raise InvalidInput(f"time feature {name!r} gave {seconds}: must be seconds, 0 or more")
    return seconds


def all_features(seconds: Mapping[str, float]) -> dict[str, float]:
    """Times by feature, with those that follow from others: files don't store them.

    Where processor time is not known, the mean time stands for it.
    """
    known = {"offline": seconds["offline"], ONLINE: seconds["mean"], **seconds}
    if "max" in seconds:
        known["max_with_training"] = max(seconds["offline"], seconds["max"])
    return known


def decision_features(nanoseconds: Integers) -> dict[str, float]:
    """The features of decisions' times [n, T]."""
    decisions = nanoseconds.astype(np.float64) * 1e-9
    return {name: feature(decisions) for name, feature in _OF_DECISIONS.items()}


def processor_times(nanoseconds: Integers, horizon: int) -> tuple[float, float, float]:
    """Seconds per decision from those of trajectories [n]: median, and its 95% interval.

    The interval's ends are trajectories: so many are below the median with 95% probability.
    """
    ordered = np.sort(nanoseconds) * (1e-9 / horizon)
    number = len(ordered)
    below = max(0, math.floor(number / 2 - 0.98 * math.sqrt(number)))
    return float(np.median(ordered)), float(ordered[below]), float(ordered[number - 1 - below])


@dataclass(frozen=True)
class TimeHistogram:
    """Histogram of decision times. Times of less than 2 µs are exact."""

    trajectories: int
    nanoseconds: int  # of all decisions together
    longest: int
    late: int  # decisions that took longer than the deadline
    slots: list[int]  # increasing, without empty ones
    counts: list[int]  # decisions in each slot

    def __post_init__(self) -> None:
        """Raise ValueError if the numbers can't be."""
        totals = (self.nanoseconds, self.longest, self.late, *self.slots)
        is_long = len(self.slots) == len(self.counts) > 0 and self.trajectories > 0
        if not is_long or min(totals) < 0 or max(self.slots) >= _SLOTS or min(self.counts) < 1:
            raise ValueError("a histogram has numbers that no decisions lead to")

    @classmethod
    def of(cls, nanoseconds: Integers, deadline: float | None) -> "TimeHistogram":
        """The histogram of decisions' times [n, T]."""
        slots, counts = np.unique(_slot(nanoseconds.ravel()), return_counts=True)
        return cls(
            trajectories=len(nanoseconds),
            nanoseconds=int(nanoseconds.sum()),
            longest=int(nanoseconds.max()),
            late=0 if deadline is None else int((nanoseconds > deadline * 1e9).sum()),
            slots=slots.tolist(),
            counts=counts.tolist(),
        )

    def __add__(self, other: "TimeHistogram") -> "TimeHistogram":
        """The histogram of the decisions of both."""
        slots, place = np.unique(self.slots + other.slots, return_inverse=True)
        counts = np.bincount(place, self.counts + other.counts).astype(np.int64)
        return TimeHistogram(
            trajectories=self.trajectories + other.trajectories,
            nanoseconds=self.nanoseconds + other.nanoseconds,
            longest=max(self.longest, other.longest),
            late=self.late + other.late,
            slots=slots.tolist(),
            counts=counts.tolist(),
        )

    @property
    def decisions(self) -> int:
        """The number of decisions."""
        return sum(self.counts)

    def features(self) -> dict[str, float]:
        """All online time features; median and p95 to within 0.1%, the others exactly."""
        return {
            "mean": self.nanoseconds * 1e-9 / self.decisions,
            "median": self._quantile(0.5),
            "p95": self._quantile(0.95),
            "max": self.longest * 1e-9,
            "total": self.nanoseconds * 1e-9 / self.trajectories,
        }

    def _quantile(self, share: float) -> float:
        """Seconds, interpolated between decisions as NumPy does."""
        place = share * (self.decisions - 1)
        ends = np.cumsum(self.counts)
        ranks = [int(place), min(int(place) + 1, ends[-1] - 1)]
        slots = np.array(self.slots)[np.searchsorted(ends, ranks, "right")]
        low, high = np.minimum(_middle(slots), self.longest)
        return float(low + (high - low) * (place - int(place))) * 1e-9


def _slot(nanoseconds: Integers) -> Integers:
    """The slot of each time: the number of bits dropped, then the leading bits."""
    length = np.frexp(nanoseconds.astype(np.float64))[1].astype(np.int64)
    shift = np.maximum(length - _BITS - 1, 0)
    return np.asarray((shift << _BITS) + (nanoseconds >> shift))


def _middle(slots: Integers) -> Floats:
    """The middle of the times in each slot."""
    shift = np.maximum((slots >> _BITS) - 1, 0)
    lowest = (slots - (shift << _BITS)) << shift
    return np.asarray(lowest + ((1 << shift) - 1) / 2)
