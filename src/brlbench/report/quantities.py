"""The columns of measured numbers on pages: two times, and quantities of the schema."""

import math
from collections.abc import Sequence

import numpy as np

from ..mdps.sparse import Floats
from ..results.schema import Axis, Place, Quantity, shown_in
from ..results.summary import Summary
from ..results.times import ONLINE

QUANTITIES = (
    Quantity("offline_seconds", float, Axis.AGENT, "s", title="offline", hint="time of training"),
    Quantity(
        "online_seconds", float, Axis.AGENT, "s", title="online", hint="processor time per decision"
    ),
    *shown_in(Place.PAGE),
)
COSTS = tuple(each for each in QUANTITIES if each.axis is Axis.AGENT)
"""Those of boards, which show an agent's largest in several experiments."""

_UNITS = {"s": "seconds", "B": "bytes"}  # pages show numbers of other units with three digits


def number_of(quantity: Quantity, summary: Summary) -> float | None:
    """The number of an agent; None if it is not known."""
    times = {
        "offline_seconds": summary.seconds["offline"],
        "online_seconds": summary.seconds[ONLINE],
    }
    return {**summary.quantities, **times}.get(quantity.name)


def numbers_of(quantity: Quantity, summaries: Sequence[Summary]) -> Floats:
    """The numbers [n] of agents, NaN where they are not known."""
    known = (number_of(quantity, summary) for summary in summaries)
    return np.array([math.nan if number is None else float(number) for number in known])


def column_texts(quantity: Quantity) -> dict[str, str]:
    """The texts of a quantity's column, ready for JSON."""
    return {
        "key": quantity.title,
        "title": quantity.title.capitalize(),
        "hint": quantity.hint.capitalize(),
        "unit": _UNITS.get(quantity.unit, quantity.unit),
        "name": quantity.name,
    }
