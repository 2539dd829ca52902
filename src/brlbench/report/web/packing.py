"""The data of a page as text: JSON, with arrays of numbers packed."""

import base64
import json
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def embedded_json(content: Any) -> str:
    """Data as JSON that can stand in a page: no text in it can end a script.

    Arrays of numbers of type f8, f4 or i2 can be anywhere in it; NaN only in arrays. Those of a
    type are joined end to end, and a reference with a start and a length takes the place of each.
    """
    stores: dict[str, list[Array]] = {}

    def pack(array: Array) -> dict[str, Any]:
        store = stores.setdefault(array.dtype.str[1:], [array[:0]])
        start = sum(map(len, store))
        store.append(array)
        return {"packed": [array.dtype.str[1:], start, len(array)]}

    text = json.dumps(content, allow_nan=False, default=pack)
    arrays = json.dumps({kind: _packed(np.concatenate(store)) for kind, store in stores.items()})
    return f'{{"content": {text}, "arrays": {arrays}}}'.replace("<", "\\u003c")


def _packed(array: Array) -> str:
    """The numbers as text; all first bytes come first, which compresses better."""
    little = array.astype(array.dtype.newbyteorder("<"))
    raw = little.view(np.uint8).reshape(-1, array.dtype.itemsize)
    return base64.b64encode(zlib.compress(raw.T.tobytes(), 9)).decode()
