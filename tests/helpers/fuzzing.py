"""Odd inputs for property tests of readers, and what may come of them.

BRLBENCH_FUZZ_EXAMPLES sets the number of examples per test; they are then new in every run.
"""

import json
import math
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from brlbench import memory
from brlbench.errors import BrlbenchError

EXHAUSTIVE = "BRLBENCH_EXHAUSTIVE"  # set in the environment by `--exhaustive`
EXAMPLES = int(os.environ.get("BRLBENCH_FUZZ_EXAMPLES", "0"))
_LONGEST_MESSAGE = 3000


def fuzzing(default: int) -> settings:
    """Settings with a number of examples: a fifth, all if exhaustive, or many new ones."""
    return settings(
        max_examples=EXAMPLES or (default if EXHAUSTIVE in os.environ else 1 + default // 5),
        derandomize=not EXAMPLES,
        database=None,
        deadline=None,
        print_blob=True,
        suppress_health_check=list(HealthCheck),
    )


@contextmanager
def little_memory() -> Iterator[None]:
    """The package allows itself little, so that no example takes long."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory, "_machine_bytes", lambda: 2**29)
        yield


def outcome(action: Callable[[], Any]) -> Any:
    """What an action returns, or the error that it raises on purpose: one sentence."""
    try:
        with little_memory():
            return action()
    except BrlbenchError as error:
        message = str(error)
        assert message.strip()
        assert "\n" not in message
        assert len(message) < _LONGEST_MESSAGE
        assert "Traceback" not in message
        return error


ODD_NUMBERS: list[Any] = [
    *(0, -1, 1, 2, True, False, -0.0, 5e-324, -5e-324, 1e-300, 0.5, 1.5, 1e22, 1e308, -1e308),
    *(math.nan, math.inf, -math.inf, 2**31, 2**53 + 1, 2**63 - 1, 2**63, 2**64, -(2**63) - 1),
    *(10**6, 10**9, 10**12, 10**18, 10**30, 10**400, -(10**400)),
]
ODD_TEXTS = [
    *("", "*", "**", " ", "\x00", "\ud800", "\udfff", "\N{BYTE ORDER MARK}x", "é", "\U0001f3b2"),
    *("a" * 300, "\n", "\r\n", "../../x", "/", "nan", "1", "1e400", "[b]", "%s", "{}", "GC"),
    *(
        "uniform:GC",
        "gym:",
        "around:1e400:GC",
        "mixed:2:GC",
        "scaled:1e308:GC",
        "Qmean",
        "F2",
        "local",
        "1s",
        "0GB",
        "-1h",
        "1e99d",
    ),
]
numbers = st.sampled_from(ODD_NUMBERS) | st.integers(-3, 30) | st.floats()
scalars = st.none() | numbers | st.sampled_from(ODD_TEXTS) | st.text(max_size=8)


def _nested(levels: int) -> Any:
    value: Any = 1
    for level in range(levels):
        value = [value] if level % 2 else {"a": value}
    return value


values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(ODD_TEXTS) | st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=6,
) | st.integers(10, 90).map(_nested)


def places(content: Any, place: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The keys that lead to each value within a content."""
    found = [place] if place else []
    if isinstance(content, dict | list):
        inner = content.items() if isinstance(content, dict) else enumerate(content)
        for key, value in inner:
            found += places(value, (*place, key))
    return found


@st.composite
def changed(draw: st.DrawFn, original: Any, most: int = 3) -> Any:
    """A copy of plain data in which some values are replaced, renamed, removed or repeated."""
    content = _copied(original)
    for _ in range(draw(st.integers(1, most))):
        known = places(content)
        if not known:
            return content
        *path, last = draw(st.sampled_from(known))
        holder = content
        for key in path:
            holder = holder[key]
        _change(draw, holder, last)
    return content


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copied(inner) for key, inner in value.items()}
    return [_copied(inner) for inner in value] if isinstance(value, list) else value


def _change(draw: st.DrawFn, holder: Any, key: Any) -> None:
    way = draw(st.sampled_from(["replace", "replace", "number", "remove", "repeat", "rename"]))
    if way == "replace":
        holder[key] = draw(values)
    elif way == "number":
        holder[key] = draw(numbers)
    elif way == "remove":
        del holder[key]
    elif way == "rename" and isinstance(holder, dict):
        holder[draw(st.sampled_from(ODD_TEXTS) | st.text(max_size=6))] = holder.pop(key)
    elif isinstance(holder, list):
        holder.extend([holder[key]] * draw(st.integers(1, 40)))
    else:
        holder[key] = [holder[key]] * draw(st.integers(1, 3))


@st.composite
def damaged(draw: st.DrawFn, data: bytes) -> bytes:
    """A copy of bytes that is cut, extended, or in which bytes are others."""
    content = bytearray(data)
    for _ in range(draw(st.integers(1, 4))):
        if not content:
            break
        at = draw(st.integers(0, len(content) - 1))
        if draw(st.booleans()):  # metadata is at the end
            at = len(content) - 1 - at % min(len(content), 3000)
        way = draw(st.sampled_from(["flip", "flip", "set", "cut", "remove", "insert", "repeat"]))
        if way == "flip":
            content[at] ^= 1 << draw(st.integers(0, 7))
        elif way == "set":
            content[at] = draw(st.integers(0, 255))
        elif way == "cut":
            del content[at:]
        elif way == "remove":
            del content[at : at + draw(st.integers(1, 50))]
        elif way == "insert":
            content[at:at] = draw(st.binary(min_size=1, max_size=20))
        else:
            content[at:at] = content[at : at + draw(st.integers(1, 50))]
    return bytes(content)


def toml(content: Any) -> str:
    """Plain data as TOML; what TOML can't say is written as JSON says it."""
    if not isinstance(content, dict):
        return _inline(content)
    return "".join(f"{json.dumps(key)} = {_inline(value)}\n" for key, value in content.items())


def _inline(value: Any) -> str:
    if isinstance(value, dict):
        inner = (f"{json.dumps(key)} = {_inline(each)}" for key, each in value.items())
        return "{" + ", ".join(inner) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_inline, value)) + "]"
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    return json.dumps(value)
