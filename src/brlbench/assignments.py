"""Parameters in texts, of agents and of problems."""

from collections.abc import Iterable
from typing import Any

from .errors import InvalidInput


def parse_parameters(assignments: Iterable[str]) -> dict[str, Any]:
    """Parameters from texts like `epsilon=0.1`."""
    parameters: dict[str, Any] = {}
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        if not equals:
            raise InvalidInput(f"{assignment!r} is not a parameter: must be name=value")
        parameters[name.strip().replace("-", "_")] = _parse(text.strip())
    return parameters


def _parse(text: str) -> Any:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for convert in (int, float):
        try:
            return convert(text)
        except ValueError:
            continue
    return text
