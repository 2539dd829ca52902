"""Measured numbers of agents reach the pages from one list in Python."""

import math
from dataclasses import replace

import numpy as np
import pytest

from brlbench.report.board import overview
from brlbench.report.board.aggregation import Aggregation
from brlbench.report.board.field import field_of
from brlbench.report.data import ReportData
from brlbench.report.quantities import COSTS, QUANTITIES, number_of, numbers_of
from brlbench.report.web import content
from brlbench.report.words import feature_texts
from brlbench.results.display import format_number
from brlbench.results.schema import Axis, Quantity
from helpers.made_boards import board_data
from helpers.made_results import experiment, summary
from helpers.page_browser import Page

LENGTH = Quantity(
    "name_letters",
    int,
    Axis.AGENT,
    "letters",
    title="length",
    hint="length of the name",
)
AGENTS = [
    replace(summary(name, np.arange(40.0) + n), quantities={"name_letters": length})
    for n, (name, length) in enumerate({"a": 1, "bbb": 3, "c": None}.items())
]


def test_texts_and_values() -> None:
    agent = replace(AGENTS[1], quantities={"peak_bytes": 3 * 2**20, "name_letters": 3})
    numbers = [(each, number_of(each, agent)) for each in (*QUANTITIES, LENGTH)]
    texts = [format_number(each, number) for each, number in numbers]
    assert texts == ["1 ms", "1 µs", "3.0 MiB", "\N{EN DASH}", "3"]
    assert number_of(QUANTITIES[2], AGENTS[0]) is None
    values = numbers_of(LENGTH, AGENTS)
    assert values[:2].tolist() == [1.0, 3.0] and math.isnan(values[2])
    assert feature_texts("my:own").title == "my:own"


def test_a_new_quantity_reaches_the_page(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(content, "QUANTITIES", (*QUANTITIES, LENGTH))
    page.open(ReportData([experiment(AGENTS)], []))
    column = page.texts("#agents th").index("Length") + 1
    page.one("#agents th[data-key=length] button").click()
    assert page.texts(f"#agents tbody td:nth-child({column})") == ["1", "3", "\N{EN DASH}"]


def test_a_new_quantity_reaches_the_leaderboard(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(overview, "COSTS", (*COSTS, LENGTH))
    data = board_data()
    named = [
        replace(
            each,
            summaries=[
                replace(one, quantities={"name_letters": len(one.algorithm)})
                for one in each.summaries
            ],
        )
        for each in data.experiments
    ]
    field = field_of(replace(data, experiments=named))
    aggregations = [Aggregation(field.contests, 20) for _ in range(2)]
    made = overview.overview_content(field, *aggregations)
    assert made["quantities"][-1]["title"] == "Length"
    rows = made["views"][0][0]["best"][0]
    lengths = {field.algorithms[row[0]]: row[4][-1] for row in rows}
    assert lengths["bamcp"] == 5
