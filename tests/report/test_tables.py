import json
import math

import numpy as np
import pytest

from brlbench.analysis.significance import effect_size, holm, paired_z_test
from brlbench.errors import InvalidInput
from brlbench.report.answers import Question, answer, answer_all, notes_on
from brlbench.report.data import ReportData
from brlbench.report.notes import Note
from brlbench.report.tables import agents_table, best_table
from brlbench.report.words import format_p, read_map, sentence
from brlbench.results.score import Score
from helpers.made_results import experiment, study, summary

RNG = np.random.default_rng(0)
LUCK = RNG.normal(10, 3, 40)


PAPER = Question(honest=False)  # all MDPs choose and test


def noisy(score: float) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    return LUCK + score + RNG.normal(0, 0.5, 40)


GC = experiment(
    [
        summary("random", noisy(0), 1e-4, 1e-7),
        summary("beb", noisy(4), 1e-3, 1e-5, beta=1),
        summary("beb", noisy(5), 1e-3, 1e-6, beta=2),
        summary("boss", noisy(5), 1e-3, 1e-2),
        summary("opps-ds", noisy(7), 50.0, 1e-6),
        summary("opps-cs", noisy(6), 20.0, 1e-6),
        summary("opps-cs", noisy(3), 1.0, 1e-3, poor=True),
        summary("optimal", LUCK + 10, 1e-3, 1e-7),
    ]
)


def test_the_best_agent_of_each_algorithm() -> None:
    found = answer(GC, PAPER)
    best = ["opps-ds", "opps-cs", "beb(beta=2)", "boss", "random"]
    assert sorted(row.summary.label for row in found.rows) == sorted(best)
    assert found.rows[0].summary.label == "opps-ds"
    assert [winner.label for winner in found.winners] == ["opps-ds"]
    assert [row.score for row in found.rows] == sorted((r.score for r in found.rows), reverse=True)
    assert all(row.score == row.summary.score for row in found.rows)


def test_regret_is_behind_the_optimal_agent() -> None:
    found = answer(GC, PAPER)
    for row in found.rows:
        assert row.regret == pytest.approx((LUCK + 10 - row.summary.returns).mean())
    honest = answer(GC)  # on the MDPs that had no part in choosing
    assert honest.rows[0].regret == pytest.approx(
        (LUCK + 10 - honest.rows[0].summary.returns)[honest.comparison.num_choosing :].mean()
    )
    alone = answer(experiment([each for each in GC.summaries if each.algorithm != "optimal"]))
    assert [row.regret for row in alone.rows] == [None] * 5
    assert agents_table([found])["regret"].null_count() == 0


def test_tables_of_answers_begin_with_what_matters() -> None:
    found = answer(GC)
    for table in (found.table, found.everyone):
        assert table.columns[:4] == ["agent", "score", "ci95", "online_seconds"]
        assert max(map(len, str(table).splitlines())) <= 100
    assert sorted(found.table.columns) == sorted(best_table([found]).columns)


def test_the_optimal_agent_is_a_reference_and_never_competes() -> None:
    found = answer(GC, PAPER)
    assert "optimal" not in [row.summary.algorithm for row in found.rows]
    assert "optimal" not in read_map(found) + sentence(found)
    row = {row.summary.algorithm: row.normalised for row in found.rows}
    assert row["random"] == pytest.approx(0)
    assert 0.6 < (row["opps-ds"] or 0) < 0.8


def test_tests_are_against_the_best() -> None:
    first, *others = answer(GC, PAPER).rows
    assert first.test is None
    expected = [paired_z_test(first.summary.returns, row.summary.returns) for row in others]
    tests = [row.test for row in others if row.test]
    assert [test.z for test in tests] == [test.z for test in expected]
    assert [test.p_holm for test in tests] == list(holm([test.p_value for test in expected]))
    for row, test in zip(others, tests, strict=True):
        difference = first.score.mean - row.score.mean
        assert test.difference == pytest.approx(difference)
        assert test.low < difference < test.high
        assert test.effect_size == effect_size(first.summary.returns, row.summary.returns)
        assert test.p_cautious < 0.01
    assert [row.stability for row in (first, *others)] == [1, 0, 0, 0, 0]


def test_bounds_and_features() -> None:
    found = answer(GC, Question(offline=1.0, online=1e-3))
    assert [row.summary.label for row in found.rows] == [
        "beb(beta=2)",
        "opps-cs(poor=True)",
        "random",
    ]
    within = answer(GC, Question(online=250e-7, feature="total"))
    assert [row.summary.algorithm for row in within.rows] == ["random"]


def test_honest_answers_are_from_the_mdps_that_did_not_choose() -> None:
    found = answer(GC)
    assert found.num_tested == 30
    assert found.rows[0].score.mean == GC.summaries[4].returns[10:].mean()
    random = next(row for row in found.rows if row.summary.algorithm == "random")
    assert random.normalised == GC.normalised(random.score.mean)
    assert found.warning is None
    other = answer(GC, PAPER).rows[0]
    assert (other.summary, other.score) == (found.rows[0].summary, other.summary.score)


