"""What no agent that has to learn can pass, wherever scores are shown."""

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from rich.console import Console

import brlbench as bb
from brlbench.analysis.bayes_bound import BayesOptimalBound
from brlbench.analysis.bayes_bound.known import KnownBound, known_bound, read_bound, write_bound
from brlbench.beliefs.flat import FlatDirichlet
from brlbench.cli.answers import _legend
from brlbench.cli.tables import best_table, everyone_table, score_table
from brlbench.errors import InvalidInput, StoreError
from brlbench.report.answers import Question, answer
from brlbench.report.board.aggregation import Aggregation
from brlbench.report.board.field import field_of
from brlbench.report.board.positions import positions_in
from brlbench.report.data import ExperimentData, ReportData
from brlbench.report.export import agents_json, answers_json, csv_of
from brlbench.report.figures import score_against_online_time
from brlbench.report.latex import render_report, render_table
from brlbench.report.loading import load
from brlbench.report.tables import agents_table
from brlbench.report.tables import best_table as best_exported
from brlbench.report.tables import everyone_table as everyone_exported
from brlbench.report.web.content import page_content
from brlbench.report.words import ABOVE, LIMIT, PAST, format_bound, scale_sentence
from helpers.made_results import experiment, result, settings, summary

GC = bb.distribution("GC")
SHIPPED = known_bound({"test_digest": GC.digest, "discount": 0.95, "horizon": 250})
FOUND = BayesOptimalBound(
    upper=19.004, estimate=18.5, standard_error=0.3, clairvoyant=25.0, depth=3, beliefs=40,
    is_complete=False,
)  # fmt: skip
MINE = KnownBound("mine", "my digest", 0.95, 1, FOUND)


def made(bounds: list[KnownBound], *without: str) -> ExperimentData:
    """An experiment of my own distribution: beb at 15, random at 11, optimal at 25."""
    luck = np.random.default_rng(0).normal(10, 3, 40)
    luck -= luck.mean()
    scores = {"beb": 15.0, "random": 11.0, "optimal": 25.0}
    played = [summary(name, luck + at) for name, at in scores.items() if name not in without]
    data = experiment(played, "mine")
    return replace(data, bounds=bounds, settings={**data.settings, "test_digest": "my digest"})


def test_scores_are_normalised_by_the_bound() -> None:
    for data, top in (
        (made([MINE]), 19.004),
        (made([MINE], "optimal"), 19.004),
        (made([]), 25.0),
    ):
        assert data.normalised(top) == pytest.approx(1)
        assert data.normalised(15.0) == pytest.approx(4 / (top - 11))
        for honest in (False, True):
            rows = {row.summary.label: row for row in answer(data, Question(honest=honest)).rows}
            expected = (rows["beb"].score.mean - 11) / (top - 11)  # the same scale for all MDPs
            assert rows["beb"].normalised == pytest.approx(expected)
    assert made([MINE], "random").normalised(15.0) is None
    assert made([], "optimal").normalised(15.0) is None


def test_zero_is_what_random_actions_are_worth_where_that_is_shipped() -> None:
    """Not what `random` got on the drawn MDPs, which is 11."""
    data = made([])
    for name, exact in (("GC", 31.640), ("GDL", 2.7532), ("Grid", 0.2031)):
        digest = {"test_digest": bb.distribution(name).digest}
        for origin in ("drawn", f"{name}/accurate/v1", f"{name}/inaccurate/v1"):
            shipped = {**data.settings, **digest, "origin": origin}
            for played in (data, made([], "random")):
                scale = replace(played, settings=shipped).scale
                assert scale is not None and scale.random == pytest.approx(exact, abs=5e-4)
        for changes in ({"origin": None}, {"horizon": 20}):  # MDPs of a user, another score
            scale = replace(data, settings={**shipped, **changes}).scale
            assert scale is not None and scale.random == pytest.approx(11)
            assert replace(made([], "random"), settings={**shipped, **changes}).scale is None


def test_returns_are_normalised_as_scores_are() -> None:
    data = made([MINE])
    for each in data.summaries:
        returns = data.normalised_returns(each)
        assert returns is not None and returns.std() > 0
        assert returns.mean() == pytest.approx(data.normalised(each.returns.mean()), abs=1e-12)
    beb = data.summaries[0]
    assert made([MINE], "random").normalised_returns(beb) is None
    assert made([], "optimal").normalised_returns(beb) is None
    below = FOUND._replace(upper=10.0)  # what random has more than
    assert made([MINE._replace(bound=below)]).normalised_returns(beb) is None


