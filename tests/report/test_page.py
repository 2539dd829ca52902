import csv
import math
import os
import re
import shutil
import statistics
import time
from collections.abc import Iterator
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from page_browser import PROGRAMS, Page, seconds, start
from selenium.webdriver import Chrome
from selenium.webdriver.common.keys import Keys

from brlbench.analysis.bounds import Comparison
from brlbench.errors import InvalidInput, StoreError
from brlbench.report.data import Entry, ExperimentData, ReportData
from brlbench.report.page import LEVELS, write_page
from made_results import SPECIAL_NAMES, entry, experiment, study

FEATURES = {
    "mean": "mean of a decision",
    "median": "median of a decision",
    "p95": "95th percentile of a decision",
    "max": "longest decision",
    "total": "total of a trajectory",
    "own:feature": "own:feature",
}


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    missing = [program for program in PROGRAMS if shutil.which(program) is None]
    if missing:
        message = f"no {' and no '.join(missing)}: install Debian's chromium and chromium-driver"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    browser = start(tmp_path_factory.mktemp("browser"))
    yield browser
    browser.quit()


@pytest.fixture
def page(browser: Chrome, tmp_path: Path) -> Iterator[Page]:
    page = Page(browser, tmp_path)
    page.resize(1300)
    page.prefer("light")
    yield page
    assert page.errors() == []
    assert page.run("return performance.getEntriesByType('resource').length") == 0


def awkward(seed: int, num_mdps: int = 41, name: str = "GC") -> ExperimentData:
    """Few distinct times, some of them zero; returns that are equal, or apart by a constant."""
    rng = np.random.default_rng(seed)
    shared = rng.normal(size=num_mdps)
    entries = [entry("random", shared - 2, 0.0, 1e-6), entry("optimal", shared + 4, 0.0, 1e-6)]
    for number in range(60):
        algorithm = "abcdef"[number % 6]
        noise = rng.normal(size=num_mdps) * (number % 5 > 0)
        returns = shared + rng.integers(0, 3) / 4 + noise
        offline, online = 10.0 ** rng.integers(-4, 3), 10.0 ** rng.integers(-8, 1)
        made = entry(algorithm, returns, offline * (number % 9 > 0), online, n=number)
        own = {feature: float(10.0 ** rng.integers(-6, 2)) for feature in FEATURES}
        entries.append(replace(made, features={**made.features, **own, "mean": online}))
    for i in range(2):
        entries[i] = replace(entries[i], features={**entries[i].features, "own:feature": 1e-4})
    return experiment(entries, name)


def expected(
    entries: list[Entry], bounds: list[str], feature: str, level: float, honest: bool
) -> tuple[set[str], set[str], list[str]]:
    """Python's winners, their algorithms, and the best of all algorithms."""
    comparison = Comparison([e.contender(feature) for e in entries], level, honest)
    best = comparison.within(*map(seconds, bounds))
    if best is None:
        return set(), set(), []
    winners = [comparison.contenders[i] for i in best.winners]
    names = [comparison.contenders[i].name for i in best.best_of_algorithm]
    return {w.name for w in winners}, {w.algorithm for w in winners}, names


@pytest.mark.parametrize(
    ("feature", "hidden"),
    [*((feature, "") for feature in FEATURES), ("mean", "ab"), ("median", "bcdef"), ("p95", "c")],
)
def test_winners_are_those_of_python(page: Page, feature: str, hidden: str) -> None:
    seed = sum(map(ord, feature))
    rng = np.random.default_rng(seed)
    made = awkward(seed)
    page.open(ReportData([made], []))
    page.choose("feature", FEATURES[feature])
    for algorithm in hidden:
        page.tick(algorithm)
    entries = [e for e in made.entries if e.algorithm not in {*hidden, "optimal"}]
    times = {e.features["offline"] for e in entries}, {e.features[feature] for e in entries}
    sizes = set()
    for honest in (False, True):
        for level in LEVELS[::3]:
            page.choose("level", f"{100 * level:g}%")
            for shown in page.slide(rng.uniform(0, 1050, (20, 2))):
                winners, algorithms, best = expected(
                    entries, shown["bounds"], feature, level, honest
                )
                assert set(shown["winners"]) == winners, shown
                assert set(shown["algorithms"]) == algorithms
                assert shown["best"] == best
                sizes.add(len(winners))
                for bound, known in zip(shown["bounds"], times, strict=True):
                    assert seconds(bound) in {*known, math.inf}
        page.one("#honest").click()
    assert hidden == "bcdef" or len(sizes) > 2


