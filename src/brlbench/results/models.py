"""Tables in the headers of files: plain data that must fit a model."""

from typing import Annotated, Any

from pydantic import AfterValidator, create_model

from ..schemas import Schema, fits, parse_table
from ..values import Count, Discount, Index, NotNegative, Positive, Text, number, whole
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
_Measured = create_model("Measured", __base__=Schema, **_FIELDS)


def _numbers(content: Any) -> dict[str, Any]:
    """The numbers of an agent that are known."""
    parsed = dict(parse_table(_Measured, content))
    return {name: number for name, number in parsed.items() if number is not None}


SettingsTable = Annotated[dict[str, Any], fits(Settings)]
MachineTable = Annotated[dict[str, Any], fits(Machine)]
MeasuredTable = Annotated[dict[str, Any], AfterValidator(_numbers)]
