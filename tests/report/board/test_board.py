"""The leaderboard's files, links and texts."""

import os
import re
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

import brlbench as bb
from brlbench.errors import InvalidInput, StoreError
from brlbench.report.board.sources import known_problem, web_address
from brlbench.report.data import ReportData
from helpers.made_boards import (
    BAD_ENTRY,
    HTML,
    board_data,
    content_of,
    contest,
    written,
)
from helpers.made_results import write_study
from helpers.shell import Shell

DATA = board_data()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return written(tmp_path_factory.mktemp("site"), DATA)


def test_the_same_results_give_the_same_bytes(pages: dict[str, str], tmp_path: Path) -> None:
    assert written(tmp_path, board_data()) == pages


class Attributes(HTMLParser):
    """The attributes of all elements of a page, as pairs of name and value."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, str | None]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += attrs


def test_pages_need_nothing_from_elsewhere(pages: dict[str, str]) -> None:
    for name, text in pages.items():
        assert not re.search(r"@import|\burl\((?!#)", text), name
        found = Attributes(text).found
        [policy] = [value for key, value in found if key == "content" and "src" in str(value)]
        assert "default-src 'none'" in str(policy)
        assert not [key for key, _ in found if key == "style" or key.startswith("on")]
        addresses = [str(value) for key, value in found if key in ("src", "href")]
        for address in addresses:
            local = not re.match(r"[a-z]+:", address)
            assert local or address.startswith(("https://example.org/", "data:image/svg")), name
    rooms = ("board", "page", "web")
    for source in [each for room in rooms for each in files(f"brlbench.report.{room}").iterdir()]:
        if source.name.endswith((".js", ".css", ".j2")):
            text = source.read_text(encoding="utf-8")
            assert not re.search(r"https?:|fetch\(|//[a-z]+\.|style=", text), source.name


def test_every_link_leads_to_a_page(pages: dict[str, str]) -> None:
    for name, text in pages.items():
        content = content_of(text)
        links = re.findall(r'href="([^"]*\.html)"', text)
        assert name == "index.html" or links[0] == "../index.html"
        for link in links:
            assert os.path.normpath(Path(name).parent / link) in pages, (name, link)
        if name == "index.html":
            assert all(f"agents/{page}.html" in pages for _, _, page in content["agents"])
            assert all(f"problems/{each['page']}.html" in pages for each in content["contests"])


def test_texts_of_strangers_stay_text(pages: dict[str, str]) -> None:
    assert len(pages) == 1 + 3 + 11
    for name, text in pages.items():
        assert "<img src=x" not in text, name
        assert text.count("<script") == text.count("</script>") == 2, name
    [page] = [text for text in pages.values() if "example.org" in text]
    shown = unescape(re.sub(r"<script.*?</script>|<[^>]*>", "", page, flags=re.DOTALL))
    for said in (*BAD_ENTRY[:1], *BAD_ENTRY.authors, *BAD_ENTRY[2:]):
        assert said in shown
    assert HTML in shown
    assert 'href="javascript' not in page
    [link] = re.findall(r"<a [^>]*example[^>]*>", page)
    assert 'rel="nofollow noopener"' in link


@pytest.mark.parametrize(
    ("text", "is_link"),
    [
        ("https://example.org/a?b=c", True), ("http://example.org", True),
        ("javascript:alert(1)", False), ("data:text/html,x", False), ("//example.org", False),
        ("https:", False), ("https://[", False), ("", False), (" https://example.org", True),
    ],
)  # fmt: skip
def test_only_web_pages_are_links(text: str, is_link: bool) -> None:
    assert (web_address(text) is not None) == is_link


def test_only_problems_of_the_package_are_drawn(tmp_path: Path) -> None:
    made = bb.frozen_set("GC/accurate/v1", 1)
    known = known_problem(made.settings())
    assert known is not None and known.digest == made.test.digest
    own = tmp_path / "own.toml"
    for test in ("gym:FrozenLake-v1", str(own), "no such", "Dense:states=1000000"):
        assert known_problem({"test": test, "test_digest": "x"}) is None
    assert known_problem({"test": "GC", "test_digest": "x"}) is None
    told: Any = {"test": "GC", "test_digest": bb.distribution("GC").digest}
    pages = written(tmp_path / "site", ReportData([contest(1, "GC", **told)], []))
    assert "data:image/svg+xml;base64," in pages["problems/GC.html"]
    assert "Generalised Chain" in pages["problems/GC.html"]


def test_experiments_without_a_scale_are_shown_and_not_counted(tmp_path: Path) -> None:
    unscaled = contest(4, "Loop")
    agents = [each for each in unscaled.summaries if each.algorithm != "random"]
    data = board_data(replace(unscaled, summaries=agents))
    content = content_of(written(tmp_path, data)["index.html"])
    assert (content["priors"][0]["contests"], content["priors"][0]["counted"]) == ([0, 1, 2, 3], 3)
    assert content["contests"][3]["normalised"] is None
    alone = written(tmp_path / "alone", ReportData([replace(unscaled, summaries=agents)], []))
    content = content_of(alone["index.html"])
    assert content["priors"][0]["counted"] == 0
    assert content["views"][0][0]["best"] == [[], []]


def test_refusals(tmp_path: Path) -> None:
    reference = [each for each in contest(1, "GC").summaries if each.algorithm == "optimal"]
    only = ReportData([replace(contest(1, "GC"), summaries=reference)], [])
    with pytest.raises(InvalidInput, match="no agents to compare"):
        written(tmp_path / "site", only)
    (tmp_path / "site/agents").mkdir(parents=True)
    (tmp_path / "site/agents/optimal.html").write_text("mine")
    with pytest.raises(StoreError, match=r"optimal\.html exists already"):
        written(tmp_path / "site", DATA)
    assert not (tmp_path / "site/index.html").exists()
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="can't be made"):
        written(tmp_path / "file", DATA)


def test_the_command_and_the_function(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    write_study(tmp_path / "results", ("random", "beb", "psrl", "optimal"))
    done = shell("leaderboard", "results", "--output", "site")
    assert done.code == 0
    assert done.out == "wrote 7 pages: open site/index.html\n"
    (tmp_path / "site/index.html").write_text("mine")
    done = shell("leaderboard", "results", "--output", "site")
    assert done.code == 1
    assert done.err.startswith("error: site/index.html exists already: choose another")
    assert shell("leaderboard", "results", "-o", "site", "--overwrite").code == 0
    made = bb.leaderboard("results", "again")
    assert [path.name for path in made][:3] == ["index.html", "GC.html", "Grid.html"]
    written_at = {path.name: path.stat().st_mtime_ns for path in made}
    assert max(written_at.values()) == written_at["index.html"]
    for path in made:
        assert path.read_bytes() == (Path("site") / path.relative_to("again")).read_bytes()
    assert "curves" in (tmp_path / "site/agents/random.html").read_text(encoding="utf-8")


def test_an_entry_is_beside_the_others(made_entry: Path, tmp_path: Path) -> None:
    made = bb.leaderboard([made_entry], tmp_path / "site")
    [page] = [path.read_text(encoding="utf-8") for path in made if "Steady" in path.name]
    assert "<dd>Ada One, Bo Two</dd>" in page
    assert '<a href="https://example.org/steady" rel="nofollow noopener">' in page
    assert "Steady &amp; sons" in page