def test_map_is_exact_and_a_click_sets_the_bounds(page: Page) -> None:
    made = awkward(5)
    page.open(ReportData([made], []))
    entries = made.competitors
    offline = {e.features["offline"] for e in entries}
    rng = np.random.default_rng(0)
    painted = []
    for _ in range(20):
        painted.append(page.click_map(rng.uniform(0.12, 0.97), rng.uniform(0.04, 0.85)))
        bounds = page.bounds()
        assert bounds[0] in {*offline, math.inf}
        _, algorithms, _ = expected(entries, [str(b) for b in bounds], "mean", 0.95, False)
        # Left of the first time, nothing is painted and the click takes the first time.
        assert set(painted[-1]) in (algorithms, set())
        assert set(page.texts("#answer strong")) == algorithms
    assert sum(map(bool, painted)) > 10
    assert len({tuple(sorted(names)) for names in painted}) > 3


def test_typed_bounds(page: Page) -> None:
    made = study(1, 40, 50).experiments[0]
    page.open(ReportData([made], []))
    for offline, online, bounds in (
        ("1 s", "5 ms", (1.0, 0.005)),
        ("2min", "300us", (120.0, 300 * 1e-6)),
        ("1.5 h", "20 µs", (5400.0, 20 * 1e-6)),
        ("", "none", (math.inf, math.inf)),
    ):
        page.type("offline", offline)
        page.type("online", online)
        assert page.bounds() == bounds
        wanted = expected(made.competitors, [str(b) for b in bounds], "mean", 0.95, False)
        assert set(page.texts("#agents tr.winner td.name")) == wanted[0]
    page.type("offline", "1 s")
    page.type("online", "5 ms")
    assert page.text("#answer").startswith("Within 1 s offline and 5 ms a decision: ")
    page.type("online", "soon")
    assert page.bounds() == (1.0, 0.005)
    assert page.run("return document.querySelector('#online-text').validity.customError")


def test_keyboard(page: Page) -> None:
    made = study(2, 30, 50).experiments[0]
    page.open(ReportData([made], []))
    offline = sorted({e.features["offline"] for e in made.competitors})
    online = sorted({e.features["mean"] for e in made.competitors})
    slider = page.one("#offline input[type=range]")
    slider.send_keys(Keys.HOME)
    assert page.bounds() == (offline[0], math.inf)
    slider.send_keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_LEFT)
    assert page.bounds() == (offline[1], math.inf)
    slider.send_keys(Keys.PAGE_UP)
    assert page.bounds() == (offline[11], math.inf)
    assert page.run("return getComputedStyle(document.activeElement).outlineStyle") == "solid"
    slider.send_keys(Keys.END)
    plot = page.one("#map")
    plot.send_keys(Keys.ARROW_LEFT, Keys.ARROW_LEFT, Keys.ARROW_DOWN)
    assert page.bounds() == (offline[-1], online[-2])
    plot.send_keys(Keys.ARROW_RIGHT, Keys.ARROW_UP)
    assert page.bounds() == (math.inf, online[-1])
    page.one("#offline-plot").send_keys(Keys.ARROW_RIGHT)
    assert page.one("#tip").is_displayed()
    assert "random" in page.text("#tip")
    page.one("#offline-plot").send_keys(Keys.TAB)
    assert not page.one("#tip").is_displayed()
    reached = set()
    page.one("#theme").send_keys(Keys.TAB)
    for _ in range(60):
        reached.add(page.run("return document.activeElement.id || document.activeElement.type"))
        page.browser.switch_to.active_element.send_keys(Keys.TAB)
    assert {
        "problem",
        "level",
        "honest",
        "checkbox",
        "range",
        "map",
        "online-plot",
        "csv",
        "button",
    } <= reached


