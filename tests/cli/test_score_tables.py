import io
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from brlbench.agents import AGENTS, make_agent
from brlbench.agents.parameters import rules
from brlbench.analysis.times import summarise
from brlbench.arguments import format_seconds
from brlbench.cli.bars import files_bar, playing_bar, study_bar, trajectories_bar
from brlbench.cli.listings import parameter_table, problem_table
from brlbench.cli.tables import best_table, everyone_table, score_table
from brlbench.mdps.single import SingleMDP
from brlbench.problems import PROBLEMS, distribution
from brlbench.protocol.evaluate import evaluate
from brlbench.protocol.experiment import Experiment
from brlbench.report.answers import answer
from brlbench.report.data import ReportData
from brlbench.report.loading import load
from brlbench.study.run import Progress
from brlbench.study.tally import Running
from helpers.made_results import experiment, summary


def printed(content: Any, width: int = 300) -> str:
    buffer = io.StringIO()
    Console(file=buffer, width=width).print(content)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (1e-10, "0 s"),
        (1e-9, "1 ns"),
        (1.234e-8, "12.3 ns"),
        (9.99e-7, "999 ns"),
        (9.999e-7, "1 µs"),
        (1e-6, "1 µs"),
        (4.567e-6, "4.57 µs"),
        (9.996e-4, "1 ms"),
        (0.001, "1 ms"),
        (0.0425, "42.5 ms"),
        (0.9994, "999 ms"),
        (0.9996, "1 s"),
        (1, "1 s"),
        (59.9, "59.9 s"),
        (90, "1.5 min"),
        (3599, "1 h"),
        (4 * 3600, "4 h"),
        (100 * 3600, "100 h"),
        (math.nan, "0 s"),
    ],
)
def test_times(seconds: float, text: str) -> None:
    assert format_seconds(seconds) == text


@pytest.mark.parametrize("exponent", range(-90, 50))
def test_times_have_three_digits_at_most_and_are_right(exponent: int) -> None:
    seconds = 1.2589**exponent
    number, unit = format_seconds(seconds).split()
    size = {"h": 3600, "min": 60, "s": 1, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9}[unit]
    assert float(number) * size == pytest.approx(seconds, rel=0.005)
    assert "e" not in number


def test_scores_are_sorted_with_the_best_first() -> None:
    experiment = Experiment("GC", "GC", num_mdps=5, horizon=20)
    agents = [make_agent("random"), make_agent("optimal"), make_agent("beb", beta=2)]
    results = [evaluate(agent, experiment) for agent in agents]
    text = printed(score_table("GC", [summarise(result) for result in results]))
    assert "GC, 5 MDPs" in text
    order = sorted(results, key=lambda result: -result.mean)
    places = [text.index(result.label) for result in order]
    assert places == sorted(places)
    for result in results:
        assert f"{result.mean:.2f} ± {result.ci95:.2f}" in text


@pytest.fixture(scope="module")
def shipped() -> ReportData:
    """The results of the reproduction, whose stored labels show all parameters."""
    return load(Path(__file__).parents[2] / "reproduction" / "results.parquet")


def test_names_of_shipped_results_are_short_and_differ(shipped: ReportData) -> None:
    for each in shipped.experiments:
        labels = [summary.label for summary in each.summaries]
        assert len(set(labels)) == len(labels)
        for default in ("ties=first", "bonus=pair", "batch=1)", "skip_complete", "depth=15"):
            assert not any(default in label for label in labels)
        assert all(summary.parameters.keys() >= {"simulations", "depth"}
                   for summary in each.summaries if summary.algorithm == "bfs3")  # fmt: skip


@pytest.mark.parametrize("name", ["GC", "Grid from uniform:Grid"])
def test_at_80_columns_no_word_is_broken(shipped: ReportData, name: str) -> None:
    [played] = [each for each in shipped.experiments if each.name == name]
    found = answer(replace(played, summaries=played.summaries[::3]))
    for made in (best_table(found), everyone_table(found)):
        lines = printed(made, 80).splitlines()
        assert max(map(len, lines)) <= 80
        assert "…" not in "".join(lines)
        head = next(i for i, line in enumerate(lines) if made.names in line)
        column = lines[head].index(made.names)
        parts = [
            re.sub(r" +\(?-?[\d.]+ ± .*", "", line[column:]).rstrip() for line in lines[head + 2 :]
        ]
        rest = "\n".join(parts)
        for _, agent, _ in made.rows:  # breaks stand for spaces, or follow a sign
            pattern = re.escape(agent).replace(r"\ ", r"\s")
            pattern = re.sub(r"(\\\(|=|/|\\\+)", r"\1\\n?", pattern)
            shown = re.match(r"\s*" + pattern, rest)
            assert shown, (agent, rest[:100])
            rest = rest[shown.end() :]


