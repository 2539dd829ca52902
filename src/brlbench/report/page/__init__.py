"""The interactive page: one HTML file that holds the results and needs no network."""

import re
from pathlib import Path

from ...errors import InvalidInput
from ...files import atomic_write, check_free
from ..data import ReportData
from ..html import assets, embedded_json, source
from .content import Packed, page_content

_SCRIPTS = (
    "data", "answer", "format", "draw", "theme", "scatter", "map", "bound", "table", "differences",
    "learning", "address", "main",
)  # fmt: skip


def write_page(data: ReportData, path: Path, overwrite: bool = False) -> None:
    """Write the page."""
    check_free(path, overwrite)
    if not any(experiment.summaries for experiment in data.experiments):
        raise InvalidInput("there are no results to make a page from")
    packed = Packed.empty()
    content = embedded_json(page_content(data, packed))
    made = assets(["page/page.css"], [f"page/{name}.js" for name in _SCRIPTS])
    parts = {
        "policy": made.policy,
        "style": made.style,
        "script": made.script,
        "content": content,
        **{name: numbers.packed() for name, numbers in packed._asdict().items()},
    }
    page = re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], source("page/page.html"))
    atomic_write(path, page.encode(), overwrite)
