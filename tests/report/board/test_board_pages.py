"""The leaderboard in a browser: filters, sorting, links, widths and themes."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.keys import Keys

from brlbench.problems.frozen import HASHES
from brlbench.report.loading import load
from helpers.made_boards import Site, board_data, content_of, contest, written
from helpers.page_browser import checked
from helpers.processes import wait_for
from helpers.shared import made_once

ROOT = Path(__file__).parents[3]
SHIPPED = (ROOT / "reproduction/results.parquet", ROOT / "leaderboard")
NONE = "\N{EN DASH}"
OVERFLOW = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
# Text that its box cuts off, other than in regions that scroll.
CUT = """
return [...document.querySelectorAll("h1, h2, p, dd, select, label, li")].filter((node) =>
  node.checkVisibility() && node.getBoundingClientRect().right > innerWidth + 1
  && !node.closest(".scroll")).map((node) => node.textContent);
"""
PAGES = ("index.html", "problems/GC.html", "agents/bamcp-depth-15.html")


@pytest.fixture(scope="session")
def made_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a leaderboard, made once; only for reading."""
    return made_once(tmp_path_factory, "board", lambda folder: written(folder, board_data()))


@pytest.fixture
def site(browser: Chrome, made_site: Path) -> Iterator[Site]:
    """The leaderboard in the browser, which must load nothing and log no error."""
    with checked(Site(browser, made_site), 1400) as site:
        yield site


def test_the_overview_shows_what_python_found(site: Site) -> None:
    site.visit()
    answer = site.text("#answer")
    assert answer.startswith("Without bounds on time, bamcp has the highest mean score, ")
    assert ", of the 5 of 7 algorithms that are in all 3 experiments, each by its best" in answer
    names = site.column("totals", "name")
    assert (names[0], names[-2:]) == ("bamcp", ["psrl", "vdbe"])
    assert site.column("totals", "rank")[0] == "1"
    assert site.column("totals", "rank")[-2:] == ["5 of 6", NONE]
    assert site.column("totals", "count")[-3:] == ["3 of 3", "2 of 3", "0 of 3"]
    assert site.column("totals", "memory")[0].endswith("MiB")
    content = content_of((site.folder / "index.html").read_text(encoding="utf-8"))
    view, totals = content["views"][0][0]["best"][0], content["totals"]["best"]
    for key in ("mean", "iqm"):
        expected = [f"{totals[row[1]][key][0]:z.3f}" for row in view if row[1] is not None]
        shown = [text.replace("\N{MINUS SIGN}", "-") for text in site.column("totals", key)]
        assert shown == [*expected, NONE]
    assert "over 2" in site.texts("#totals tbody tr")[-2]
    assert not any("over" in text for text in site.texts("#totals tbody tr")[:-2])
    assert site.texts("#matrix thead button") == ["Algorithm", "GC", "Grid", "GC from uniform:GC"]
    assert site.column("matrix", "on-GC")[0].startswith("★ ")
    assert site.texts("#matrix tbody tr")[-1].startswith("optimal (knows the MDP)")
    psrl = site.column("matrix", "name").index("psrl")
    assert site.column("matrix", "on-Grid")[psrl] == NONE
    assert len(site.all("#profile .curve")) == 5
    assert len(site.all("#improvement tbody tr")) == 5


def test_filters(site: Site) -> None:
    site.visit()
    site.choose("offline", "1 s")
    assert "opps-ds" not in site.column("totals", "name")
    site.choose("online", "100 µs")
    assert site.text("#answer").startswith(
        "Within 1 s offline and 100 µs per decision, bamcp has the highest mean score"
    )
    [link] = site.all("#matrix tbody tr:first-child td:nth-child(2) a")
    assert str(link.get_attribute("href")).endswith("agents/bamcp-depth-2.html")
    site.choose("prior", "wrong")
    assert site.texts("#matrix thead button")[1:] == ["GC from uniform:GC"]
    assert "psrl" in site.column("totals", "name")[:-1]  # it is in all experiments of these
    site.choose("prior", "accurate")
    site.choose("problem", "Grid")
    assert site.texts("#matrix thead button")[1:] == ["Grid"]
    assert "psrl" not in site.column("matrix", "name")
    site.choose("rows", "single agents, the same everywhere")
    assert "beb(beta=0)" in site.column("totals", "name")
    site.choose("online", "10 µs")
    assert "bamcp(depth=2)" not in site.column("totals", "name")
    told = site.run("return location.hash")
    for part in ("offline=1", "online=0.00001", "prior=accurate", "problem=Grid", "rows=single"):
        assert part in told.replace("1e-5", "0.00001")
    shown = site.texts("#totals, #matrix, #answer")
    site.visit(state=told)
    assert site.texts("#totals, #matrix, #answer") == shown
    site.run("location.hash = ''")
    wait_for(lambda: site.text("#answer").startswith("Without bounds"))
    site.visit(
        "index.html", "#offline=soon&prior=__proto__&rows=x&totals=constructor%20down&line=%25"
    )
    assert site.text("#answer").startswith("Without bounds")