def test_tip_describes_an_agent(page: Page) -> None:
    page.open(ReportData([awkward(3)], [])).one("#none").click()
    page.tick("random")
    page.one("#online-plot").send_keys(Keys.END)
    assert page.texts("#tip dt") == ["score", "normalised", "offline", *FEATURES.values()]
    page.tick("a")
    page.one("#online-plot").send_keys(Keys.END)
    assert page.texts("#tip dt")[0] == "n"


def test_sorting(page: Page) -> None:
    made = awkward(7)
    page.open(ReportData([made], []))
    page.slide([[500, 500]])
    numbers: dict[str, list[float]] = {
        "offline": [e.features["offline"] for e in made.entries],
        "online": [e.features["mean"] for e in made.entries],
        "score": [e.mean for e in made.entries],
        "interval": [e.ci95 for e in made.entries],
        "normalised": [float(made.normalised(e.mean) or 0) for e in made.entries],
    }
    by_label = {e.label: i for i, e in enumerate(made.entries)}
    for key, values in numbers.items():
        for order in ("first", "second"):
            page.one(f"#agents th[data-key={key}] button").click()
            sort = page.one(f"#agents th[data-key={key}]").get_attribute("aria-sort")
            shown = [values[by_label[name]] for name in page.texts("#agents tbody td.name")]
            assert shown == sorted(values, reverse=sort == "descending"), (key, order)
    page.one("#agents th[data-key=winner] button").click()
    marks = page.texts("#agents tbody tr td:last-child")
    assert marks[0] == "★ winner"
    assert marks == sorted(marks, key=lambda mark: "winner" not in mark)
    page.one("#agents th[data-key=agent] button").click()
    names = page.texts("#agents tbody td.name")
    assert names[:2] == ["a(n=0)", "a(n=6)"]
    assert names[-1] == "random"


def test_filter(page: Page) -> None:
    made = awkward(8)
    page.open(ReportData([made], []))
    winner = page.texts("#answer strong")[0]
    page.tick(winner)
    assert winner not in page.texts("#answer strong")
    assert not any(name.startswith(f"{winner}(") for name in page.texts("#agents td.name"))
    assert winner not in page.text("#legend")
    page.one("#none").click()
    assert page.text("#answer") == "Without time bounds: no agent."
    page.one("#all").click()
    assert winner in page.texts("#answer strong")


def test_csv_is_what_is_shown(page: Page, browser: Chrome) -> None:
    name = 'quote " and, comma'
    made = awkward(9, name="GC / 2")
    made.entries.append(entry(name, made.entries[0].returns, 0.1, 0.1))
    made.entries[-1].features["own:feature"] = 0.1
    page.open(ReportData([made], []))
    page.choose("feature", FEATURES["p95"])
    page.tick("c")
    shown = page.slide([[600, 700]])[0]
    page.one("#agents th[data-key=offline] button").click()
    path = Path(browser.capabilities["chrome"]["userDataDir"]).parent / "GC_2.csv"
    page.one("#csv").click()
    for _ in range(100):
        if path.exists():
            break
        time.sleep(0.1)
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["agent"] for row in rows] == page.texts("#agents tbody td.name")
    assert {row["agent"] for row in rows if row["winner"] == "true"} == set(shown["winners"])
    assert {row["algorithm"] for row in rows} == {*"abdef", "random", "optimal", name}
    by_label = {e.label: e for e in made.entries}
    offline, online = map(seconds, shown["bounds"])
    for row in rows:
        e = by_label[row["agent"]]
        assert float(row["offline_seconds"]) == e.features["offline"]
        assert float(row["online_seconds_p95"]) == e.features["p95"]
        assert (float(row["score"]), float(row["ci95"])) == (e.mean, e.ci95)
        assert float(row["normalised"]) == made.normalised(e.mean)
        within = e.features["offline"] <= offline and e.features["p95"] <= online
        assert row["within_bounds"] == str(within).lower()


