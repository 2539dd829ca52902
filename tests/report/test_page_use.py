import csv
import math
import re
import statistics
from dataclasses import replace
from pathlib import Path

import numpy as np
from selenium.webdriver import Chrome
from selenium.webdriver.common.keys import Keys

from brlbench.analysis.bounds import Comparison
from brlbench.report.answers import rows_on
from brlbench.report.data import ReportData
from brlbench.report.notes import Note
from helpers.made_results import SPECIAL_NAMES, experiment, study, summary
from helpers.page_browser import FEATURES, Page, awkward, seconds
from helpers.processes import wait_for


def test_keyboard(page: Page) -> None:
    made = study(2, 30, 50).experiments[0]
    page.open(ReportData([made], []))
    offline = sorted({e.seconds["offline"] for e in made.competitors})
    online = sorted({e.seconds["processor"] for e in made.competitors})
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
    wanted = {
        "problem",
        "level",
        "as-in-paper",
        "checkbox",
        "range",
        "map",
        "online-plot",
        "csv",
        "button",
    }
    page.one("#theme").send_keys(Keys.TAB)
    for _ in range(60):
        wanted.discard(page.run("return document.activeElement.id || document.activeElement.type"))
        if not wanted:
            break
        page.browser.switch_to.active_element.send_keys(Keys.TAB)
    assert not wanted


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
    rows = rows_on(made, made.summaries, Comparison(made.competitors).num_choosing)
    numbers: dict[str, list[float]] = {
        "offline": [e.seconds["offline"] for e in made.summaries],
        "online": [e.seconds["processor"] for e in made.summaries],
        "score": [row.score.mean for row in rows],
        "interval": [row.score.ci95 for row in rows],
        "normalised": [row.normalised or 0.0 for row in rows],
    }
    by_label = {e.label: i for i, e in enumerate(made.summaries)}
    for key, values in numbers.items():
        for order in ("first", "second"):
            page.one(f"#agents th[data-key={key}] button").click()
            sort = page.one(f"#agents th[data-key={key}]").get_attribute("aria-sort")
            shown = [values[by_label[name]] for name in page.texts("#agents tbody .name")]
            assert shown == sorted(values, reverse=sort == "descending"), (key, order)
    page.one("#agents th[data-key=winner] button").click()
    marks = page.texts("#agents tbody tr td:last-child")
    assert marks[0] == "★ winner"
    assert marks == sorted(marks, key=lambda mark: "winner" not in mark)
    page.one("#agents th[data-key=agent] button").click()
    names = page.texts("#agents tbody .name")
    assert names[:2] == ["a(n=0)", "a(n=6)"]
    assert names[-1] == "random"


def test_memory_is_a_column_where_it_is_known(page: Page) -> None:
    sizes = {"a": 5 * 2**20, "b": None, "c": 300 * 2**20, "d": 2**18}
    agents = [
        replace(summary(name, np.arange(40.0)), quantities={"peak_bytes": size})
        for name, size in sizes.items()
    ]
    page.open(ReportData([experiment(agents)], []))
    column = page.texts("#agents th").index("Memory") + 1
    for expected in (["d", "a", "c", "b"], ["c", "a", "d", "b"]):  # the unknown one is last
        page.one("#agents th[data-key=memory] button").click()
        assert page.texts("#agents tbody .name") == expected
    shown = page.texts(f"#agents tbody td:nth-child({column})")
    assert shown == ["300 MiB", "5.0 MiB", "< 1 MiB", "\N{EN DASH}"]
    page.open(ReportData([experiment([summary("a", np.arange(40.0))])], []))
    assert "Memory" not in page.texts("#agents th")


def test_filter(page: Page) -> None:
    made = awkward(8)
    page.open(ReportData([made], []))
    winner = page.texts("#answer strong")[0]
    page.tick(winner)
    assert winner not in page.texts("#answer strong")
    assert not any(name.startswith(f"{winner}(") for name in page.texts("#agents tbody .name"))
    assert winner not in page.text("#legend")
    page.one("#none").click()
    assert page.text("#answer") == "Without time bounds: no agent."
    page.one("#all").click()
    assert winner in page.texts("#answer strong")


