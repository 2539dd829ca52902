"""The schema of results: every quantity that is measured, declared once.

A result has a table with one row per trajectory, and numbers of the agent as a whole. The rows of
parts are concatenated; numbers of the agent join as `Quantity.join` says. Files, summaries,
exports, tables and the page select their columns here.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from math import inf
from typing import Annotated, Any

from ..values import number, whole
from .times import ONLINE_FEATURES, TimeHistogram

NUM_BASELINES = 3
"""The number of baselines that measure luck."""

EFFECTIVE_HYPOTHESES = "effective_hypotheses"
"""The name of the quantity by which collapses of priors are noticed."""

GLOBAL_NUMBERS = "global_numbers"
"""The name of the quantity by which agents that ignore their generator are noticed."""

_MOST_LUCK = 1e150  # squares are added
_LONGEST = 1e15  # seconds
_MOST_NANOSECONDS = 10**16  # of a decision or a trajectory


class Axis(Enum):
    """Where a quantity has a number of its own."""

    AGENT = "one number per agent"
    TRAJECTORY = "one per trajectory"
    DECISION = "one per decision"
    STATE = "one per state of a trajectory, the first and the last included"
    BASELINE = "one per trajectory and baseline of luck"

    def width(self, horizon: int) -> int | None:
        """The numbers per row of the table; None for a single one."""
        widths = {Axis.DECISION: horizon, Axis.STATE: horizon + 1, Axis.BASELINE: NUM_BASELINES}
        return widths.get(self)


class Place(Enum):
    """Where the numbers of agents are shown."""

    EXPORT = "CSV, JSON and Parquet"
    LATEX = "the LaTeX table of all agents"
    NOTEBOOK = "a result in a notebook"
    PAGE = "the interactive page"
    TERMINAL = "the table of all agents"


Numbers = Sequence[Any]


def first(numbers: Numbers) -> Any:
    """The number of the first part: all parts have the same."""
    return numbers[0]


def total(numbers: Numbers) -> Any:
    """The sum; None if a part has none."""
    return None if None in numbers else sum(numbers[1:], numbers[0])


def largest(numbers: Numbers) -> Any:
    """The maximum; None if a part has none, or without parts."""
    return None if None in numbers else max(numbers, default=None)


def any_of(numbers: Numbers) -> Any:
    """1 if a part has it; None if no part has."""
    return max((number for number in numbers if number), default=None)


def mean(rows: Any) -> float:
    """The mean over all trajectories."""
    return float(rows.mean())


def itself(number: Any) -> Any:
    """The agent's number as it is."""
    return number


@dataclass(frozen=True)
class Quantity:
    """A quantity that is measured."""

    name: str  # its column or key in files, and its column in exports
    kind: type  # the type of a number; the histogram has one of its own
    axis: Axis  # where it has a number of its own
    unit: str = ""  # s, ns or B; empty for plain numbers
    least: float = -inf  # the smallest possible number
    most: float = inf
    # Makes one number of those of an agent's parts; None if it follows from the joined table.
    join: Callable[[Numbers], Any] | None = None
    # Makes the number in an agent's summary of an array with one row per trajectory, or of the
    # agent's own number; None if summaries leave it out.
    summary: Callable[[Any], Any] | None = None
    title: str = ""  # its name in tables and on the page
    hint: str = ""  # what it means, in a few words
    shown: frozenset[Place] = frozenset()  # where it is shown
    is_path: bool = False  # whether it is kept only with `keep_paths`

    @property
    def summary_kind(self) -> type:
        """The type of the number in an agent's summary."""
        return self.kind if self.axis is Axis.AGENT else float

    @property
    def annotation(self) -> Any:
        """The type of an agent's number for pydantic, with its limits."""
        if self.kind is TimeHistogram:
            return TimeHistogram
        limited = whole if self.summary_kind is int else number
        return Annotated[self.summary_kind, limited(self.least, self.most)]

    @property
    def of_decisions(self) -> bool:
        """Whether there is a number for each decision, or for the state before it."""
        return self.axis in (Axis.DECISION, Axis.STATE)


def _seconds(name: str, join: Callable[[Numbers], Any] | None = None) -> Quantity:
    return Quantity(name, float, Axis.AGENT, "s", least=0, most=_LONGEST, join=join)


def _limit_of_processor_time(end: str) -> Quantity:
    return Quantity(
        f"processor_{end}_seconds",
        float,
        Axis.AGENT,
        "s",
        least=0,
        most=_LONGEST,
        summary=itself,
        title=f"processor time, {end}",
        hint=f"the {end} end of the 95% interval of the processor time per decision",
        shown=frozenset({Place.EXPORT}),
    )


QUANTITIES: tuple[Quantity, ...] = (
    Quantity("mdp", int, Axis.TRAJECTORY, least=0),
    Quantity("trajectory", int, Axis.TRAJECTORY, least=0),
    Quantity("return", float, Axis.TRAJECTORY),
    Quantity("cpu_nanoseconds", int, Axis.TRAJECTORY, "ns", 0, _MOST_NANOSECONDS),
    Quantity("rewards", float, Axis.DECISION),
    Quantity("nanoseconds", int, Axis.DECISION, "ns", 0, _MOST_NANOSECONDS),
    Quantity("states", int, Axis.STATE, is_path=True),
    Quantity("actions", int, Axis.DECISION, is_path=True),
    Quantity("noise", float, Axis.BASELINE, least=-_MOST_LUCK, most=_MOST_LUCK),
    Quantity("start_values", float, Axis.BASELINE, least=-_MOST_LUCK, most=_MOST_LUCK),
    _seconds("offline_seconds", first),
    _seconds("offline_cpu_seconds", first),
    _seconds("playing_seconds", total),
    *(_seconds(f"{feature}_seconds") for feature in ONLINE_FEATURES),
    _limit_of_processor_time("low"),
    _limit_of_processor_time("high"),
    Quantity("histogram", TimeHistogram, Axis.AGENT, join=total),
    Quantity(GLOBAL_NUMBERS, int, Axis.AGENT, least=0, most=1, join=any_of, summary=itself),
    Quantity("overruns", float, Axis.AGENT, least=0, most=1, summary=itself),
    Quantity(
        "peak_bytes",
        int,
        Axis.AGENT,
        "B",
        least=0,
        most=2**63 - 1,
        join=largest,
        summary=itself,
        title="memory",
        hint="peak memory that the agent adds to the program",
        shown=frozenset(Place),
    ),
    Quantity(
        EFFECTIVE_HYPOTHESES,
        float,
        Axis.TRAJECTORY,
        least=0,
        summary=mean,
        title="hypotheses",
        hint="effective number of the prior's hypotheses that are left at the end of a trajectory",
        shown=frozenset({Place.EXPORT, Place.NOTEBOOK, Place.PAGE, Place.TERMINAL}),
    ),
)
"""All quantities; tables have their columns in this order."""

COLUMNS = {each.name: each for each in QUANTITIES if each.axis is not Axis.AGENT}
"""The columns of a result's table, by name."""

MEASURED = {each.name: each for each in QUANTITIES if each.axis is Axis.AGENT}
"""The numbers of an agent in a result's header, by name."""

SUMMARISED = {each.name: each for each in QUANTITIES if each.summary is not None}
"""The numbers of an agent in its summary, besides scores and times, by name."""

TIMES = {feature: f"{feature}_seconds" for feature in ("offline", *ONLINE_FEATURES)}
"""The names of the times of an agent, by time feature."""


def shown_in(place: Place) -> list[Quantity]:
    """The quantities that are shown in a place, besides scores and times."""
    return [each for each in SUMMARISED.values() if place in each.shown]
