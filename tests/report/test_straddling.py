"""Agents whose time may be on either side of the online bound are marked wherever it is used."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from brlbench.cli.answers import _legend
from brlbench.cli.tables import best_table, everyone_table
from brlbench.report.answers import Answer, Question, answer, notes_on
from brlbench.report.data import ReportData
from brlbench.report.latex import render_report, render_table
from brlbench.report.map import best_algorithms_map
from brlbench.results.summary import Summary
from helpers.made_results import experiment, summary
from helpers.page_browser import Page

MDPS = np.random.default_rng(0).normal(20, 3, 40)


def timed(name: str, gain: float, online: float, reach: float | None, **more: float) -> Summary:
    """An agent whose processor time has an interval that reaches so far to both sides."""
    made = summary(name, MDPS + gain, online=online, **more)
    low, high = (None, None) if reach is None else (online / reach, online * reach)
    limits = {"processor_low_seconds": low, "processor_high_seconds": high}
    return replace(made, quantities=limits)


MADE = experiment(
    [
        timed("random", 0.0, 1e-7, 1.1),
        timed("beb", 3.0, 9e-6, 1.2),
        timed("psrl", 6.0, 11e-6, 1.2),
        timed("bamcp", 9.0, 1e-3, 1.2),
        timed("boss", -1.0, 10e-6, None),
    ]
)
DATA = ReportData([MADE], [])
BOUND = Question(online=10e-6)


def printed(found: Answer) -> str:
    console = Console(width=120)
    with console.capture() as capture:
        console.print(best_table(found), everyone_table(found))
    return capture.get()


@pytest.mark.parametrize(("question", "labels"), [
    (BOUND, ["beb", "psrl"]),
    (Question(online=9e-6 * 1.2), ["beb", "psrl"]),  # the ends belong to intervals
    (Question(online=9e-6 * 1.21), ["psrl"]),
    (Question(online=10e-6, feature="mean"), []),
    (Question(), []),
    (Question(online=10e-6, offline=1e-9), []),
])  # fmt: skip
def test_intervals_contain_the_bound(question: Question, labels: list[str]) -> None:
    assert [each.label for each in answer(MADE, question).straddling] == labels


def test_tables_have_a_mark_and_a_legend() -> None:
    found, free = answer(MADE, BOUND), answer(MADE)
    lines = printed(found).splitlines()
    assert [line.split()[:2] for line in lines if "≈" in line] == [["★≈", "beb"]] * 2
    legend = "≈ the 95% interval of the processor time contains the online bound. "
    assert legend in _legend([found], False)
    assert "≈" not in printed(free) + _legend([free], False) + free._repr_html_()
    assert "<td>★≈</td><td>beb</td>" in found._repr_html_()
    for table in (found.table, found.everyone):
        marked = dict(zip(table["agent"], table["straddles"], strict=True))
        assert marked == {"beb": True, "boss": False, "random": False}


def test_a_note_names_those_beyond_the_bound_too() -> None:
    [note] = (each for each in notes_on(DATA, [answer(MADE, BOUND)]) if "interval" in each.text)
    assert note.text.startswith("the online bound of 10 µs lies in the 95% intervals of the proc")
    assert "2 of 5 agents on GC" in note.text
    assert note.results == ["beb (within)", "psrl (beyond)"]
    assert not any("interval" in each.text for each in notes_on(DATA, [answer(MADE)]))


def test_latex_marks_them() -> None:
    found, free = answer(MADE, BOUND), answer(MADE)
    assert r"$\star$$\approx$ & beb" in render_table("best", found)
    assert r"\approx" not in render_table("best", free) + render_report(DATA, [free], ["GC"])
    assert r"Agents marked $\approx$ may be on" in render_report(DATA, [found], ["GC"])


def test_the_map_is_pale_where_intervals_reach() -> None:
    def bands(question: Question) -> list[tuple[float, float]]:
        axes = best_algorithms_map(answer(MADE, question)).axes[0]
        drawn = [each for each in axes.collections if each.get_gid() == "intervals"]
        corners = [np.array(path.vertices) for each in drawn for path in each.get_paths()]
        return sorted((float(c[:, 0].min()), float(c[:, 0].max())) for c in corners)

    assert bands(BOUND)[1] == pytest.approx((9e-6 / 1.2, 9e-6 * 1.2))
    assert len(bands(BOUND)) == 4  # that of boss, which never wins, is at no border
    assert bands(Question(feature="mean")) == []


def test_the_page_marks_them(page: Page, tmp_path: Path) -> None:
    page.open(DATA)
    assert not page.one("#straddling").is_displayed()
    box = "return document.querySelector('#map .uncertain').getBBox()"
    width = "return document.querySelector('#map .frame').getBBox().width"
    assert 0 < page.run(f"{box}.width") <= page.run(width)
    assert page.run("return document.querySelector('#map .uncertain').getAttribute('d')").count(
        "M"
    ) == 4  # fmt: skip
    page.browser.get(f"{page.path.as_uri()}#online=0.00001")
    page.browser.refresh()
    page.wait()
    assert page.text("#straddling").endswith(" time of: beb (within), psrl (beyond).")
    shown = dict(
        zip(
            page.texts("#agents tbody .name"),
            page.texts("#agents tbody td:nth-last-child(2)"),
            strict=True,
        )
    )
    assert (shown["beb"], shown["psrl"], shown["boss"]) == ("yes ≈", "no ≈", "yes")
    assert page.texts("#best tbody td:last-child")[0] == "9 µs ≈"
    page.choose("feature", "mean per decision")
    assert not page.one("#straddling").is_displayed()
    assert "≈" not in page.text("#agents")
