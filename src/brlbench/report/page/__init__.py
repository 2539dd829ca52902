"""The interactive page: one HTML file that holds the results and needs no network."""

from pathlib import Path

from ...errors import InvalidInput
from ...files import atomic_write, check_free
from ..data import ReportData
from ..web import render
from ..web.content import page_content


def render_page(data: ReportData) -> str:
    """The page as HTML."""
    if not any(experiment.summaries for experiment in data.experiments):
        raise InvalidInput("there are no results to make a page from")
    return render("page/page.html.j2", ("page/bound", "page/main"), page_content(data))


def write_page(data: ReportData, path: Path, overwrite: bool = False) -> None:
    """Write the page."""
    check_free(path, overwrite)
    atomic_write(path, render_page(data).encode(), overwrite)
