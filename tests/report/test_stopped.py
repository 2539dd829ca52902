"""Agents that stopped early, beside others: compared on the MDPs in common, and marked."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import brlbench as bb
from brlbench.analysis.bounds import Comparison
from brlbench.analysis.significance import z_against
from brlbench.report.answers import Question, answer
from brlbench.report.data import ReportData
from brlbench.report.loading import load
from brlbench.report.pairs import make_pair
from brlbench.report.plots import plot_differences
from brlbench.report.tables import agents_table
from brlbench.report.web.content import z_steps
from brlbench.results.adjusted import Adjusted
from brlbench.results.compact import read_summaries, write_summaries
from brlbench.results.result import Stopped
from brlbench.results.summary import BEATEN, HALVED, RACE, Summary
from helpers.made_results import experiment, summary

DROPPED = Stopped(RACE, "dropped after 50 MDPs: worse")
NARROW = Stopped("until-0.5", "stopped after 50 MDPs: narrow", 0.5)

LOOSE = Stopped("until-99", "stopped after 50 MDPs: narrow", 99)


def agents(stopped: Stopped = DROPPED) -> list[Summary]:
    """Three agents on 200 MDPs, and one that was lucky in the first 50 and played no others."""
    rng = np.random.default_rng(0)
    shared = 10 * rng.standard_normal(200)
    shared[:50] += 20  # generous MDPs
    noise = rng.standard_normal((4, 200))
    best, close, worse, short = (
        mean + shared + row for mean, row in zip((1, 0.9, 0, -1), noise, strict=True)
    )
    return [
        summary("beb", best),
        summary("vdbe", close),
        summary("psrl", worse),
        replace(summary("boss", short[:50]), stopped=stopped),
    ]


def test_statistics_leave_out_what_was_not_played() -> None:
    rng = np.random.default_rng(1)
    one, others = rng.standard_normal(80), rng.standard_normal((3, 80))
    others[1, 30:] = np.nan
    others[2, 1:] = np.nan
    found = z_against(one, others)
    assert found[0] == pytest.approx(z_against(one, others[:1])[0])
    assert found[1] == pytest.approx(z_against(one[:30], others[1:2, :30])[0])
    assert found[2] == 0  # one MDP tells nothing


def test_those_that_stay_are_compared_on_all_mdps() -> None:
    with_short, without = (answer(experiment(given)) for given in (agents(), agents()[:3]))
    rows = {row.summary.algorithm: row for row in with_short.rows}
    for row in without.rows:
        same = rows[row.summary.algorithm]
        assert (same.score, same.winner) == (row.score, row.winner)
        if row.test:
            assert same.test is not None
            assert same.test.z == row.test.z
    # Its mean is the highest, of generous MDPs; it was dropped, so it is last all the same.
    assert rows["boss"].score.mean > rows["beb"].score.mean
    assert with_short.rows[-1].summary.algorithm == "boss"
    assert not rows["boss"].winner
    assert rows["boss"].stability == 0
    assert rows["boss"].test is not None
    # The race was a test of its own: all 50 MDPs count, also those that choose among the others.
    common = with_short.rows[0].summary.returns[:50] - agents()[3].returns
    assert rows["boss"].test.difference == pytest.approx(common.mean())
    assert with_short.allowed[-1].p_value < 1e-6
    assert [each.summary.marked_label for each in with_short.allowed][-1] == "boss [50 MDPs]"


def test_generous_mdps_are_no_merit() -> None:
    """An agent that stopped after generous MDPs is ranked by how it did beside the others."""
    given = agents(NARROW)
    assert given[3].score.mean > given[0].score.mean
    assert [row.summary.algorithm for row in answer(experiment(given)).rows][-1] == "boss"
    better = replace(given[3], returns=given[3].returns + 4)
    found = answer(experiment([*given[:3], better]))
    assert [each.algorithm for each in found.winners] == ["boss"]
    assert found.rows[0].stability == 1


def test_intervals_are_no_narrower_than_what_stopped_the_agent(tmp_path: Path) -> None:
    narrow = summary("boss", np.tile([0.0, 1.0], 25))
    assert narrow.score.ci95 < 0.2
    adjusted = replace(narrow, adjusted=Adjusted(narrow.returns, 0.5))
    given = [replace(each, stopped=NARROW) for each in (narrow, adjusted)]
    path = tmp_path / "all.parquet"
    write_summaries(path, [(experiment([summary("beb", np.arange(100.0))]).header, given)])
    for each in (*given, *(read for _, read in read_summaries(path))):
        assert (each.score.ci95, each.unadjusted.ci95) == (0.5, 0.5)
    question = Question(honest=True)
    row = answer(experiment([*agents()[:2], replace(agents()[3], stopped=LOOSE)]), question).rows[
        -1
    ]
    assert (row.summary.algorithm, row.score.ci95) == ("boss", 99)
    wide = replace(summary("boss", np.tile([0.0, 10.0], 25)), stopped=NARROW)
    assert wide.score.ci95 > 1


def test_honest_answers_and_pages_have_them_too() -> None:
    comparison = Comparison(agents(), honest=True)
    assert comparison.allowed()[-1] == 3
    assert comparison.within() is not None
    steps, numbers = z_steps(comparison, [0, 1, 2, 3])
    assert len(steps) == 6
    assert numbers.tolist() == [150, 150, 50, 150, 50, 50]
    shares = comparison.stability(1.0, 1.0, np.random.default_rng(0), resamples=20)
    assert shares["boss"] < 1


def test_two_agents_are_compared_on_the_mdps_in_common() -> None:
    found = answer(experiment(agents()))
    pair = make_pair(found, "beb", "boss")
    assert pair.num_mdps == 50
    assert pair.test.difference == pytest.approx(
        (agents()[0].returns[:50] - agents()[3].returns).mean()
    )


def test_tables_and_notes_say_so() -> None:
    data = ReportData([experiment(agents())], [])
    [row] = agents_table([answer(data.experiments[0])]).filter(algorithm="boss").to_dicts()
    assert (row["played_mdps"], row["num_mdps"]) == (50, 200)
    assert row["stopped"] == DROPPED.reason
    assert any("1 of 4 agents on GC stopped before" in note for note in data.notes)
    assert not any("stopped" in note for note in ReportData([experiment(agents()[:3])], []).notes)


def test_compact_files_keep_them(tmp_path: Path) -> None:
    given = experiment([replace(each, adjusted=Adjusted(each.returns, 0.1)) for each in agents()])
    write_summaries(tmp_path / "all.parquet", [(given.header, given.summaries)])
    read = [each for _, each in read_summaries(tmp_path / "all.parquet")]
    assert [each.stopped for each in read] == [None, None, None, DROPPED]
    assert len(read[3].returns) == 50
    assert [each.label for each in bb.compare(tmp_path / "all.parquet").winners] == ["vdbe", "beb"]
    # Without the reason, a file with too few returns is damaged.
    short = replace(given.summaries[3], stopped=None)
    write_summaries(tmp_path / "short.parquet", [(given.header, [short])])
    with pytest.raises(bb.StoreError, match="is damaged"):
        list(read_summaries(tmp_path / "short.parquet"))


def test_agents_that_left_by_halving_cannot_win(tmp_path: Path) -> None:
    """They represent no algorithm, even where no other agent is within the bounds."""
    left = summary("beb", agents()[0].returns[:10] + 9, 1e-9, 1e-9, beta=9.0)  # too few to adjust
    left = replace(left, stopped=Stopped(HALVED, "left after 10 MDPs"))
    adjusted = [replace(each, adjusted=Adjusted(each.returns, 0.1)) for each in agents()[:3]]
    given = experiment([*adjusted, left])
    write_summaries(tmp_path / "all.parquet", [(given.header, given.summaries)])
    [data] = load(tmp_path / "all.parquet").experiments
    found, before = answer(data), answer(experiment(adjusted))
    assert [row.summary.label for row in found.rows] == ["vdbe", "beb", "psrl"]
    assert [row.score for row in found.rows] == [row.score for row in before.rows]
    assert found.allowed[-1].summary.marked_label == "beb(beta=9.0) [10 MDPs]"
    assert np.isnan(found.allowed[-1].p_value)
    assert answer(data, Question(online=1e-9)).rows == []
    assert plot_differences(found).axes[0].get_xlabel().endswith("of\nbeb")  # not the lucky one


def test_agents_that_a_champion_stopped_are_tested_on_later_mdps() -> None:
    """Their first quarter is that of all MDPs, and their rank that of what it chooses."""
    beaten = replace(agents(Stopped(BEATEN, "worse"))[3], returns=agents()[2].returns[:60])
    comparison = Comparison([*agents()[:3], beaten])
    assert comparison.num_choosing == 50
    assert comparison.means[3] == pytest.approx(comparison.means[2])
    z, numbers = comparison.z_against(0, [1, 3])
    assert numbers.tolist() == [150, 10]
    later = agents()[0].returns[50:60], agents()[2].returns[None, 50:60]
    assert z[1] == pytest.approx(z_against(*later)[0])
    assert comparison.regions().at(math.inf, math.inf) == comparison.within()
