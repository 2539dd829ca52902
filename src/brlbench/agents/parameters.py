"""Parameters of agents: declared once with their meaning and limits, which are checked."""

import dataclasses
import math
import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..errors import InvalidInput

Check = Callable[[Any], bool]


@dataclasses.dataclass(frozen=True)
class Rule:
    """What a parameter means and which values it may have."""

    meaning: str
    allowed: str
    check: Check
    convert: Callable[[Any], Any]
    optional: bool
    # Whether earlier versions had no such parameter. Its default is then not part of an agent's
    # description, so that results from before stay those of the same agent.
    added: bool = False
    # Finds a file that the value names from a study's folder; None: values name no files.
    locate: Callable[[str, Path], str] | None = None


class Sweep(NamedTuple):
    """Values of one parameter whose effects a figure shows."""

    parameter: str
    values: tuple[Any, ...]
    others: dict[str, Any] = {}  # noqa: RUF012 (never changed); the rest have their defaults


def number(
    default: float | None,
    meaning: str,
    *,
    least: float = -math.inf,
    most: float = math.inf,
    above: float = -math.inf,
    optional: bool = False,
    added: bool = False,
) -> Any:
    """A finite real number from `least` to `most`, greater than `above`."""

    def check(value: Any) -> bool:
        real = isinstance(value, int | float) and not isinstance(value, bool)
        finite = real and abs(value) <= sys.float_info.max  # a whole number can be too large
        return finite and least <= value <= most and value > above

    allowed = _range("a number", least, most, above)
    return _field(default, Rule(meaning, allowed, check, float, optional, added))


def whole(
    default: int | None,
    meaning: str,
    *,
    least: int,
    most: float = math.inf,
    optional: bool = False,
    added: bool = False,
) -> Any:
    """A whole number from `least` to `most`."""

    def check(value: Any) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most

    allowed = _range("a whole number", least, most, -math.inf)
    return _field(default, Rule(meaning, allowed, check, int, optional, added))


def choice(default: str, meaning: str, options: Iterable[str], added: bool = False) -> Any:
    """One of some words."""
    words = tuple(options)
    allowed = " or ".join(f'"{word}"' for word in words)

    def check(value: Any) -> bool:
        return isinstance(value, str) and value in words

    return _field(default, Rule(meaning, allowed, check, str, False, added))


def flag(default: bool, meaning: str) -> Any:
    """Yes or no."""
    return _field(
        default, Rule(meaning, "true or false", lambda v: isinstance(v, bool), bool, False)
    )


def text(
    default: str,
    meaning: str,
    allowed: str,
    check: Callable[[str], object],
    locate: Callable[[str, Path], str] | None = None,
) -> Any:
    """A text; `check` raises InvalidInput if the text can't be used."""

    def is_usable(value: Any) -> bool:
        if isinstance(value, str):
            check(value)
        return isinstance(value, str)

    return _field(default, Rule(meaning, allowed, is_usable, str, False, locate=locate))


def layers(default: str, meaning: str) -> Any:
    """Sizes of layers: a text such as "10-10", or one number."""

    def check(value: Any) -> bool:
        given = isinstance(value, int | str) and not isinstance(value, bool)
        return given and re.fullmatch(r"[1-9]\d{0,3}(-[1-9]\d{0,3})*", str(value)) is not None

    allowed = 'whole numbers from 1 to 9999 joined by hyphens, as in "10-10"'
    return _field(default, Rule(meaning, allowed, check, str, False))


def intervals(meaning: str) -> Any:
    """Names with two finite numbers each, the lower one first; optional."""

    def is_interval(value: Any) -> bool:
        return (
            isinstance(value, list | tuple)
            and len(value) == 2
            and all(isinstance(e, int | float) and abs(e) <= sys.float_info.max for e in value)
            and value[0] <= value[1]
        )

    def check(value: Any) -> bool:
        named = isinstance(value, dict) and all(isinstance(name, str) for name in value)
        return named and len(value) > 0 and all(map(is_interval, value.values()))

    def convert(value: Any) -> dict[str, list[float]]:
        return {name: [float(low), float(high)] for name, (low, high) in value.items()}

    allowed = "a table of parameters with [low, high] each"
    return _field(None, Rule(meaning, allowed, check, convert, True))


def _field(default: Any, rule: Rule) -> Any:
    return dataclasses.field(default=default, metadata={"rule": rule})


def _range(kind: str, least: float, most: float, above: float) -> str:
    limits = []
    if above > -math.inf:
        limits.append(f"above {above:g}")
    if least > -math.inf:
        limits.append(f"at least {least:g}")
    if most < math.inf:
        limits.append(f"at most {most:g}")
    return f"{kind} {' and '.join(limits)}".strip()


def rules(agent: Any) -> dict[str, Rule]:
    """The rules of an agent's (or its class's) parameters by name."""
    return {field.name: field.metadata["rule"] for field in dataclasses.fields(agent)}


def defaults(agent: Any) -> dict[str, Any]:
    """The defaults of the parameters of an agent's class, without those added later."""
    known = rules(agent)
    return {
        field.name: field.default
        for field in dataclasses.fields(agent)
        if not known[field.name].added
    }


def given(agent: Any) -> dict[str, Any]:
    """An agent's parameters; those added later only if they differ from their defaults."""
    return {
        field.name: getattr(agent, field.name)
        for field in dataclasses.fields(agent)
        if not field.metadata["rule"].added or getattr(agent, field.name) != field.default
    }


def check_parameters(agent: Any, name: str) -> None:
    """Check the parameters of an agent, and convert them to their types."""
    for parameter, rule in rules(agent).items():
        value = getattr(agent, parameter)
        if value is None and rule.optional:
            continue
        if isinstance(value, np.generic):
            value = value.item()
        if not rule.check(value):
            raise InvalidInput(f"{name}: {parameter} = {value!r}: must be {rule.allowed}")
        setattr(agent, parameter, rule.convert(value))
