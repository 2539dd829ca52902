"""A score is the adjusted mean where there is one, else the mean return; both have their names."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from rich.console import Console

import brlbench as bb
from brlbench.cli.answers import _legend
from brlbench.cli.tables import best_table, everyone_table, score_table
from brlbench.protocol import luck
from brlbench.report.answers import Answer, Question, answer
from brlbench.report.figures import score_against_online_time, score_against_time
from brlbench.report.latex import render_table
from brlbench.report.plots import plot_differences
from brlbench.report.tables import agents_table
from brlbench.report.words import sentence
from brlbench.results.adjusted import LEAST_MDPS, Adjusted
from brlbench.results.score import Score
from helpers.made_results import experiment, summary

LUCK = np.random.default_rng(0).normal(0, 3, 40)
GAINS = {"beb": 15.0, "psrl": 14.9, "random": 11.0}


def made(adjusted: bool) -> Answer:
    """Agents with the same luck; their adjusted returns have none of it."""
    summaries = []
    for k, (name, gain) in enumerate(GAINS.items()):
        noise = np.random.default_rng(k + 1).normal(0, 0.5, 40)
        one = summary(name, gain + noise + LUCK)
        without = Adjusted(gain + noise, 0.16)
        summaries.append(replace(one, adjusted=without if adjusted else None))
    return answer(experiment(summaries), Question(honest=False))


ADJUSTED, PLAIN = made(True), made(False)
BEST = ADJUSTED.rows[0].summary
SCORE, MEAN_RETURN = str(BEST.score), str(BEST.unadjusted)


def printed(content: Any) -> str:
    console = Console(width=120)
    with console.capture() as capture:
        console.print(content)
    return capture.get()


def test_the_score_is_the_adjusted_mean_where_there_is_one() -> None:
    without = replace(BEST, adjusted=None)
    assert BEST.adjusted is not None
    assert (BEST.score, without.score) == (BEST.adjusted.score, Score.of(BEST.returns))
    assert repr(BEST) == f"Summary(beb: score {SCORE} (mean return {MEAN_RETURN}))"
    assert repr(without) == f"Summary(beb: mean return {MEAN_RETURN})"


@pytest.mark.parametrize(
    "show",
    [
        lambda found: printed(score_table("GC", found.experiment.summaries)),
        lambda found: printed(best_table(found)),
        lambda found: printed(everyone_table(found)),
        lambda found: found._repr_html_(),
        sentence,
    ],
)
def test_both_stand_side_by_side(show: Callable[[Answer], str]) -> None:
    both, one = show(ADJUSTED), show(PLAIN)
    assert f"({MEAN_RETURN})" in both or f"(mean return {MEAN_RETURN})" in both
    for text in (SCORE, "score", "(mean return"):
        assert text in both
    assert "mean return" in one
    assert "(mean return" not in one


def test_legends_and_axes_say_what_scores_are() -> None:
    for found, name in ((ADJUSTED, "score (adjusted mean return)"), (PLAIN, "score (mean return)")):
        figures = score_against_time(found, "mean"), score_against_online_time([found.experiment])
        assert [each.axes[0].get_ylabel() for each in figures] == [name, name]
    assert "score: the mean return with its luck taken out." in _legend([ADJUSTED], False)
    assert "score:" not in _legend([PLAIN], False)
    label = plot_differences(ADJUSTED).axes[0].get_xlabel()
    assert label.startswith("adjusted return minus that of")
    assert plot_differences(PLAIN).axes[0].get_xlabel().startswith("return minus that of")


def test_tables_for_papers_and_programs_have_both() -> None:
    row = agents_table([ADJUSTED]).row(0, named=True)
    assert (row["score"], row["mean_return"]) == (BEST.score.mean, BEST.unadjusted.mean)
    assert f"{SCORE} & {MEAN_RETURN}".replace("±", r"$\pm$") in render_table("best", ADJUSTED)


@pytest.mark.parametrize("honest", [False, True])
def test_a_pair_has_one_interval(honest: bool) -> None:
    found = answer(ADJUSTED.experiment, Question(honest=honest))
    test = found.rows[1].test
    assert test is not None
    first, second = (row.summary.label for row in found.rows[:2])
    pair, reverse = found.pair(first, second).test, found.pair(second, first).test
    assert (pair.low, pair.high) == (test.low, test.high)
    assert (-reverse.high, -reverse.low) == pytest.approx((test.low, test.high))


def test_a_result_shows_its_score_if_that_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    shipped = bb.evaluate(bb.make_agent("random"), bb.Experiment("GC", num_mdps=LEAST_MDPS))
    assert shipped.score == shipped.adjusted.score != (shipped.mean, shipped.ci95)
    mean_return = str(Score(shipped.mean, shipped.ci95))
    assert f"on GC: score {shipped.score} (mean return {mean_return}), " in repr(shipped)
    for row in (f"<td>score</td><td>{shipped.score}<", f"<td>mean return</td><td>{mean_return}<"):
        assert row in shipped._repr_html_()

    find = Mock(wraps=luck.find_start_values)
    monkeypatch.setattr("brlbench.protocol.recording.find_start_values", find)
    other = bb.evaluate(
        bb.make_agent("random"), bb.Experiment("GC", num_mdps=LEAST_MDPS, horizon=3)
    )
    assert "on GC: mean return " in repr(other)
    assert "<td>score</td>" not in other._repr_html_()
    assert not find.called
    assert other.score == other.adjusted.score
    assert find.called
    assert f"on GC: score {other.score} (mean return " in repr(other)
    few = bb.evaluate(bb.make_agent("random"), bb.Experiment("GC", num_mdps=5))
    assert few.score == (few.mean, few.ci95)
