"""The measured numbers of an agent as tables of pages show them: times, and those of the schema.

Times of decisions are summarised in several ways; `FEATURES` has their texts.
"""

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..arguments import format_seconds
from ..mdps.sparse import Floats
from ..memory import format_mebibytes
from ..results.schema import Place, shown_in
from ..results.summary import Summary
from ..results.times import ONLINE

_FORMATS: dict[str, Callable[[Any], str]] = {"seconds": format_seconds, "bytes": format_mebibytes}


class Quantity(NamedTuple):
    """A number per agent."""

    key: str
    title: str
    hint: str
    unit: str  # pages know seconds and bytes; numbers of other units are shown with three digits
    name: str  # in files for other programs
    value: Callable[[Summary], float | None]

    def text(self, summary: Summary) -> str:
        """The number of an agent with its unit; a dash if it is not known."""
        value = self.value(summary)
        if value is None:
            return "\N{EN DASH}"
        return _FORMATS.get(self.unit, "{:.3g}".format)(value)

    def values(self, summaries: Sequence[Summary]) -> Floats:
        """The numbers [n] of agents, NaN where they are not known."""
        known = (self.value(summary) for summary in summaries)
        return np.array([math.nan if value is None else float(value) for value in known])

    @property
    def texts(self) -> dict[str, str]:
        """The texts of the column, ready for JSON."""
        return {k: v for k, v in self._asdict().items() if k != "value"}


_UNITS = {"s": "seconds", "B": "bytes"}


def _value(name: str, summary: Summary) -> float | None:
    number: float | None = summary.quantities.get(name)
    return number


QUANTITIES = (
    Quantity(
        key="offline",
        title="Offline",
        hint="Time of training",
        unit="seconds",
        name="offline_seconds",
        value=lambda summary: summary.seconds["offline"],
    ),
    Quantity(
        key="online",
        title="Online",
        hint="Mean time of a decision",
        unit="seconds",
        name="online_seconds",
        value=lambda summary: summary.seconds[ONLINE],
    ),
    *(
        Quantity(
            key=each.title,
            title=each.title.capitalize(),
            hint=each.hint.capitalize(),
            unit=_UNITS.get(each.unit, each.unit),
            name=each.name,
            value=partial(_value, each.name),
        )
        for each in shown_in(Place.PAGE)
    ),
)


class FeatureTexts(NamedTuple):
    """The names of a feature of online time."""

    title: str  # in controls
    within: str  # after a bound
    sentence: str  # in figures and sentences
    per_decision: bool = True  # whether bounds on it are comparable with those on other ones


FEATURES = {
    "mean": FeatureTexts("mean per decision", "per decision", "mean online time per decision"),
    "median": FeatureTexts(
        "median per decision", "per decision (median)", "median online time per decision"
    ),
    "p95": FeatureTexts(
        "95th percentile per decision",
        "per decision (95th percentile)",
        "95th percentile of the online time per decision",
    ),
    "max": FeatureTexts(
        "longest decision", "for the longest decision", "longest online time per decision"
    ),
    "total": FeatureTexts(
        "total per trajectory", "per trajectory", "online time per trajectory", False
    ),
    "max_with_training": FeatureTexts(
        "longest of training and decisions",
        "for training and for each decision",
        "longest time of training and decisions",
        False,
    ),
    "offline": FeatureTexts("training", "offline", "offline time", False),
}


def feature_texts(name: str) -> FeatureTexts:
    """The texts of a feature; a user's own is called by its name."""
    unknown = FeatureTexts(name, f"online ({name})", f"time feature {name}", False)
    return FEATURES.get(name, unknown)
