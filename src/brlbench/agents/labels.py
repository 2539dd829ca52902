"""Labels of agents: the algorithm, with parameters and deadline."""

import json
from typing import Any

from ..arguments import format_seconds
from .registry import default_parameters


def label_of(
    algorithm: str,
    parameters: dict[str, Any],
    deadline: float | None = None,
    defaults: dict[str, Any] | None = None,
) -> str:
    """An agent in a few words, with the parameters that differ from their defaults.

    Those of a built-in agent are known. Empty defaults show every parameter that has a value.
    """
    known = default_parameters(algorithm, parameters) if defaults is None else defaults
    listed = ", ".join(
        f"{key}={value}" for key, value in parameters.items() if not _is_same(value, known.get(key))
    )
    return (f"{algorithm}({listed})" if listed else algorithm) + _within(deadline)


def without_deadline(label: str, deadline: float | None) -> str:
    """The label of an agent without its deadline."""
    return label.removesuffix(_within(deadline))


def _within(deadline: float | None) -> str:
    return "" if deadline is None else f" within {format_seconds(deadline)}"


def _is_same(value: Any, default: Any) -> bool:
    """Whether values are the same; files turn tuples into lists."""
    if isinstance(value, int | float) and isinstance(default, int | float):
        return value == default
    return json.dumps(value, default=str) == json.dumps(default, default=str)