def test_csv_is_what_is_shown(page: Page, browser: Chrome) -> None:
    name = 'quote " and, comma'
    others = awkward(9, name="GC / 2")
    quoted = summary(name, others.summaries[0].returns, 0.1, 0.1)
    quoted = replace(quoted, seconds={**quoted.seconds, "own:feature": 0.1})
    made = replace(others, summaries=[*others.summaries, quoted])
    page.open(ReportData([made], []))
    page.choose("feature", FEATURES["p95"])
    page.tick("c")
    shown = page.slide([[600, 700]])[0]
    page.one("#agents th[data-key=offline] button").click()
    path = Path(browser.capabilities["chrome"]["userDataDir"]).parent / "GC_2.csv"
    page.one("#csv").click()
    wait_for(path.exists)
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["agent"] for row in rows] == page.texts("#agents tbody .name")
    assert {row["agent"] for row in rows if row["winner"] == "true"} == set(shown["winners"])
    assert {row["algorithm"] for row in rows} == {*"abdef", "random", "optimal", name}
    scored = rows_on(made, made.summaries, Comparison(made.competitors).num_choosing)
    by_label = {row.summary.label: row for row in scored}
    offline, online = map(seconds, shown["bounds"])
    for row in rows:
        e, score = by_label[row["agent"]][:2]
        assert float(row["offline_seconds"]) == e.seconds["offline"]
        assert float(row["online_seconds_p95"]) == e.seconds["p95"]
        assert (float(row["score"]), float(row["ci95"])) == score
        assert float(row["normalised"]) == by_label[row["agent"]].normalised
        within = e.seconds["offline"] <= offline and e.seconds["p95"] <= online
        assert row["within_bounds"] == str(within).lower()


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


def test_no_sideways_scrolling(page: Page) -> None:
    long = "an-algorithm-with-a-name-that-does-not-end-anywhere-near-here"
    [others] = study(5, 60, 50).experiments
    agent = summary(long, np.ones(50), 1.0, 1.0, words="x" * 80)
    page.resize(320)
    page.open(
        ReportData([replace(others, summaries=[*others.summaries, agent])], [Note("y" * 200)])
    )
    for width in (320, 390, 760, 1300):
        page.resize(width)
        assert page.run("return document.documentElement.scrollWidth") <= width
        widths = page.run("return ['map', 'best', 'agents'].map((id) =>"
                          "document.getElementById(id).closest('.card').offsetWidth)")  # fmt: skip
        assert (max(widths[:2]) < 0.6 * width) == (width > 900)


NAMES = (*SPECIAL_NAMES, "{{numbers}}", "__proto__", " ", "</script><img src=x onerror=alert(1)>")


def test_special_names_are_shown_as_such(page: Page) -> None:
    rng = np.random.default_rng(0)
    experiments = []
    for name in NAMES:
        best = summary(name, rng.normal(size=40) + 9)
        labelled = replace(best, label=f"{name}({name}={name})", parameters={name: name})
        experiments.append(experiment([labelled, summary("random", rng.normal(size=40))], name))
    page.open(ReportData(experiments, [Note(name, experiment=name) for name in NAMES]))
    for name in NAMES:
        page.run(
            "const problem = document.getElementById('problem'); problem.value = arguments[0];"
            "problem.dispatchEvent(new Event('change', { bubbles: true }))",
            name,
        )
        assert page.texts("#answer strong") == [name]
        assert page.texts("#agents tbody .name")[0] == f"{name}({name}={name})"
        assert page.texts("#notes p")[0] == name
        assert page.text("#about").startswith(name)
        assert any(name in text for text in page.texts("#legend li"))
        assert name in page.texts("#algorithms label")
        page.one("#online-plot").send_keys(Keys.HOME, Keys.ARROW_RIGHT)
        assert page.texts("#tip strong") in ([name], ["random"])
    assert page.run("return document.querySelectorAll('script').length") == 2