def test_answers_are_the_same_every_time() -> None:
    first, second = answer(GC), answer(GC)
    assert [row.test for row in first.rows] == [row.test for row in second.rows]


def test_the_sentence() -> None:
    assert sentence(answer(GC)).startswith("GC: opps-ds is best with mean return 1")
    assert sentence(answer(GC)).endswith("; the other algorithms are significantly worse.")
    some = sentence(answer(GC, Question(offline=1.0)))
    assert some.startswith("GC within offline ≤ 1 s: ")
    assert "; not significantly worse: " in some
    none = sentence(answer(GC, Question(offline=1e-6)))
    assert none == (
        "GC within offline ≤ 1 µs: no agent is within the bounds; "
        "the shortest times are 100 µs offline and 100 ns online."
    )
    assert "there is no other algorithm" in sentence(answer(experiment(GC.summaries[:1])))
    assert "there are no agents to compare" in sentence(answer(experiment(GC.summaries[-1:])))


def test_the_map_is_read_just_below_the_cheapest_useful_opps_training() -> None:
    """The cheaper opps-cs wins nowhere, so that it doesn't count."""
    found = answer(GC)
    assert found.reading.below is GC.summaries[5]
    assert read_map(found) == (
        "GC trained in less than 20 s: (random), (beb) from 1 µs, (beb, boss) from 10 ms."
    )


def test_without_opps_the_map_is_read_without_a_bound() -> None:
    found = answer(experiment(GC.summaries[:4]))
    assert found.reading.below is None
    assert read_map(found).startswith("GC: (random), (beb) from 1 µs")


def test_nothing_trains_faster_than_opps() -> None:
    found = answer(experiment([summary("opps-ds", noisy(1), 3.0, 1.0)]))
    assert read_map(found) == "GC trained in less than 3 s: no agent."


def test_the_table_of_all_agents() -> None:
    table = agents_table([answer(GC)])
    assert table.height == len(GC.summaries)
    row = table.row(2, named=True)
    assert (row["agent"], row["algorithm"]) == ("beb(beta=2)", "beb")
    assert json.loads(row["parameters"]) == {"beta": 2}
    assert row["score"] == GC.summaries[2].score.mean
    assert (row["offline_seconds"], row["mean_seconds"], row["num_mdps"]) == (1e-3, 1e-6, 40)
    assert (row["best_of_algorithm"], row["winner"]) == (True, False)
    optimal = table.row(-1, named=True)
    assert (optimal["best_of_algorithm"], optimal["normalised"]) == (False, 1)


def test_the_table_of_best_agents() -> None:
    table = best_table([answer(GC)])
    assert table["winner"].to_list() == [True, False, False, False, False]
    assert table["p_holm"].null_count() == 1
    assert best_table([answer(GC, Question(offline=0.0))]).columns == table.columns


def test_one_mdp_has_scores_but_no_tests() -> None:
    one = experiment([summary("a", np.array([1.0])), summary("b", np.array([2.0]))])
    for honest in (False, True):
        found = answer(one, Question(honest=honest))
        assert [row.test for row in found.rows] == [None, None]
        assert str(found.rows[0].score) == "2.00"
        assert len(found.winners) == 2
        assert agents_table([found])["ci95"].null_count() == 2


def test_few_mdps_are_noted() -> None:
    few = experiment([summary("a", np.arange(5.0))])
    data = ReportData([few], [Note("a note")])
    note, warning = notes_on(data, answer_all(data))
    assert str(note) == "a note"
    assert "GC: only 4 MDPs test" in str(warning)


def test_an_experiment_by_its_name() -> None:
    data = ReportData([GC, study(1, 20, 30, name="Grid").experiments[0]], [])
    assert [found.experiment.name for found in answer_all(data)] == ["GC", "Grid"]
    assert [found.experiment.name for found in answer_all(data, experiment="Grid")] == ["Grid"]
    with pytest.raises(InvalidInput, match=r"experiment = 'grid' .did you mean 'Grid'"):
        answer_all(data, experiment="grid")


@pytest.mark.parametrize(
    ("mean", "half_width", "text"),
    [
        (41.724, 1.631, "41.72 ± 1.63"),
        (-0.5, 0.0, "-0.50 ± 0.00"),
        (0.12345, 0.00123, "0.1235 ± 0.0012"),
        (1.5506, 4.4e-17, "1.55 ± 0.00"),
        (3.0, math.nan, "3.00"),
    ],
)
def test_scores_in_words(mean: float, half_width: float, text: str) -> None:
    assert str(Score(mean, half_width)) == text


def test_p_values_in_words() -> None:
    assert [format_p(p) for p in (0.0, 0.00099, 0.0123, 1.0)] == [
        "< 0.001", "< 0.001", "0.012", "1.000",
    ]  # fmt: skip