def test_a_score_above_the_bound_is_marked_wherever_it_is_shown() -> None:
    """Of three agents, one is above, and one above knows the MDP."""
    data = made([MINE])
    beb, others = data.summaries[0], list(data.summaries[1:])
    data = replace(data, summaries=[replace(beb, returns=beb.returns + 9), *others])
    one = answer(data, Question())
    buffer = io.StringIO()
    console = Console(file=buffer, width=300)
    for table in (
        score_table("mine", data.summaries, 19.004),
        best_table(one),
        everyone_table(one),
    ):
        console.print(table)
    assert buffer.getvalue().count(ABOVE) == 3 * 2  # the agent's and the meaning
    assert one._repr_html_().count(ABOVE) == 2
    for exported in (agents_table, best_exported, everyone_exported):
        marked = exported([one]).filter(pl.col("above_bound"))["agent"].to_list()
        assert marked == ["beb"]
    rows = json.loads(agents_json(ReportData([data], []), [one]))["experiments"][0]["agents"]
    assert [row["above_bound"] for row in rows] == [True, False, False]
    for kind in ("best", "agents"):
        assert render_table(kind, one).count(r"$\triangle$") == 1
    assert page_content(ReportData([data], []))["experiments"][0]["above"] == [0]
    board = field_of(ReportData([data], []))
    [contest] = board.contests
    placed = positions_in(board, Aggregation(board.contests, 10), contest)
    assert [ABOVE in str(each.cells) for each in placed] == [True, False, False]
    assert ABOVE not in str(score_table("mine", data.summaries, 25.0).rows)


def test_what_a_bound_holds_for() -> None:
    played = {"test_digest": "my digest", "discount": 0.95, "horizon": 250}
    assert MINE.holds_for(played)
    assert not MINE.holds_for({**played, "discount": 0.9})
    assert not MINE.holds_for({**played, "test_digest": "another"})
    long = MINE._replace(horizon=300)
    assert not long.holds_for(played)
    assert long.holds_for({**played, "horizon": 300})
    assert not MINE.holds_for({})
    assert known_bound(played) is None
    assert known_bound(played, [MINE, long]) == FOUND


def test_the_largest_search_counts_not_the_lowest_bound() -> None:
    assert SHIPPED is not None
    played = {"test_digest": GC.digest, "discount": 0.95, "horizon": 250}
    small = MINE._replace(test_digest=GC.digest)
    large = small._replace(bound=FOUND._replace(upper=60.0, beliefs=10**9))
    assert known_bound(played, [small]) == SHIPPED
    assert known_bound(played, [small, large]) == large.bound


def test_files_hold_bounds(tmp_path: Path) -> None:
    path = tmp_path / "mine.bound.json"
    write_bound(path, GC, 0.9, FOUND, horizon=20)
    assert read_bound(path) == KnownBound("GC", GC.digest, 0.9, 1, FOUND)
    with pytest.raises(StoreError, match="exists already"):
        write_bound(path, GC, 0.9, FOUND)
    punishing = FlatDirichlet(np.ones((2, 2, 2)), [0, -1])
    with pytest.raises(InvalidInput, match="has negative rewards"):
        write_bound(path, punishing, 0.9, FOUND, overwrite=True)
    write_bound(path, punishing, 0.9, FOUND, horizon=20, overwrite=True)
    assert read_bound(path).horizon == 20
    with pytest.raises(InvalidInput, match=r"must end with \.bound\.json"):
        write_bound(tmp_path / "mine.json", GC, 0.9, FOUND)


