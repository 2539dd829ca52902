"""Names of agents: the label of an agent with its parameters, and where a long one may break."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from ..agents import default_parameters
from ..arguments import format_seconds

# Where a long name may break, the best place first.
_PLACES = (r"(?<=,) ?", r" ", r"(?<=\()", r"(?<=[=/:+*])", r"(?<=[-_.])")
_WITHIN_WORDS = 1  # the last of the places, between parts of one word


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
    given = {key: value for key, value in parameters.items() if not _is_same(value, known.get(key))}
    listed = ", ".join(f"{key}={value}" for key, value in given.items())
    return (f"{algorithm}({listed})" if listed else algorithm) + _within(deadline)


def without_deadline(label: str, deadline: float | None) -> str:
    """The label of an agent, whatever its deadline."""
    return label.removesuffix(_within(deadline))


def _within(deadline: float | None) -> str:
    return "" if deadline is None else f" within {format_seconds(deadline)}"


def _is_same(value: Any, default: Any) -> bool:
    """Whether values are the same; files turn tuples into lists."""
    if isinstance(value, int | float) and isinstance(default, int | float):
        return value == default
    return json.dumps(value, default=str) == json.dumps(default, default=str)


def break_name(name: str, width: int, length: Callable[[str], int] = len) -> list[str]:
    """The lines of a name: broken after commas, if need be after other signs, at worst anywhere."""
    lines = [""]
    for part in _parts(name, width, length):
        joined = lines[-1] + part
        if lines[-1] and length(joined.rstrip()) > width:
            lines.append(part)
        else:
            lines[-1] = joined
    return [line.rstrip() for line in lines]


def least_width(name: str, length: Callable[[str], int] = len) -> int:
    """The width that a name needs so that no word of it breaks."""
    words = [name]
    for place in _PLACES[: len(_PLACES) - _WITHIN_WORDS]:
        words = [part.rstrip() for word in words for part in _split(word, place)]
    return max(map(length, words))


def _parts(
    text: str, width: int, length: Callable[[str], int], places: tuple[str, ...] = _PLACES
) -> Iterator[str]:
    """The parts of a name that stay whole; spaces belong to what precedes them."""
    if length(text.rstrip()) <= width:
        yield text
    elif not places:
        yield from text
    else:
        for part in _split(text, places[0]):
            yield from _parts(part, width, length, places[1:])


def _split(text: str, place: str) -> list[str]:
    """The parts of a text between the places that a pattern matches, which it keeps."""
    ends = [match.end() for match in re.finditer(place, text)]
    return [text[a:b] for a, b in zip([0, *ends], [*ends, len(text)], strict=True) if a < b]
