import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brlbench.executors import wire

plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
    | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)  # fmt: skip


@given(plain)
def test_plain_data_arrive_as_they_were(value: Any) -> None:
    assert wire.unpack(wire.pack(value)) == value


def test_tuples_arrive_as_lists() -> None:
    assert wire.unpack(wire.pack((1, (b"two", "three")))) == [1, [b"two", "three"]]


@pytest.mark.parametrize("value", [{1}, object(), len, 1j, ValueError("x"), {(1, 2): 3}])
def test_other_values_are_not_sent(value: Any) -> None:
    with pytest.raises(TypeError):
        wire.pack(value)


@given(st.binary())
def test_any_bytes_give_data_or_a_value_error(data: bytes) -> None:
    for content in (data, len(data).to_bytes(8, "little") + data):
        try:
            wire.unpack(content)
        except ValueError:
            continue


@given(plain, st.data())
def test_so_do_damaged_messages(value: Any, data: st.DataObject) -> None:
    packed = bytearray(wire.pack(value))
    place = data.draw(st.integers(0, len(packed) - 1))
    packed[place] ^= 1 << data.draw(st.integers(0, 7))
    for content in (bytes(packed), bytes(packed[:place])):
        try:
            wire.unpack(content)
        except ValueError:
            continue


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        json.dumps({"\0bytes": 10**30}),
        json.dumps({"\0bytes": -5}),
        json.dumps({"\0bytes": None}),
        json.dumps({"\0bytes": float("inf")}),
        "1" * 5000,
    ],
)
def test_hostile_messages_are_value_errors(text: str) -> None:
    data = text.encode()
    with pytest.raises(ValueError):
        wire.unpack(len(data).to_bytes(8, "little") + data)
