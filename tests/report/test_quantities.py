"""Measured numbers of agents reach the pages from one list in Python."""

import math
from dataclasses import replace

import numpy as np
import pytest

from brlbench.report.board import overview
from brlbench.report.board.aggregation import Aggregation
from brlbench.report.board.field import field_of
from brlbench.report.data import ReportData
from brlbench.report.quantities import QUANTITIES, Quantity, feature_texts
from brlbench.report.web import content
from helpers.made_boards import board_data
from helpers.made_results import experiment, summary
from helpers.page_browser import Page

LENGTH = Quantity(
    key="length",
    title="Length",
    hint="Length of the name",
    unit="letters",
    name="name_letters",
    value=lambda summary: None if summary.algorithm == "c" else len(summary.algorithm),
)
AGENTS = [summary(name, np.arange(40.0) + n) for n, name in enumerate(("a", "bbb", "c"))]


def test_texts_and_values() -> None:
    memory = replace(AGENTS[0], quantities={"peak_bytes": 3 * 2**20})
    assert [each.text(memory) for each in QUANTITIES] == ["1 ms", "1 µs", "3.0 MiB"]
    assert QUANTITIES[2].text(AGENTS[0]) == "\N{EN DASH}"
    assert LENGTH.text(AGENTS[1]) == "3"
    values = LENGTH.values(AGENTS)
    assert values[:2].tolist() == [1.0, 3.0] and math.isnan(values[2])
    assert feature_texts("my:own").title == "my:own"


def test_a_new_quantity_reaches_the_page(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(content, "QUANTITIES", (*QUANTITIES, LENGTH))
    page.open(ReportData([experiment(AGENTS)], []))
    column = page.texts("#agents th").index("Length") + 1
    page.one("#agents th[data-key=length] button").click()
    assert page.texts(f"#agents tbody td:nth-child({column})") == ["1", "3", "\N{EN DASH}"]


def test_a_new_quantity_reaches_the_leaderboard(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(overview, "QUANTITIES", (*QUANTITIES, LENGTH))
    field = field_of(board_data())
    aggregations = [Aggregation(field.contests, 20) for _ in range(2)]
    made = overview.overview_content(field, *aggregations)
    assert made["quantities"][-1]["title"] == "Length"
    rows = made["views"][0][0]["best"][0]
    lengths = {field.algorithms[row[0]]: row[4][-1] for row in rows}
    assert lengths["bamcp"] == 5
