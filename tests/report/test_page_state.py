"""The page's address, honest scores, paired differences and learning curves."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from brlbench.problems import distribution
from brlbench.report.answers import Question, answer, rows_on
from brlbench.report.data import ExperimentData, ReportData
from brlbench.report.loading import load
from brlbench.report.words import LIMIT, PAST, format_bound
from brlbench.results.score import Score
from brlbench.results.summary import Summary
from brlbench.storage import write_result
from helpers.made_results import experiment, result, settings, study, summary
from helpers.page_browser import FEATURES, Page, awkward
from helpers.processes import wait_for

STATE = """
const value = (id) => document.getElementById(id).value;
const boxes = [...document.querySelectorAll("#algorithms label")];
return {
  chosen: ["problem", "case", "feature", "level", "offline-text", "online-text"].map(value),
  asInPaper: document.getElementById("as-in-paper").checked,
  ticked: boxes.filter((box) => box.control.checked).map((box) => box.textContent),
  answer: document.getElementById("answer").textContent,
};
"""


def test_the_address_keeps_what_is_chosen(page: Page) -> None:
    made = [awkward(1, name="GC"), awkward(2, name="Grid")]
    told = {"test": "Grid", "test_digest": "Grid", "prior": "uniform:Grid"}
    made.append(replace(made[0], name="wrong", settings={**made[0].settings, **told}))
    page.open(ReportData(made, []))
    opened = page.run(STATE)
    page.choose("problem", "Grid")
    page.choose("case", "wrong: uniform:Grid")
    page.choose("feature", FEATURES["p95"])
    page.choose("level", "99%")
    page.one("#as-in-paper").click()
    page.tick("c")
    page.tick("optimal")
    page.type("offline", "1 s")
    page.type("online", "5 ms")
    changed = page.run(STATE)
    assert changed["chosen"] == ["Grid", "wrong: uniform:Grid", "p95", "4", "1 s", "5 ms"]
    wait_for(lambda: "online=0.005" in page.run("return location.hash"))
    page.browser.refresh()
    page.wait()
    assert page.run(STATE) == changed
    page.one("#none").click()
    wait_for(lambda: page.run("return location.hash").endswith("algorithm="))
    page.browser.refresh()
    page.wait()
    assert page.run(STATE)["ticked"] == []
    # A new address changes the page that is open; what it does not name is as at first.
    page.run("location.hash = ''")
    wait_for(lambda: page.run(STATE) == opened)


def test_a_nonsense_address_is_harmless(page: Page) -> None:
    page.open(study(4, 14, 40))
    opened = page.run(STATE)
    for nonsense in (
        "%E0%A4%A",
        "problem=__proto__&prior=x&level=2&feature=constructor&choice=yes&algorithm=zz",
        "offline=-1&online=soon&level=NaN",
        "&&&==%00",
    ):
        page.run("location.hash = 'choice=as-in-paper'")
        wait_for(lambda: page.run(STATE)["asInPaper"])
        page.run("location.hash = arguments[0]", nonsense)
        wait_for(lambda: page.run(STATE) == opened)


def test_scores_are_those_of_the_mdps_that_did_not_choose(page: Page) -> None:
    made = awkward(3)
    page.open(ReportData([made], []))
    rows = answer(made).rows
    shown = [text.split(" ± ") for text in page.texts("#best tbody td:nth-child(2)")]
    wanted = [(f"{row.score.mean:.2f}", f"{row.score.ci95:.2f}") for row in rows]
    assert [tuple(parts) for parts in shown] == wanted
    assert page.texts("#best tbody .name") == [row.summary.label for row in rows]
    assert "41 MDPs · scores of 31 of them" in page.text("#about")
    assert "Scores and Z are of 31 MDPs" in page.text("#best-note")
    assert "(31 MDPs)" in page.text("#online-plot text")
    labels, scores = page.texts("#agents tbody .name"), page.texts("#agents td:nth-child(2)")
    others = {each.label: Score.of(each.returns[10:]).mean for each in made.summaries}
    assert scores == [f"{others[label]:.2f}" for label in labels]
    normalised = dict(zip(labels, page.texts("#agents td:nth-child(5)"), strict=True))
    for label in ("random", "optimal"):
        assert normalised[label] == f"{made.normalised(others[label]):.3f}"
    page.one("#as-in-paper").click()
    assert "scores of" not in page.text("#about")


def test_differences_are_paired(page: Page) -> None:
    made = awkward(4)
    page.open(ReportData([made], []))
    for honest, tested in ((True, slice(10, None)), (False, slice(None))):
        first, *others = (row.summary.returns for row in answer(made, Question(honest=honest)).rows)
        shown = page.texts("#differences tbody tr:not(.axis) td:nth-child(2)")
        for text, returns in zip(shown, others, strict=True):
            mean, width = (float(part.replace("\N{MINUS SIGN}", "-")) for part in text.split(" ± "))
            assert (mean, width) == pytest.approx(Score.of((returns - first)[tested]), abs=0.006)
        page.one("#as-in-paper").click()


def played(tmp_path: Path) -> ExperimentData:
    """Results whose rewards are known; the experiment has 3 decisions."""
    rng = np.random.default_rng(0)
    settings = {"horizon": 3}
    for level, name in enumerate(("random", "beb", "optimal")):
        made = result(name, level + rng.random((40, 1, 3)))
        made = replace(made, settings={**made.settings, **settings})
        write_result(tmp_path / f"{name}.parquet", made)
    [data] = load(tmp_path, learning=True).experiments
    return data


def test_learning_curves_where_decisions_are_kept(page: Page, tmp_path: Path) -> None:
    data = played(tmp_path)
    for each in data.summaries:
        assert each.learning is not None
        assert each.learning.decisions.tolist() == [1, 2, 3]
        assert (each.learning.mean[-1], each.learning.ci95[-1]) == pytest.approx(each.unadjusted)
    page.open(ReportData([data], []))
    assert page.texts("#so-far-plot + .legend li") == ["beb", "random"]
    assert page.texts("#regret-plot + .legend li") == ["beb", "random"]
    # Lines end at the scores: the same places on the axis as the scores of the agents.
    heights = page.run("""
      return [...document.querySelectorAll("#so-far-plot .mean")].map((path) => {
        const end = path.getPointAtLength(path.getTotalLength()).y;
        const ticks = [...document.querySelectorAll("#so-far-plot .tick[text-anchor=end]")];
        const place = (tick) => [Number(tick.textContent), tick.y.baseVal[0].value - 4];
        const [a, b] = [ticks[0], ticks.at(-1)].map(place);
        return a[0] + (end - a[1]) * (b[0] - a[0]) / (b[1] - a[1]);
      });
    """)
    scores = {each.algorithm: each.unadjusted.mean for each in data.summaries}
    assert heights == pytest.approx([scores["random"], scores["beb"]], abs=0.05)
    some: list[Summary] = [
        replace(each, learning=None if each.algorithm == "random" else each.learning)
        for each in data.summaries
    ]
    page.open(ReportData([replace(data, summaries=some)], []))
    assert "not shown: random." in page.text("#learning-note")


def test_without_decisions_there_are_no_learning_curves(page: Page) -> None:
    page.open(ReportData([experiment([summary("beb", np.arange(40.0))])], []))
    assert page.text("#learning-note").startswith("There are none: they need results with single")
    assert not page.one("#so-far-plot").is_displayed()
    assert not page.one("#regret").is_displayed()


def test_the_bound_is_a_line_that_says_what_it_is(page: Page) -> None:
    gc = distribution("GC").digest
    luck = np.random.default_rng(0).normal(0, 3, 40)
    scores = {"beb": 42.0, "random": 31.0, "optimal": 73.0}
    made = experiment([summary(name, luck + at) for name, at in scores.items()])
    known = replace(made, settings={**made.settings, "test_digest": gc})
    page.open(ReportData([known], []))
    assert known.upper_bound is not None
    text = format_bound(known.upper_bound)
    assert page.text("#about").endswith(f"{PAST} {text} (one-sided 95% limit)")
    assert page.texts("#best tfoot td")[:2] == [f"{PAST}{LIMIT}", text]
    assert page.text("#scale-note").endswith("0 is “random” and 1 is the bound.")
    assert "the upper end of a one-sided 95% interval" in page.text("#bound-note")
    for plot in ("offline", "online"):
        assert f"{PAST} {text} (95% limit)" in page.text(f"#{plot}-plot")
        assert "optimal, far above: " in page.text(f"#{plot}-plot")
    normalised = dict(zip(page.texts("#agents tbody .name"),
                          page.texts("#agents tbody td:nth-child(5)"), strict=True))  # fmt: skip
    [beb] = rows_on(known, known.summaries[:1], 10)
    assert normalised["beb"] == f"{beb.normalised:.3f}"
    page.open(ReportData([made], []))
    assert "can pass" not in page.text("#about") + page.text("#best") + page.text("#online-plot")
    assert not page.one("#bound-note").is_displayed()
    assert page.text("#scale-note").endswith("1 is “optimal”.")


def test_the_bound_of_learning_curves(page: Page) -> None:
    gc = {**settings("GC", 40), "test_digest": distribution("GC").digest}
    rewards = np.random.default_rng(0).random((40, 1, 30))
    played = [result("beb", rewards + 2, settings=gc), result("optimal", rewards + 5, settings=gc)]
    data = load(*played, learning=True)
    page.open(data)
    bound = data.experiments[0].upper_bound
    assert bound is not None
    assert f"{PAST} {format_bound(bound)} (95% limit)" in page.text("#so-far-plot")
    least = played[1].mean - bound
    assert f"no agent that has to learn ends below {least:.2f}" in page.text("#regret-plot")
