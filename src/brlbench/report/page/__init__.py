"""The interactive page: one HTML file that holds the results and needs no network."""

import base64
import hashlib
import json
import re
from importlib.resources import files
from pathlib import Path

from ...errors import InvalidInput
from ...files import atomic_write, check_free
from ..data import ReportData
from .content import Packed, page_content

_SCRIPTS = (
    "data", "answer", "format", "draw", "scatter", "map", "bound", "table", "differences",
    "learning", "address", "main",
)  # fmt: skip


def write_page(data: ReportData, path: Path, overwrite: bool = False) -> None:
    """Write the page."""
    check_free(path, overwrite)
    if not any(experiment.summaries for experiment in data.experiments):
        raise InvalidInput("there are no results to make a page from")
    packed = Packed.empty()
    content = json.dumps(page_content(data, packed)).replace("<", "\\u003c")
    style, script = _source("page.css"), "\n".join(_source(f"{name}.js") for name in _SCRIPTS)
    parts = {
        "style": style,
        "style_hash": _hash(style),
        "script": script,
        "script_hash": _hash(script),
        "content": content,
        **{name: numbers.packed() for name, numbers in packed._asdict().items()},
    }
    page = re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], _source("page.html"))
    atomic_write(path, page.encode(), overwrite)


def _source(name: str) -> str:
    return (files(__package__) / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """The hash by which the page's content security policy allows a text to run."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