def test_optimal_is_a_reference_unless_ticked(page: Page) -> None:
    made = study(3, 30, 50)
    page.open(made)
    assert "optimal" not in page.texts("#answer strong")
    assert page.texts("#agents tr.upper td.name") == ["optimal"]
    assert "optimal" in page.text("#online-plot")
    assert "upper bound" in page.one("#reference-note").text
    page.tick("optimal")
    assert page.texts("#answer strong") == ["optimal"]
    assert not page.one("#reference-note").is_displayed()


def test_experiments_and_cases(page: Page) -> None:
    made = [awkward(seed, name=name) for seed, name in enumerate(("GC", "Grid"))]
    for seed, problem in enumerate(("GC", "Grid")):
        other = awkward(10 + seed, 20, f"{problem} from uniform:{problem}")
        told = {"test": problem, "test_digest": problem, "prior": f"uniform:{problem}"}
        made.append(replace(other, settings={**other.settings, **told}))
    made[3].entries[:] = [e for e in made[3].entries if e.algorithm != "a"]
    page.open(ReportData(made, ["a note"]))
    assert page.text("#notes") == "a note"
    page.choose("problem", "Grid")
    assert page.text("#about").startswith("Grid · 41 MDPs")
    page.choose("case", "wrong: uniform:Grid")
    assert page.text("#about").startswith("Grid from uniform:Grid · 20 MDPs")
    assert "only 20 MDPs" in page.text("#notes")
    disabled = "return document.querySelector('#algorithms input').disabled"
    assert page.run(disabled)
    shown = page.slide([[600, 700]])[0]
    wanted = expected(made[3].competitors, shown["bounds"], "mean", 0.95, False)
    assert set(shown["winners"]) == wanted[0]
    page.choose("problem", "GC")
    assert page.text("#about").startswith("GC from uniform:GC · 20 MDPs")
    assert not page.run(disabled)
    page.choose("case", "accurate")
    assert page.text("#notes") == "a note"
    page.one("#honest").click()
    assert "only 20 MDPs" in page.text("#notes")


def test_light_and_dark(page: Page) -> None:
    page.open(study(4, 30, 50))

    def ground() -> float:
        colour = page.run("return getComputedStyle(document.body).backgroundColor")
        return statistics.mean(map(float, re.findall(r"[\d.]+", colour)[:3]))

    assert ground() > 200
    page.prefer("dark")
    assert ground() < 50
    page.one("#theme").click()
    assert ground() > 200
    page.one("#theme").click()
    assert ground() < 50


@pytest.mark.parametrize("width", [320, 390, 760, 1300])
def test_no_sideways_scrolling(page: Page, width: int) -> None:
    long = "an-algorithm-with-a-name-that-does-not-end-anywhere-near-here"
    data = study(5, 60, 50)
    data.experiments[0].entries.append(entry(long, np.ones(50), 1.0, 1.0, words="x" * 80))
    data.notes.append("y" * 200)
    page.resize(width)
    page.open(data)
    assert page.run("return document.documentElement.scrollWidth") <= width
    widths = page.run("return ['map', 'best', 'agents'].map((id) =>"
                      "document.getElementById(id).closest('.card').offsetWidth)")  # fmt: skip
    assert (max(widths[:2]) < 0.6 * width) == (width > 900)