@pytest.mark.parametrize(
    "damage",
    [b"", b"[]", b"{}", b'{"kind": "agent", "format": 1}', b'{"kind": "bound", "format": 1}'],
)
def test_damaged_files_are_left_out_with_a_note(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "mine.bound.json"
    path.write_bytes(damage)
    with pytest.raises(StoreError):
        read_bound(path)
    data = load(tmp_path, result("beb", np.ones((40, 1, 5))))
    assert data.experiments[0].upper_bound is None
    assert any(str(path) in note for note in data.notes)


def test_reports_find_bounds_below_folders_and_as_files(tmp_path: Path) -> None:
    own = {**settings("mine", 40), "test_digest": GC.digest, "discount": 0.9}
    played = [result(name, np.ones((40, 1, 5)), "mine", settings=own) for name in ("beb", "random")]
    below = tmp_path / "results" / "bounds"
    below.mkdir(parents=True)
    write_bound(below / "gc.bound.json", GC, 0.9, FOUND)
    for place in (tmp_path, below / "gc.bound.json"):
        assert bb.compare([*played, place]).experiment.upper_bound == FOUND.upper
        (line,) = dotted(bb.plot_learning([*played, below / "gc.bound.json"]).axes[0])
        assert set(line.get_ydata()) == {FOUND.upper}
    assert bb.compare(played).experiment.upper_bound is None
    assert not dotted(bb.plot_learning(played).axes[0])


def test_tables_of_the_terminal_end_with_the_bound() -> None:
    found, without = answer(made([MINE])), answer(made([]))
    for table in (best_table, everyone_table):
        assert " ".join(printed(table(found)).split()).endswith(f"{PAST} 19.01 ({LIMIT})")
        assert "can pass" not in printed(table(without))
    agents = score_table("mine", found.experiment.summaries, 19.004)
    assert " ".join(printed(agents).split()).endswith(f"{PAST} 19.01 ({LIMIT})")
    assert f"norm.: 0 is random, 1 is the bound that {PAST}. " in _legend([found], True)
    assert "1 is optimal, which knows the MDP. " in _legend([without], False)
    both = scale_sentence([found.experiment, without.experiment])
    assert both.endswith(f"the bound that {PAST}, or where none is known optimal, which "
                         "knows the MDP")  # fmt: skip


def test_exports_have_the_bound() -> None:
    data = made([MINE])
    answers = [answer(data)]
    for table in (agents_table, best_exported, everyone_exported):
        assert set(pl.read_csv(io.BytesIO(csv_of(table(answers))))["bound"]) == {19.004}
    report = ReportData([data], [])
    for content in (agents_json(report, answers), answers_json(report, answers, False)):
        (read,) = json.loads(content)["experiments"]
        assert read["bound"] == 19.004
    assert csv_of(agents_table([answer(made([]))])).count(b"19.004") == 0


def test_latex_tables_end_with_the_bound() -> None:
    found = answer(made([MINE]))
    for kind, empty in (("best", "& & &"), ("agents", "& & & &")):  # times, and memory
        limit = LIMIT.replace("%", r"\%")
        assert f"{PAST} ({limit}) {empty} 19.01 & & 1.00 " in render_table(kind, found)
        assert "bound" not in render_table(kind, answer(made([])))
    report = render_report(ReportData([found.experiment], []), [found], ["mine"])
    assert r"\item[Bound.]" in report
    assert f"1 is the bound that {PAST}." in report


def test_notebooks_are_told() -> None:
    told = "No agent that has to learn can pass 19.01 (bound: a one-sided 95% limit).</p>"
    assert told in answer(made([MINE]))._repr_html_()
    assert "can pass" not in answer(made([]))._repr_html_()


def test_figures_have_the_line() -> None:
    data = made([MINE])
    (line,) = dotted(score_against_online_time([data]).axes[0])
    assert set(line.get_ydata()) == {19.004}
    (line,) = dotted(bb.plot_returns(answer(data)).axes[0])
    assert set(line.get_xdata()) == {19.004}
    assert not dotted(score_against_online_time([made([])]).axes[0])
    rewards = np.ones((40, 1, 5))
    gc = {**settings("GC", 40), "test_digest": GC.digest}
    played = [result(name, rewards, settings=gc) for name in ("optimal", "beb")]
    curves, regret = bb.plot_learning(played).axes
    assert SHIPPED is not None
    assert set(dotted(curves)[0].get_ydata()) == {SHIPPED.upper}
    assert set(dotted(regret)[0].get_ydata()) == {played[0].mean - SHIPPED.upper}


@pytest.mark.parametrize(
    ("bound", "text"),
    [(51.9487, "51.95"), (3.0817, "3.09"), (0.00123, "0.00123"), (0.0, "0.00"), (-2.345, "-2.34")],
)
def test_bounds_are_rounded_up(bound: float, text: str) -> None:
    assert format_bound(bound) == text
    assert float(format_bound(bound)) >= bound


def dotted(axes: Any) -> list[Any]:
    return [line for line in axes.lines if line.get_linestyle() == ":"]


def printed(content: Any) -> str:
    buffer = io.StringIO()
    Console(file=buffer, width=100).print(content)
    return buffer.getvalue()
