"""Notes on results: of what is shown only, in one line, with the names of the results."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from brlbench.analysis.bayes_bound import BayesOptimalBound
from brlbench.analysis.bayes_bound.known import KnownBound
from brlbench.cli.answers import print_notes
from brlbench.report.answers import answer_all, notes_on
from brlbench.report.data import ReportData
from brlbench.report.loading import load
from brlbench.report.notes import Note, quality_notes
from brlbench.report.web.content import page_content
from helpers.made_results import experiment, summary, write_study


def made(name: str, *agents: str, **machine: Any) -> Any:
    summaries = [summary(agent, np.arange(40.0)) for agent in agents]
    return experiment(
        [replace(each, machine={"processor": "made up", **machine}) for each in summaries], name
    )


GC = made("GC", "beb", "psrl", waiting_share=0.5)
GRID = made("Grid", "beb", "boss", "random", "bfs3")


def test_only_what_is_shown_is_noted() -> None:
    data = ReportData([GC, GRID], [Note("failed: x on Grid", experiment="Grid"), Note("left out")])
    [grid] = answer_all(data, experiment="Grid")
    texts = [note.text for note in notes_on(data, [grid])]
    assert texts == ["failed: x on Grid", "left out", "Grid lacks 1 of 5 agents"]
    [gc] = answer_all(data, experiment="GC")
    first, overload, gap = notes_on(data, [gc])
    assert first.text == "left out"
    assert overload.text.startswith("the machine was overloaded during 2 of 2 results")
    assert overload.results == ["beb", "psrl"]
    assert (gap.text, gap.results) == ("GC lacks 3 of 5 agents", ["boss", "random", "bfs3"])
    assert len(data.notes) == 5


def test_results_of_several_experiments_are_named_with_theirs() -> None:
    overload, *_ = quality_notes([GC, GRID], [GC, GRID])
    assert overload.text.startswith("the machine was overloaded during 2 of 6 results")
    assert overload.results == ["beb on GC", "psrl on GC"]


def test_machines_are_named_with_a_result_of_each() -> None:
    other = made("Loop", "vdbe", processor="other")
    [note, *_] = quality_notes([GC, other], [GC, other])
    assert str(note).endswith("with care: made up (beb on GC), other (vdbe on Loop)")
    slow, quick = (made(n, "beb", calibration_microseconds=c) for n, c in (("a", 9.0), ("b", 3.0)))
    [note] = quality_notes([slow, quick], [slow, quick])
    assert "varied by a factor of 3.0" in note.text
    assert note.results == ["slowest during beb on a", "quickest during beb on b"]


def test_notes_are_one_line_unless_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    notes = [Note("lacks 3", ["a", "b", "c", "d"]), *(Note(f"note {i}") for i in range(5))]
    print_notes(notes, in_full=False)
    assert capsys.readouterr().err == (
        "note: lacks 3: a, …; note 0; note 1; and 3 more notes (--notes lists all)\n"
    )
    print_notes(notes, in_full=True)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "note: lacks 3: a, b, c, d"
    assert len(lines) == 6
    print_notes([Note("alone", ["a"])], in_full=False)
    assert capsys.readouterr().err == "note: alone: a\n"
    print_notes([], in_full=False)
    assert capsys.readouterr().err == ""


def test_gaps_ignore_deadlines(tmp_path: Path) -> None:
    limited = replace(GRID, name="quick", settings={**GRID.settings, "deadline": 0.005}, summaries=[
        replace(each, label=f"{each.label} within 5 ms", deadline=0.005) for each in GRID.summaries
    ])  # fmt: skip
    assert quality_notes([GRID, limited], [limited]) == []
    write_study(tmp_path, ("random", "beb"))
    assert load(tmp_path).notes == []


def test_scores_that_no_learner_can_have_are_noted() -> None:
    returns = np.random.default_rng(0).normal(50, 5, 400)
    learner, cheat = summary("psrl", returns), summary("m:Cheat", returns + 9)
    reference = replace(summary("m:Told", returns + 9), is_told=True)
    bound = BayesOptimalBound(50.5, 50.4, 0.1, 60.0, 3, 9, True)
    data = replace(
        experiment([learner, cheat, reference]),
        bounds=[KnownBound("GC", "GC", 0.95, 1, bound)],
    )
    note, *_ = quality_notes([data], [data])
    assert note.text.startswith("scores on GC are more than chance above 50.50, the bound that no")
    assert note.results == [f"m:Cheat ({cheat.score})"]
    assert data.competitors == [learner, cheat]
    [content] = page_content(ReportData([data], []))["experiments"]
    assert content["told"] == [2]
    few = replace(experiment([cheat.first(3)]), bounds=data.bounds)
    assert quality_notes([few], [few]) == []


def test_particles_that_have_collapsed_are_noted() -> None:
    """Only where particles stand for a prior: few hypotheses left of an exact set are knowledge."""
    few = replace(GC.summaries[0], quantities={"effective_hypotheses": 1.5})
    many = replace(GC.summaries[1], quantities={"effective_hypotheses": 80.0})
    exact = replace(GC, summaries=[few, many])
    assert not any("particles" in note.text for note in quality_notes([exact], [exact]))
    drawn = replace(exact, settings={**GC.settings, "particles": 1000})
    [note] = [each for each in quality_notes([drawn], [drawn]) if "particles" in each.text]
    assert note.results == ["beb (1.5)"]
    assert note.text.startswith("of the 1000 particles that stand for the prior of GC, fewer than")
