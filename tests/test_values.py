"""Kinds of values: the same sentence from a call, an argument and a field of a file."""

import math
from typing import Any

import numpy as np
import pytest

from brlbench.errors import InvalidInput
from brlbench.schemas import StrictSchema, parse_written
from brlbench.values import (
    BETWEEN_0_AND_1,
    COUNT,
    FLAG,
    INTERVALS,
    LAYERS,
    NOT_NEGATIVE,
    POSITIVE,
    PROBABILITY,
    TEXT,
    Count,
    Discount,
    Kind,
    Text,
    check,
    number,
    whole,
    words,
)

HUGE = 10**400


@pytest.mark.parametrize(
    ("kind", "value", "plain"),
    [
        (COUNT, 1, 1),
        (COUNT, np.int32(3), 3),
        (whole(2, 99), 99, 99),
        (COUNT, HUGE, HUGE),
        (number(), -1, -1.0),
        (PROBABILITY, np.float32(0.5), 0.5),
        (PROBABILITY, 1, 1.0),
        (BETWEEN_0_AND_1, 0.95, 0.95),
        (TEXT, np.str_("a"), "a"),
        (FLAG, np.bool_(True), True),
        (words("a", "b"), "b", "b"),
        (LAYERS, 10, "10"),
        (INTERVALS, {"a": (0, 1)}, {"a": [0.0, 1.0]}),
    ],
)
def test_values_become_plain_data(kind: Kind[Any], value: Any, plain: Any) -> None:
    assert kind(value) == check(value, "it", kind) == plain
    assert type(kind(value)) is type(plain)


@pytest.mark.parametrize(
    ("kind", "values", "allowed"),
    [
        (COUNT, (0, -3, 1.0, "1", True, None, math.nan, [1]), "a whole number at least 1"),
        (whole(2, 99), (1, 100), "a whole number at least 2 and at most 99"),
        (POSITIVE, (0, -1.0, "1", True, math.nan, math.inf, HUGE), "a number above 0"),
        (NOT_NEGATIVE, (-1e-9, math.inf), "a number at least 0"),
        (PROBABILITY, (-0.1, 1.1), "a number at least 0 and at most 1"),
        (BETWEEN_0_AND_1, (0, 1, math.nan), "a number between 0 and 1, both excluded"),
        (TEXT, (3, b"a", None), "a text"),
        (FLAG, (0, 1, "true"), "true or false"),
        (words("a", "b"), ("c", 1, ["a"]), '"a" or "b"'),
        (INTERVALS, ({}, {"a": [1, 0]}, {"a": [0]}, {1: [0, 1]}), "a table of parameters with"),
    ],
)
def test_the_sentence_names_the_value_and_the_limits(
    kind: Kind[Any], values: tuple[Any, ...], allowed: str
) -> None:
    for value in values:
        assert not kind.accepts(value)
        with pytest.raises(InvalidInput) as caught:
            check(value, "bamcp: depth", kind)
        assert str(caught.value).startswith("bamcp: depth = ")
        assert f": must be {allowed}" in str(caught.value)


class Inner(StrictSchema):
    discount: Discount | None = None


class Outer(StrictSchema):
    name: Text
    sizes: list[Count] = []  # noqa: RUF012
    inner: list[Inner] = []  # noqa: RUF012


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({}, "name is missing: add it"),
        ({"name": 3}, "name = 3: must be a text"),
        ({"name": "a", "sizes": [1, 0]}, "sizes[2] = 0: must be a whole number at least 1"),
        ({"name": "a", "sizes": "1"}, "sizes = '1': must be a list"),
        (
            {"name": "a", "inner": [{"discount": 2}]},
            "inner[1].discount = 2: must be a number above 0",
        ),
        ({"name": "a", "inner": [{"discuont": 2}]}, "inner[1] has an unknown key 'discuont' (did"),
        ({"nam": "a"}, "the file has an unknown key 'nam' (did you mean 'name'?): must be one of"),
    ],
)
def test_fields_of_files_have_the_same_kinds(content: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_written(Outer, content, "study.toml")
    assert str(caught.value).startswith(f"study.toml: {message}")


def test_fields_that_fit_are_plain() -> None:
    table = parse_written(Outer, {"name": "a", "sizes": [1], "inner": [{"discount": 0.5}]}, "")
    assert table == Outer(name="a", sizes=[1], inner=[Inner(discount=0.5)])
