"""Sizes of statistical tests: small by default, large with `scripts/test --exhaustive`."""

from collections.abc import Collection, Iterable
from typing import Any

import pytest


def sizes(small: Any, large: Any) -> list[Any]:
    """Values of one parameter: the small form of a test, and its exhaustive one."""
    return [
        pytest.param(small, id="small"),
        pytest.param(large, id="large", marks=pytest.mark.exhaustive),
    ]


def thinned(cases: Iterable[Any], usual: Collection[Any]) -> list[Any]:
    """All cases, of which those that are not usual are exhaustive."""
    return [
        pytest.param(case) if case in usual else pytest.param(case, marks=pytest.mark.exhaustive)
        for case in cases
    ]
