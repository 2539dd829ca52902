"""The content that headers of files must have."""

from typing import Annotated, Any

from pydantic import create_model

from ..schemas import Schema, parse_table
from ..values import Count, Discount, Index, NotNegative, Positive, Text, number, whole
from .result import Header
from .schema import MEASURED, Quantity
from .times import TimeHistogram


class Settings(Schema):
    """The settings of an experiment."""

    name: Text
    prior: Text
    prior_digest: Text
    test: Text
    test_digest: Text
    num_mdps: Count
    horizon: Count
    trajectories_per_mdp: Count
    discount: Discount
    seed: Index
    deadline: Positive | None = None
    origin: Text | None = None


class Machine(Schema):
    """A machine, or several."""

    processor: Text | None = None
    calibration_microseconds: NotNegative = 0.0
    waiting_share: NotNegative = 0.0
    machines: tuple["Machine", ...] = ()


def number_type(quantity: Quantity) -> Any:
    """The type of an agent's number for pydantic, with its limits."""
    if quantity.kind is TimeHistogram:
        return TimeHistogram
    if quantity.summary_kind is int:
        return Annotated[int, whole(quantity.least, quantity.most)]
    return Annotated[float, number(quantity.least, quantity.most)]


_FIELDS: dict[str, Any] = {
    name: (number_type(each) | None, None) for name, each in MEASURED.items()
}
Measured = create_model("Measured", __base__=Schema, **_FIELDS)
"""The numbers of an agent in a header."""


def parse_header(content: dict[str, Any]) -> dict[str, Any]:
    """The fields of a result's header from plain data; ValueError if one is wrong."""
    header = parse_table(Header, content)
    parse_table(Settings, header.settings)
    parse_table(Machine, header.machine)
    measured = dict(parse_table(Measured, header.measured))
    known = {name: number for name, number in measured.items() if number is not None}
    return {**vars(header), "measured": known}