@pytest.mark.parametrize("name", [*SPECIAL_NAMES, "{{numbers}}", "__proto__", " "])
def test_special_names_are_shown_as_such(page: Page, name: str) -> None:
    rng = np.random.default_rng(0)
    label = f"{name}({name}={name})"
    entries = [
        replace(entry(name, rng.normal(size=40) + 9), label=label, parameters={name: name}),
        entry("random", rng.normal(size=40)),
    ]
    page.open(ReportData([experiment(entries, name)], [name]))
    assert page.texts("#answer strong") == [name]
    assert page.texts("#agents tbody td.name")[0] == label
    assert page.text("#notes") == name
    assert page.text("#about").startswith(name)
    assert any(name in text for text in page.texts("#legend li"))
    assert name in page.texts("#algorithms label")
    page.one("#online-plot").send_keys(Keys.HOME, Keys.ARROW_RIGHT)
    assert page.texts("#tip strong") in ([name], ["random"])
    assert page.run("return document.querySelectorAll('script').length") == 4


def test_little_data(page: Page) -> None:
    rng = np.random.default_rng(0)
    one = entry("beb", rng.normal(size=40))
    optimal = entry("optimal", rng.normal(size=40))
    for entries, answer in (
        ([one], "Without time bounds: beb is the only algorithm."),
        ([optimal], "Without time bounds: no agent."),
        ([entry("beb", np.ones(1))], "Without time bounds: beb is the only algorithm."),
        (
            [entry("a", np.ones(1), 0.0, 0.0), entry("b", np.zeros(1), 0.0, 0.0)],
            "Without time bounds: a and b are best (not significantly different at 95%).",
        ),
        (
            [entry("a", np.ones(2)), entry("b", np.zeros(2))],
            "Without time bounds: a is best: all others are significantly worse at 95%.",
        ),
    ):
        page.open(ReportData([experiment(entries)], []))
        assert page.text("#answer") == answer
        page.one("#honest").click()
        page.slide([[0, 0], [1000, 1000]])
        assert page.texts("#agents th") == [
            "Agent", "Offline", "Online", "Score", "± 95%", "In bounds", "Winner",
        ]  # fmt: skip


def test_update_is_quick(page: Page, tmp_path: Path) -> None:
    names = [f"{case}{name}" for case in ("", "wrong ") for name in ("GC", "GDL", "Grid")]
    data = ReportData([study(i, 400, 500, name).experiments[0] for i, name in enumerate(names)], [])
    page.open(data)
    moves, changes = page.run("""
      const timed = (act) => {
        const begin = performance.now();
        act();
        document.body.offsetHeight;
        return performance.now() - begin;
      };
      const set = (node, value, type) => {
        node.value = value;
        node.dispatchEvent(new Event(type, { bubbles: true }));
      };
      const slider = document.querySelector("#online input[type=range]");
      const problem = document.getElementById("problem");
      return [
        Array.from({ length: 40 }, () => timed(() => set(slider, 1000 * Math.random(), "input"))),
        [...problem.options].map(({ value }) => timed(() => set(problem, value, "change"))),
      ];
    """)
    size = page.path.stat().st_size
    move, change = statistics.median(moves), statistics.median(changes)
    print(f"400 agents, 6 experiments: {move:.0f} ms a slider move, {change:.0f} ms a change of")
    print(f"experiment (medians); the file has {size / 1e6:.1f} MB")
    assert move < 1000
    assert change < 3000
    assert size < 5e6


def test_file_needs_no_network(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    write_page(study(6, 20, 40), path)
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"https?:|@import|\burl\((?!#)|\b(src|href)=", text)
    assert "default-src 'none'" in text
    for template in (files("brlbench.report") / "templates").iterdir():
        assert "http" not in template.read_text(encoding="utf-8")


def test_refusals(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    with pytest.raises(InvalidInput, match="no results"):
        write_page(ReportData([], []), path)
    write_page(study(6, 20, 40), path)
    with pytest.raises(StoreError, match="exists already"):
        write_page(study(6, 20, 40), path)
