"""Messages between processes: plain data, so that no process can run code in another.

Plain data are JSON's values and bytes. Tuples arrive as lists.
"""

import json
import struct
from typing import Any

_BYTES = "\0bytes"  # the key that stands for bytes, which follow the JSON text
_LENGTH = struct.Struct("<Q")


def pack(value: Any) -> bytes:
    """Plain data as bytes; raises TypeError or ValueError if it is something else."""
    contents: list[bytes] = []

    def put_aside(value: Any) -> dict[str, int]:
        if not isinstance(value, bytes):
            raise TypeError(f"{type(value).__name__} is not plain data")
        contents.append(value)
        return {_BYTES: len(value)}

    text = json.dumps(value, default=put_aside).encode()
    return b"".join([_LENGTH.pack(len(text)), text, *contents])


def unpack(data: bytes) -> Any:
    """The plain data in some bytes; raises ValueError if there is none."""
    if len(data) < _LENGTH.size:
        raise ValueError("it is cut short")
    at = _LENGTH.size + _LENGTH.unpack_from(data)[0]
    text = data[_LENGTH.size : at]

    def take(table: dict[str, Any]) -> Any:
        nonlocal at
        if table.keys() != {_BYTES}:
            return table
        length = table[_BYTES]
        if not isinstance(length, int) or not 0 <= length <= len(data) - at:
            raise ValueError("it is cut short")
        at += length
        return data[at - length : at]

    try:
        return json.loads(text, object_hook=take)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
