"""Line breaks in long names of agents."""

import re
from collections.abc import Callable, Iterator

# Places where a name may break, the best first.
_PLACES = (r"(?<=,) ?", r" ", r"(?<=\()", r"(?<=[=/:+*])", r"(?<=[-_.])")
_WITHIN_WORDS = 1  # the last of the places, between parts of one word


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
