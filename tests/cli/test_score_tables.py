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
from brlbench.agents.parameters import declarations
from brlbench.arguments import format_seconds
from brlbench.beliefs.flat.single import SingleMDP
from brlbench.cli.listings import parameter_table, problem_table
from brlbench.cli.tables import best_table, everyone_table, score_table
from brlbench.problems import PROBLEMS, distribution
from brlbench.protocol.evaluate import evaluate
from brlbench.protocol.experiment import Experiment
from brlbench.report.answers import answer
from brlbench.report.data import ReportData
from brlbench.report.loading import load
from brlbench.results.summary import summarise
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
        assert all(
            summary.parameters.keys() >= {"simulations", "depth"}
            for summary in each.summaries
            if summary.algorithm == "bfs3"
        )


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
    made = [
        summary("mine:Agent", np.arange(40.0) + 1),
        summary("beb", np.arange(40.0), beta=2.0),
        summary("beb", np.arange(40.0) - 1),
    ]
    found = answer(experiment(made))
    assert "★◆ mine:Agent" in printed(best_table(found))
    assert "  beb(beta=2.0)" in printed(best_table(found))
    lines = printed(everyone_table(found)).splitlines()
    assert [line.split()[0] for line in lines[5:8]] == ["★◆", "beb(beta=2.0)", "beb"]
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
        for parameter, rule in declarations(agent).items():
            assert all(part in text for part in (parameter, rule.meaning, rule.kind.allowed))
