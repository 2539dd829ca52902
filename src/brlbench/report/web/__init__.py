"""Common parts of the report's page and the leaderboard: data format, layout, style, scripts.

Pages hold all they need. Every text in a template is escaped; no text becomes a link unchecked.
"""

import base64
import hashlib
import json
import zlib
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from typing import Any

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined
from numpy.typing import NDArray

from ...arguments import counted
from ...results.summary import is_own

Array = NDArray[Any]

_SCRIPTS = "format draw data common table experiment scatter map learning".split()


def render(template: str, scripts: tuple[str, ...], content: Any, **values: Any) -> str:
    """A page from a template below `report/`, with data for its scripts and values for itself."""
    names = [*(f"web/{name}" for name in _SCRIPTS), *scripts]
    style = _source("web/web.css")
    script = "\n".join(_source(f"{name}.js") for name in names)
    shared = {"style": style, "script": script, "policy": _policy(style=style, script=script)}
    page = _environment().get_template(template)
    return page.render(shared, content=embedded_json(content), **values)


@cache
def _environment() -> Environment:
    environment = Environment(
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        loader=PackageLoader("brlbench", "report"),
    )
    environment.globals.update(version=version("brlbench"))
    environment.tests.update(own=is_own)
    environment.filters.update(counted=counted)
    return environment


def _policy(**sources: str) -> str:
    """The content security policy that allows these, pictures in the page, and no more."""
    parts = ["default-src 'none'", "img-src data:", "base-uri 'none'"]
    for kind, text in sources.items():
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        parts.append(f"{kind}-src 'sha256-{digest}'")
    return "; ".join(parts)


@cache
def _source(name: str) -> str:
    """The text of a file below `report/`."""
    return files("brlbench.report").joinpath(*name.split("/")).read_text(encoding="utf-8")


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
