"""Online time features: one number each for how long decisions took.

They are computed from the times of all decisions, or counted part by part where those are too many
to keep.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..mdps.sparse import Floats, Integers

ONLINE_FEATURES: dict[str, Callable[[Floats], float]] = {
    "mean": lambda decisions: float(decisions.mean()),
    "median": lambda decisions: float(np.median(decisions)),
    "p95": lambda decisions: float(np.quantile(decisions, 0.95)),
    "max": lambda decisions: float(decisions.max()),
    "total": lambda decisions: float(decisions.sum(axis=-1).mean()),
}
"""Functions of the seconds [n, T] of decisions, one row per trajectory."""

KNOWN_FEATURES = ("mean", "total")
"""The features that are known even if there is but one time for all decisions together."""

_BITS = 10  # 2**10 slots for each power of two, so that times in a slot differ by less than 0.1%
_SLOTS = (63 - _BITS + 1) << _BITS


def online_features(nanoseconds: Integers) -> dict[str, float]:
    """All features of decisions' times [n, T]."""
    decisions = nanoseconds.astype(np.float64) * 1e-9
    return {name: feature(decisions) for name, feature in ONLINE_FEATURES.items()}


@dataclass(frozen=True, eq=False)
class TimeCounts:
    """How often decisions took how long. Times of less than 2 µs are exact."""

    trajectories: int
    nanoseconds: int  # of all decisions together
    longest: int
    late: int  # decisions that took longer than the deadline
    counts: Integers  # [slots]

    @classmethod
    def of(cls, nanoseconds: Integers, deadline: float | None) -> "TimeCounts":
        """Count decisions' times [n, T]."""
        return cls(
            trajectories=len(nanoseconds),
            nanoseconds=int(nanoseconds.sum()),
            longest=int(nanoseconds.max()),
            late=0 if deadline is None else int((nanoseconds > deadline * 1e9).sum()),
            counts=np.bincount(_slot(nanoseconds.ravel()), minlength=_SLOTS),
        )

    @classmethod
    def joined(cls, parts: "Iterable[TimeCounts]") -> "TimeCounts":
        """The counts of all parts together."""
        every = list(parts)
        return cls(
            trajectories=sum(part.trajectories for part in every),
            nanoseconds=sum(part.nanoseconds for part in every),
            longest=max(part.longest for part in every),
            late=sum(part.late for part in every),
            counts=np.sum([part.counts for part in every], axis=0),
        )

    @property
    def decisions(self) -> int:
        """How many decisions were counted."""
        return int(self.counts.sum())

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
        slots = np.searchsorted(ends, [int(place), min(int(place) + 1, ends[-1] - 1)], "right")
        low, high = np.minimum(_middle(slots), self.longest)
        return float(low + (high - low) * (place - int(place))) * 1e-9

    def to_json(self) -> dict[str, Any]:
        """The counts as plain data, without empty slots."""
        used = np.flatnonzero(self.counts)
        return {**vars(self), "counts": [used.tolist(), self.counts[used].tolist()]}

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> "TimeCounts":
        """Counts that `to_json` made plain data of."""
        slots, numbers = content["counts"]
        counts = np.zeros(_SLOTS, np.int64)
        counts[slots] = numbers
        return cls(**{**content, "counts": counts})


def _slot(nanoseconds: Integers) -> Integers:
    """The slot of each time: its leading bits, after their place."""
    length = np.frexp(nanoseconds.astype(np.float64))[1].astype(np.int64)
    shift = np.maximum(length - _BITS - 1, 0)
    return np.asarray((shift << _BITS) + (nanoseconds >> shift))


def _middle(slots: Integers) -> Floats:
    """The middle of the times in each slot."""
    shift = np.maximum((slots >> _BITS) - 1, 0)
    lowest = (slots - (shift << _BITS)) << shift
    return np.asarray(lowest + ((1 << shift) - 1) / 2)