def test_sorting_with_mouse_and_keys(site: Site) -> None:
    site.visit()
    site.sort("totals", "gap")
    gaps = site.column("totals", "gap")
    assert gaps[-1] == NONE
    assert site.column("totals", "name")[-2:] == ["psrl", "vdbe"]  # always last
    assert gaps[:-2] == sorted(gaps[:-2], key=float)
    [head] = site.all('#totals th[aria-sort="ascending"]')
    assert head.get_attribute("data-key") == "gap"
    head.find_element("css selector", "button").send_keys(Keys.ENTER)
    assert site.column("totals", "gap")[:-2] == gaps[-3::-1]
    assert len(site.all('#totals th[aria-sort="descending"]')) == 1
    site.sort("totals", "name")
    site.sort("matrix", "on-Grid")
    order = site.column("totals", "name"), site.column("matrix", "name")
    assert order[0] == sorted(order[0])
    assert order[1][-1] == "optimal (knows the MDP)"  # always last
    site.visit(state=site.run("return location.hash"))
    assert (site.column("totals", "name"), site.column("matrix", "name")) == order
    site.visit("problems/GC.html")
    assert site.column("entrants", "rank")[0].startswith("1 (")
    site.sort("entrants", "online")
    assert site.column("entrants", "online")[0] == "100 ns"
    site.one("#only-best").click()
    shown = [row.text for row in site.all("#entrants tbody tr") if row.is_displayed()]
    assert len(shown) == 8


def test_lines_of_the_profile(site: Site) -> None:
    site.visit()
    for box in site.all("#algorithms input")[1:]:
        box.click()
    assert len(site.all("#profile .curve")) == 1
    assert len(site.all("#profile .band")) == 1
    site.visit(state=site.run("return location.hash"))
    assert len(site.all("#profile .curve")) == 1


def test_links_lead_through_the_site(site: Site) -> None:
    site.visit()
    site.run("document.querySelector('#matrix thead a').click()")
    wait_for(lambda: site.text("h1") == "GC")
    assert len(site.all("#map .region")) > 1
    assert len(site.all("#online-plot .agent")) == 10
    site.run("document.querySelector('#entrants tbody a').click()")
    wait_for(lambda: site.text("h1") == "bamcp(depth=15)")
    assert len(site.all(".curves .curve")) == 3 * 2  # the agent, which is the winner, and optimal
    site.run("document.querySelector('nav a').click()")
    wait_for(lambda: bool(site.text("#answer")))


def test_nothing_of_strangers_runs(site: Site) -> None:
    site.visit()
    page = "agents/mine-Agent-text-img-src-x-onerror-alert-1-amp-script-script.html"
    for name in ("index.html", "problems/GC.html", page):
        site.visit(name)
        assert not site.all("img[onerror]")
        assert 'onerror="alert(1)"' in site.text("body")
    assert site.text("dl").count("<script>") >= 5
    [link] = site.all("dl a")
    assert str(link.get_attribute("href")).startswith("https://example.org/")


def test_widths_and_themes(site: Site, tmp_path: Path) -> None:
    long = contest(5, "A problem with a very long name, in words and in brackets")
    written(tmp_path, board_data(long))
    site.folder = tmp_path
    ground = {"light": "rgb(245, 246, 248)", "dark": "rgb(18, 21, 25)"}
    colour = "return getComputedStyle(document.body).backgroundColor"
    for name in PAGES:
        check_widths(site, name)
        for scheme, other in (("light", "dark"), ("dark", "light")):
            site.prefer(scheme)
            assert site.run(colour) == ground[scheme]
            site.one("#theme").click()
            assert site.run(colour) == ground[other]
            site.run("delete document.documentElement.dataset.theme")


def check_widths(site: Site, name: str) -> None:
    """A page that is opened on a phone, then shown on a screen, has no text outside."""
    site.resize(400)
    site.visit(name)
    for width in (400, 1400):
        site.resize(width)
        assert site.run(OVERFLOW) <= 0, (name, width)
        assert site.run(CUT) == [], (name, width)


@pytest.mark.slow
def test_the_shipped_results(site: Site, tmp_path: Path) -> None:
    written(tmp_path, load(*SHIPPED, learning=True))
    site.folder = tmp_path
    site.visit()
    assert len(site.column("totals", "name")) >= 20
    played = [name for name in HASHES if not name.startswith(("Bandit", "RandomMDP"))]
    assert site.texts("#matrix thead button") == ["Algorithm", *played]
    site.choose("online", "10 µs")
    counts = zip(site.column("totals", "name"), site.column("totals", "count"), strict=True)
    assert dict(counts)["bfs3"] != "20 of 20"
    site.choose("rows", "single agents, the same everywhere")
    assert len(site.column("totals", "name")) > 60
    site.visit("problems/GC-accurate-v1.html")
    assert site.run("return document.querySelector('.drawing').naturalWidth") > 100
    for name in ("index.html", "problems/DeepSea-10-unlabelled-v1.html", "agents/beb.html"):
        check_widths(site, name)