def test_narrow_tables_leave_out_columns_before_they_break_words() -> None:
    names = ("SomeAgentWithAVeryLongClassNameIndeed", "beb")
    found = answer(experiment([summary(name, np.arange(40.0)) for name in names]))
    wide, narrow = printed(best_table(found), 95), printed(best_table(found), 78)
    assert "stable" in wide
    assert "stable" not in narrow
    assert names[0] in narrow
    assert max(map(len, narrow.splitlines())) <= 78


def test_own_agents_are_marked() -> None:
    made = [summary("mine:Agent", np.arange(40.0) + 1), summary("beb", np.arange(40.0), beta=2.0),
            summary("beb", np.arange(40.0) - 1)]  # fmt: skip
    found = answer(experiment(made))
    assert "★◆ mine:Agent" in printed(best_table(found))
    assert "  beb(beta=2.0)" in printed(best_table(found))
    lines = printed(everyone_table(found)).splitlines()
    assert [line.split()[0] for line in lines[4:7]] == ["★◆", "beb(beta=2.0)", "beb"]
    assert found.table["own"].to_list() == [True, False]
    assert found.everyone["own"].to_list() == [True, False, False]
    assert found.everyone["best_of_algorithm"].to_list() == [True, True, False]


def test_the_table_of_problems() -> None:
    text = printed(problem_table())
    for name in PROBLEMS:
        (line,) = [line for line in text.splitlines() if f"│ {name} " in line]
        assert f" {distribution(name).num_states} " in line
        assert distribution(name).description in line
        assert (" one " in line) == isinstance(distribution(name), SingleMDP)
    assert all(
        part in text
        for part in ("uniform:", "mixed:0.25:", "scaled:10:", "around:20:", "gym:", "successors=3")
    )


def test_the_tables_of_parameters() -> None:
    for name, agent in AGENTS.items():
        text = printed(parameter_table(name))
        for parameter, rule in rules(agent).items():
            assert all(part in text for part in (parameter, rule.meaning, rule.allowed))


def test_progress_ends_at_the_total() -> None:
    buffer = io.StringIO()
    console = Console(file=buffer, width=120, force_terminal=True, color_system=None)
    with trajectories_bar(console, 10) as advance:
        advance(description="beb on GC")
        for _ in range(5):
            advance(2)
    text = buffer.getvalue()
    assert "beb on GC" in text
    assert "10/10 trajectories, left: 0:00:00" in text


@pytest.mark.parametrize("is_terminal", [True, False])
def test_the_bar_of_files_names_the_next(is_terminal: bool) -> None:
    buffer = io.StringIO()
    console = Console(file=buffer, width=120, force_terminal=is_terminal, color_system=None)
    with files_bar(console) as show:
        show("figures/[GC]-map.pdf", 3, 10)
    assert ("figures/[GC]-map.pdf" in buffer.getvalue()) == is_terminal
    assert ("3/10" in buffer.getvalue()) == is_terminal


def test_the_bar_of_a_study_says_what_is_running_and_left() -> None:
    buffer = io.StringIO()
    console = Console(file=buffer, width=120, force_terminal=True, color_system=None)
    with study_bar(console, 10) as show:
        show(Progress(10, 3, 1, 50, 90.0, [Running("beb on [GC]")], stopping=False))
    with study_bar(console, 10) as show:
        show(Progress(10, 3, 1, 50, None, [Running("beb on [GC]")], stopping=True))
    text = buffer.getvalue()
    assert "beb on [GC]" in text
    assert "4/10 jobs, left: 1.5 min" in text
    assert "stopping; Ctrl-C again stops at once" in text
    assert "left: ?" in text


def test_bars_show_the_score_so_far() -> None:
    buffer = io.StringIO()
    console = Console(file=buffer, width=150, force_terminal=True, color_system=None)
    running = [Running("training psrl on GC"), Running("beb on GC", 38.25, 1.5, 40)]
    with study_bar(console, 10) as show:
        show(Progress(10, 3, 1, 50, 90.0, running, stopping=False))
    assert "38.25 ± 1.50 in 40 MDPs: beb on GC" in buffer.getvalue()
    with playing_bar(console, 60) as show:
        show(Progress(1, 0, 0, 20, 90.0, running[1:], stopping=False))
    assert "38.25 ± 1.50 in 40 MDPs" in buffer.getvalue()
    assert "40/60 trajectories" in buffer.getvalue()
