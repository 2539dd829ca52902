"""The documentation builds without a warning, its links lead somewhere, and it can be looked at."""

import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

import pytest
from selenium.common.exceptions import TimeoutException
from selenium.webdriver.support.ui import WebDriverWait

import brlbench as bb
from helpers.run_page import blocks
from helpers.shared import made_once
from helpers.sizes import sizes

pytestmark = pytest.mark.slow  # the site is built first

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PATIENCE, POLL = 120, 0.02  # seconds

# Whether nothing is too wide, the colours, and images that did not load.
SHOWN = """
const page = document.documentElement;
return [
  page.scrollWidth <= page.clientWidth,
  document.body.dataset.mdColorScheme,
  [...document.images].filter((image) => !image.naturalWidth).map((image) => image.src),
]
"""


# The links that a search in the page has found.
FOUND = """
return [...document.querySelectorAll(".md-search-result__link")].map((link) => link.href)
"""

# For each table wider than the screen, how far it can be moved, and how far it must be.
HIDDEN = """
return [...document.querySelectorAll("article table")].map((table) => {
  const box = table.closest(".md-typeset__scrollwrap") ?? table;
  const hidden = box.scrollWidth - box.clientWidth;
  box.scrollLeft = hidden;
  return [box.scrollLeft, hidden];
}).filter(([, hidden]) => hidden > 0)
"""


class Page(HTMLParser):
    """What a page is linked to, and what can be linked to in it."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()
        self.feed(path.read_text())

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for key, value in attributes:
            if value is not None and key in ("id", "name"):
                self.anchors.add(value)
            elif value is not None and key in ("href", "src"):
                (self.links if tag == "a" else self.loaded).append(value)


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The documentation as a site, built once; only for reading."""
    return made_once(tmp_path_factory, "site", build_site)


def build_site(folder: Path) -> None:
    command = ["-W", "ignore", "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    done = subprocess.run(
        [sys.executable, *command],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def test_links_and_anchors_lead_somewhere(site: Path) -> None:
    pages = {path: Page(path) for path in site.rglob("*.html")}
    wrong = []
    for path, page in pages.items():
        for link in page.links + page.loaded:
            parts = urlsplit(link)
            if parts.scheme in ("http", "https", "mailto") or path.name == "404.html":
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if target.is_dir():
                target /= "index.html"
            known = pages[target].anchors if target in pages else set()
            if not target.exists() or (parts.fragment and unquote(parts.fragment) not in known):
                wrong.append(f"{path.relative_to(site)}: {link}")
    assert wrong == []


def test_pages_load_nothing_from_elsewhere(site: Path) -> None:
    for path in site.rglob("*.html"):
        assert [link for link in Page(path).loaded if "//" in link] == []
    for path in site.rglob("*.css"):
        assert re.findall(r"url\(['\"]?(?:https?:)?//|@import", path.read_text()) == []


def test_formulas_are_shown_without_scripts(site: Path) -> None:
    text = (site / "protocol.html").read_text()
    assert "<math" in text
    assert "arithmatex" not in text


def test_every_algorithm_problem_and_public_name_is_documented(site: Path) -> None:
    for name in bb.AGENTS:
        assert (DOCS / f"algorithms/{name}.md").exists()
    for name in bb.PROBLEMS:
        assert f"problem-{name}.svg" in (site / f"problems/{name}.html").read_text()
    anchors = Page(site / "api.html").anchors
    for name in bb.__all__:
        assert f"brlbench.{name}" in anchors


def test_a_tutorial_is_also_a_notebook(site: Path) -> None:
    cells = json.loads((site / "tutorials/notebook.ipynb").read_text())["cells"]
    page = (DOCS / "tutorials/notebook.md").read_text()
    code = [cell["source"] for cell in cells if cell["cell_type"] == "code"]
    written = [block for block in blocks(page) if block.language != "text"]
    for source, block in zip(code, written, strict=True):
        magic = "%%bash\n" if block.language == "bash" else f"%%writefile {block.title}\n"
        assert source.removeprefix(magic) == block.code.rstrip()
    assert cells[0]["source"].startswith("# From Python, in a notebook")
    assert "```" not in "".join(cell["source"] for cell in cells)


def test_the_gallery_shows_every_plot() -> None:
    page = (DOCS / "gallery.md").read_text()
    plots = [name for name in bb.__all__ if name.startswith("plot_")]
    assert len(plots) == 8
    for name in plots:
        picture = f"figures/gallery-{name.removeprefix('plot_')}.svg"
        assert re.search(rf"bb\.{name}\(.*\)\n```\n\n!\[.*\]\({picture}\)", page)
        assert (DOCS / picture).exists()


@pytest.mark.parametrize("widths", sizes([400], [400, 1400]))
def test_pages_fit_the_screen(site: Path, browser: "Chrome", widths: list[int]) -> None:
    """Each page is loaded once, in a dark browser."""
    show(browser, 400, "dark")
    browser.get((site / "index.html").as_uri())
    browser.execute_script("localStorage.clear()")  # of other tests
    wrong = []
    for path in site.rglob("*.html"):
        if path.name == "404.html":
            continue
        show(browser, widths[0], "dark")
        browser.get(path.as_uri())
        for width in widths:
            if width != widths[0]:
                show(browser, width, "dark")
            try:  # widths change step by step
                WebDriverWait(browser, PATIENCE, POLL).until(
                    lambda shown: shown.execute_script(SHOWN) == [True, "slate", []]
                )
            except TimeoutException:
                wrong.append((path.name, width, browser.execute_script(SHOWN)))
                break
    assert wrong == []


def test_pages_are_light_in_a_light_browser(site: Path, browser: "Chrome") -> None:
    show(browser, 1400, "light")
    browser.get((site / "index.html").as_uri())
    browser.execute_script("localStorage.clear()")  # of other tests
    browser.get((site / "protocol.html").as_uri())
    assert browser.execute_script(SHOWN) == [True, "default", []]


def test_search_works_in_pages_opened_as_files(site: Path, browser: "Chrome") -> None:
    show(browser, 1400)
    browser.get((site / "algorithms/bamcp.html").as_uri())
    query = browser.find_element("css selector", "[data-md-component=search-query]")
    query.click()
    query.send_keys("Thompson")
    found = WebDriverWait(browser, PATIENCE, POLL).until(lambda shown: shown.execute_script(FOUND))
    assert any(link.endswith("tutorials/own-agent.html") for link in found)


def test_wide_tables_scroll(site: Path, browser: "Chrome") -> None:
    show(browser, 400)
    browser.get((site / "reproduction.html").as_uri())
    moved = browser.execute_script(HIDDEN)
    assert moved
    assert all(abs(place - hidden) <= 1 for place, hidden in moved)


def show(browser: "Chrome", width: int, scheme: str = "light") -> None:
    preferred = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": preferred})
    size = {"width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
