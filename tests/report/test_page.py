import math
import re
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from brlbench.analysis.bounds import Comparison
from brlbench.analysis.significance import student_limits, z_against
from brlbench.errors import InvalidInput, StoreError
from brlbench.report.data import ReportData
from brlbench.report.notes import Note
from brlbench.report.page import write_page
from brlbench.report.web.content import LEVELS, z_steps
from brlbench.results.summary import Summary
from helpers.made_results import experiment, study, summary
from helpers.page_browser import FEATURES, Page, awkward, expected, seconds


@pytest.mark.parametrize(
    ("feature", "hidden"),
    [
        pytest.param("processor", "ab", marks=pytest.mark.exhaustive),
        ("median", "bcdef"),
        pytest.param("total", "", marks=pytest.mark.exhaustive),
        ("own:feature", "c"),
    ],
)
def test_winners_are_those_of_python(page: Page, feature: str, hidden: str) -> None:
    seed = sum(map(ord, feature))
    rng = np.random.default_rng(seed)
    made = awkward(seed)
    page.open(ReportData([made], []))
    page.choose("feature", FEATURES[feature])
    for algorithm in hidden:
        page.tick(algorithm)
    summaries = [e for e in made.summaries if e.algorithm not in {*hidden, "optimal"}]
    times = {e.seconds["offline"] for e in summaries}, {e.seconds[feature] for e in summaries}
    sizes = set()
    for honest in (True, False):
        for level in LEVELS[::3]:
            page.choose("level", f"{100 * level:g}%")
            for shown in page.slide(rng.uniform(0, 1050, (8, 2))):
                winners, algorithms, best = expected(
                    summaries, shown["bounds"], feature, level, honest
                )
                assert set(shown["winners"]) == winners, shown
                assert set(shown["algorithms"]) == algorithms
                assert shown["best"] == best
                sizes.add(len(winners))
                for bound, known in zip(shown["bounds"], times, strict=True):
                    assert seconds(bound) in {*known, math.inf}
        page.one("#as-in-paper").click()
    assert hidden == "bcdef" or len(sizes) > 2


def test_map_is_exact_and_a_click_sets_the_bounds(page: Page) -> None:
    made = awkward(5, num_mdps=401)
    page.open(ReportData([made], []))
    summaries = made.competitors
    offline = {e.seconds["offline"] for e in summaries}
    rng = np.random.default_rng(0)
    painted = []
    for _ in range(20):
        painted.append(page.click_map(rng.uniform(0.12, 0.97), rng.uniform(0.04, 0.85)))
        bounds = page.bounds()
        assert bounds[0] in {*offline, math.inf}
        _, algorithms, _ = expected(summaries, [str(b) for b in bounds], "processor", 0.95, True)
        # Before the first time, nothing is painted, and the click takes the first time.
        none = page.texts("#tip strong") == ["no agent"]
        named = set() if none or not painted[-1] else algorithms  # many winners are one group
        assert set(painted[-1]) == named
        assert none or painted[-1] or page.text("#legend .now").startswith("several")
        assert set(page.texts("#answer strong")) == algorithms
    assert sum(map(bool, painted)) > 5
    assert len({tuple(sorted(names)) for names in painted}) > 3


def test_rounded_tests_are_on_the_same_side_of_every_limit() -> None:
    rng = np.random.default_rng(0)
    returns = rng.normal(size=(300, 20)) + rng.normal(size=(300, 1)) / 4
    agents = [summary(f"{i}", row) for i, row in enumerate(returns)]
    steps, numbers = z_steps(Comparison(agents, honest=False), range(len(agents)))
    assert set(numbers) == {20}
    z = np.concatenate([z_against(row, returns[i + 1 :]) for i, row in enumerate(returns)])
    assert np.abs(steps / 1000 - z).max() <= 0.001
    near = 0
    for level in LEVELS:
        limit = float(student_limits(level, 20))
        assert np.array_equal(steps / 1000 < limit, z < limit)
        near += int(((z >= limit) & (np.floor(1000 * z) < 1000 * limit)).sum())
    assert near > 0


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
        wanted = expected(made.competitors, [str(b) for b in bounds], "processor", 0.95, True)
        assert set(page.texts("#agents tr.winner .name")) == wanted[0]
    page.type("offline", "1 s")
    page.type("online", "5 ms")
    assert page.text("#answer").startswith("Within 1 s offline and 5 ms per decision: ")
    page.type("online", "soon")
    assert page.bounds() == (1.0, 0.005)
    assert page.run("return document.querySelector('#online-text').validity.customError")


def test_experiments_and_cases(page: Page) -> None:
    made = [awkward(seed, name=name) for seed, name in enumerate(("GC", "Grid"))]
    for seed, problem in enumerate(("GC", "Grid")):
        other = awkward(10 + seed, 20, f"{problem} from uniform:{problem}")
        told = {"test": problem, "test_digest": problem, "prior": f"uniform:{problem}"}
        made.append(replace(other, settings={**other.settings, **told}))
    made[3] = replace(made[3], summaries=[e for e in made[3].summaries if e.algorithm != "a"])
    page.open(ReportData(made, [Note("a note")]))
    assert page.text("#notes") == "a note"
    page.choose("problem", "Grid")
    assert page.text("#about").startswith("Grid · 41 MDPs")
    page.choose("case", "wrong: uniform:Grid")
    assert page.text("#about").startswith("Grid from uniform:Grid · 20 MDPs")
    assert "only 15 MDPs test agents" in page.text("#notes")
    assert "Grid from uniform:Grid lacks 10 of 62 agents" in page.text("#notes")
    disabled = "return document.querySelector('#algorithms input').disabled"
    assert page.run(disabled)
    shown = page.slide([[600, 700]])[0]
    wanted = expected(made[3].competitors, shown["bounds"], "processor", 0.95, True)
    assert set(shown["winners"]) == wanted[0]
    page.choose("problem", "GC")
    assert page.text("#about").startswith("GC from uniform:GC · 20 MDPs")
    assert not page.run(disabled)
    page.choose("case", "accurate")
    assert page.text("#notes") == "a note"
    page.choose("problem", "Grid")
    page.choose("case", "wrong: uniform:Grid")
    page.one("#as-in-paper").click()
    assert "only" not in page.text("#notes")


def test_optimal_is_a_reference_unless_ticked(page: Page) -> None:
    made = study(3, 30, 50)
    page.open(made)
    assert "optimal" not in page.texts("#answer strong")
    assert page.texts("#agents tr.reference .name") == ["optimal"]
    assert "optimal" in page.text("#online-plot")
    assert "knows the MDP" in page.one("#reference-note").text
    page.tick("optimal")
    assert page.texts("#answer strong") == ["optimal"]
    assert not page.one("#reference-note").is_displayed()


def test_little_data(page: Page) -> None:
    rng = np.random.default_rng(0)
    one = summary("beb", rng.normal(size=40))
    optimal = summary("optimal", rng.normal(size=40))
    page.open(ReportData([experiment([one])], []))
    assert page.text("#answer") == "Without time bounds: beb is the only algorithm."
    cases: list[tuple[list[Summary], str]] = [
        ([optimal], "Without time bounds: no agent."),
        ([summary("beb", np.ones(1))], "Without time bounds: beb is the only algorithm."),
        (
            [summary("a", np.ones(1), 0.0, 0.0), summary("b", np.zeros(1), 0.0, 0.0)],
            "Without time bounds: a and b are best (not significantly different at 95%).",
        ),
        (
            [summary("a", np.ones(3)), summary("b", np.zeros(3))],
            "Without time bounds: a is best: all others are significantly worse at 95%.",
        ),
    ]
    made = [experiment(summaries, str(number)) for number, (summaries, _) in enumerate(cases)]
    page.open(ReportData(made, []))
    for number, (_, answer) in enumerate(cases):
        page.choose("problem", str(number))
        assert page.text("#answer") == answer
        page.one("#as-in-paper").click()
        page.slide([[0, 0], [1000, 1000]])
        page.one("#as-in-paper").click()
        assert page.texts("#agents thead th") == [
            "Agent", "Score", "± 95%", "Z", "Offline", "Online", "In bounds", "Winner",
        ]  # fmt: skip


def test_a_page_of_many_agents_is_small_and_can_be_used(page: Page) -> None:
    data = [study(i, 400, 500, name).experiments[0] for i, name in enumerate(("GC", "Grid"))]
    page.open(ReportData(data, []))
    moves, changes = page.run("""
      const moved = (node, value, type) => {
        node.value = value;
        node.dispatchEvent(new Event(type, { bubbles: true }));
        return document.querySelectorAll("#agents tbody .name").length;
      };
      const slider = document.querySelector("#online input[type=range]");
      const problem = document.getElementById("problem");
      return [
        [0, 250, 500, 750, 1000].map((value) => moved(slider, value, "input")),
        [...problem.options].map(({ value }) => moved(problem, value, "change")),
      ];
    """)
    assert min(moves) >= 0 and moves[-1] == 400
    assert changes == [400] * 2
    assert page.path.stat().st_size < 1.7e6


def test_file_needs_no_network(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    write_page(study(6, 20, 40), path)
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"https?:|@import|\burl\((?!#)|\b(src|href)=", text)
    assert "default-src 'none'" in unescape(text)
    for template in filter(lambda file: file.is_file(), files("brlbench.report.page").iterdir()):
        assert not re.search(r"https?:|fetch\(|//[a-z]+\.", template.read_text(encoding="utf-8"))


def test_refusals(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    with pytest.raises(InvalidInput, match="no results"):
        write_page(ReportData([], []), path)
    write_page(study(6, 20, 40), path)
    with pytest.raises(StoreError, match="exists already"):
        write_page(study(6, 20, 40), path)


class Counted(list[Summary]):
    """Counts how often all of its summaries are looked at."""

    looks = 0

    def __iter__(self) -> Iterator[Summary]:
        self.looks += 1
        return super().__iter__()


def test_agents_are_not_searched_for_every_agent(tmp_path: Path) -> None:
    [made] = study(0, num_agents=60, num_mdps=40).experiments
    summaries = Counted(made.summaries)
    write_page(ReportData([replace(made, summaries=summaries)], []), tmp_path / "page.html")
    assert 0 < summaries.looks < 60
