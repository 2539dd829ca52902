"""The leaderboard's numbers."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest

from brlbench.analysis import aggregates
from brlbench.analysis.bounds import Comparison
from brlbench.analysis.significance import paired_z_test
from brlbench.report import board
from brlbench.report.board.aggregation import Aggregation
from brlbench.report.board.field import field_of
from brlbench.report.board.overview import OFFLINE_LIMITS, ONLINE_LIMITS, overview_content
from brlbench.report.board.positions import positions_in
from brlbench.report.data import ReportData
from brlbench.report.words import selection_words
from brlbench.results.score import Score
from brlbench.results.summary import Summary
from helpers.made_boards import (
    FEW_RESAMPLES,
    RESAMPLES,
    board_data,
    content_of,
    written,
)

DATA = board_data()
CHOOSING = 10  # the first quarter of the MDPs
AGAIN = aggregates.Resamples(RESAMPLES)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return written(tmp_path_factory.mktemp("site"), DATA)


def best(data: ReportData, k: int, algorithm: str, offline: float, online: float) -> Summary | None:
    """The agent of an algorithm that the first MDPs choose within limits, found the plain way."""
    allowed = [
        each
        for each in data.experiments[k].summaries
        if each.algorithm == algorithm
        and each.seconds["offline"] <= offline
        and each.seconds["mean"] <= online
    ]
    return max(allowed, key=lambda each: each.scored_returns[:CHOOSING].mean(), default=None)


def normalised(k: int, agent: Summary, adjusted: bool = False) -> Any:
    """The returns of an agent on the MDPs that test it."""
    returns = DATA.experiments[k].normalised_returns(agent, adjusted)
    assert returns is not None
    return returns[CHOOSING:]


def mean_estimate(chosen: list[int], arrays: Sequence[Any]) -> aggregates.Estimate:
    """The mean of numbers in the experiments that are chosen."""
    statistics = [AGAIN.means(k, x[None, :]) for k, x in zip(chosen, arrays, strict=True)]
    return aggregates.estimates(statistics)[0]


def rank_estimates(chosen: list[int], scores: Sequence[Any]) -> list[aggregates.Estimate]:
    """The ranks of agents by their scores in the experiments that are chosen."""
    tables = map(np.stack, zip(*scores, strict=True))
    statistics = [AGAIN.means(k, table) for k, table in zip(chosen, tables, strict=True)]
    return aggregates.rank_estimates(statistics)


def in_all(
    chosen: list[int], names: list[str], offline: float, online: float
) -> dict[str, list[Summary]]:
    """The best agents of the algorithms that have played all MDPs of some experiments."""
    complete = {}
    for name in names:
        agents = [best(DATA, k, name, offline, online) for k in chosen]
        known = [each for each in agents if each and not each.stopped]
        if len(known) == len(chosen) and name != "optimal":
            complete[name] = known
    return complete


@pytest.mark.parametrize("prior", ["all", "accurate", "wrong"])
@pytest.mark.parametrize(("o", "n"), [(0, 0), (1, 1), (2, 3)])
def test_aggregates_are_those_of_the_analysis(
    pages: dict[str, str], o: int, n: int, prior: str
) -> None:
    content = content_of(pages["index.html"])
    limits = OFFLINE_LIMITS[o], ONLINE_LIMITS[n]
    [place] = [k for k, each in enumerate(content["priors"]) if each["name"] == prior]
    chosen = content["priors"][place]["contests"]
    assert chosen == {"all": [0, 1, 2], "accurate": [0, 1], "wrong": [2]}[prior]
    names = [each["name"] for each in content["algorithms"]]
    complete = in_all(chosen, names, *limits)
    scores = {
        adjusted: {
            name: [normalised(k, each, adjusted) for k, each in zip(chosen, agents, strict=True)]
            for name, agents in complete.items()
        }
        for adjusted in (False, True)
    }
    played: dict[str, Any] = scores[False]
    expected = sorted(complete, key=lambda name: -aggregates.mean_score(scores[True][name]).value)
    rows = content["views"][o][n]["best"][place]
    assert [names[row[0]] for row in rows if row[2] == len(chosen)] == expected
    ranks = rank_estimates(chosen, [scores[True][name] for name in expected])
    for row, name, rank in zip(rows, expected, ranks, strict=False):
        found = content["totals"]["best"][row[1]]
        pairs = list(zip(chosen, played[name], strict=True))
        [iqm] = aggregates.estimates([AGAIN.interquartile_mean(*each) for each in pairs])
        assert found["iqm"] == pytest.approx(iqm, abs=1e-5)
        gap = mean_estimate(chosen, [np.maximum(1 - x, 0) for x in played[name]])
        assert found["gap"] == pytest.approx(gap, abs=1e-5)
        mean = mean_estimate(chosen, scores[True][name])
        assert found["mean"] == pytest.approx(mean, abs=1e-5)
        limits_of_scores = np.array(content["thresholds"])
        shares = [AGAIN.shares_above(*each, limits_of_scores) for each in pairs]
        profile = np.transpose(aggregates.estimates(shares))
        np.testing.assert_allclose(found["profile"], profile, atol=1e-3)
        assert row[2:4] == [len(chosen), [*rank, len(expected)]]
        assert row[4] == [
            max(each.seconds["offline"] for each in complete[name]),
            max(each.seconds["mean"] for each in complete[name]),
            max(each.peak_bytes or 0 for each in complete[name]),
        ]
        if name == expected[0]:
            assert row[5] is None
        else:
            both = zip(played[name], played[expected[0]], strict=True)
            improved = mean_estimate(chosen, [aggregates.improved(*each) for each in both])
            assert row[5] == pytest.approx(improved, abs=1e-5)


def test_rows_that_lack_an_experiment_are_compared_in_those_they_have(
    pages: dict[str, str],
) -> None:
    content = content_of(pages["index.html"])
    names = [each["name"] for each in content["algorithms"]]
    rows = {names[row[0]]: row for row in content["views"][0][0]["best"][0]}
    assert "optimal" not in rows
    assert list(rows)[-2:] == ["psrl", "vdbe"]
    assert rows["vdbe"][1:4] == [None, 0, None]  # never played all MDPs
    assert rows["vdbe"][5] is None
    # In the two experiments with psrl, which is not in Grid, it competes with all others.
    chosen = {name: [best(DATA, k, name, np.inf, np.inf) for k in (0, 2)] for name in rows}
    del chosen["vdbe"]
    scores: dict[str, Any] = {
        name: [
            normalised(k, agent, adjusted=True)
            for k, agent in zip((0, 2), agents, strict=True)
            if agent is not None
        ]
        for name, agents in chosen.items()
    }
    ranks = rank_estimates([0, 2], list(scores.values()))
    rank = dict(zip(scores, ranks, strict=True))["psrl"]
    assert rows["psrl"][2:4] == [2, [*rank, 6]]
    means = {name: np.mean([each.mean() for each in arrays]) for name, arrays in scores.items()}
    assert rank.value == sum(mean >= means["psrl"] for mean in means.values()) == 5
    mean = mean_estimate([0, 2], scores["psrl"])
    assert content["totals"]["best"][rows["psrl"][1]]["mean"] == pytest.approx(mean, abs=1e-5)
    assert "profile" not in content["totals"]["best"][rows["psrl"][1]]
    played: Any = {
        name: [
            normalised(k, agent)
            for k, agent in zip((0, 2), chosen[name], strict=True)
            if agent is not None
        ]
        for name in ("psrl", "bamcp")
    }
    both = zip(played["psrl"], played["bamcp"], strict=True)
    improved = mean_estimate([0, 2], [aggregates.improved(*each) for each in both])
    assert rows["psrl"][5] == pytest.approx(improved, abs=1e-5)


def test_rows_are_ordered_as_they_are_ranked(pages: dict[str, str]) -> None:
    content = content_of(pages["index.html"])
    for view in (view for row in content["views"] for view in row):
        for kind in ("best", "single"):
            for rows, prior in zip(view[kind], content["priors"], strict=True):
                counts = [row[2] for row in rows]
                assert counts == sorted(counts, reverse=True)
                complete = [row for row in rows if row[2] == prior["counted"]]
                ranks = [row[3][0] for row in complete]
                means = [content["totals"][kind][row[1]]["mean"][0] for row in complete]
                assert ranks == sorted(ranks)
                assert means == sorted(means, reverse=True)


@pytest.mark.parametrize("honest", [False, True])
def test_agents_are_chosen_and_scored_as_in_the_comparison(
    monkeypatch: pytest.MonkeyPatch, honest: bool
) -> None:
    """Scores, aggregates and ranks are of the MDPs that test agents."""
    monkeypatch.setattr(board.field, "Comparison", partial(Comparison, honest=honest))
    made = field_of(DATA)
    best, single = (Aggregation(made.contests, 10) for _ in range(2))
    content = overview_content(made, best, single)
    assert content["selection"] == selection_words(honest)
    contest = made.contests[2]  # the only one with a wrong prior
    choosing, scale = contest.comparison.num_choosing, contest.data.rising_scale
    assert choosing == (CHOOSING if honest else 0)
    assert scale is not None
    [place] = [k for k, each in enumerate(content["priors"]) if each["name"] == "wrong"]
    rows = {row[0]: row for row in content["views"][0][0]["best"][place]}
    chosen = contest.comparison.within()
    assert chosen is not None
    for i in chosen.best_of_algorithm:
        summary = contest.entrants[i]
        mean = summary.scored_returns[summary.scored_mdps(choosing)].mean()
        assert content["contests"][2]["scores"][0][i] == pytest.approx(mean)
        if summary.stopped is None:
            row = rows[made.algorithms.index(summary.algorithm)]
            value = content["totals"]["best"][row[1]]["mean"][0]
            assert value == pytest.approx(scale.normalised(mean), abs=1e-5)
    positions = positions_in(made, single, contest)
    ranked = [each for each in positions if each.rank is not None]
    assert [each.score.mean for each in ranked] == sorted(
        (each.score.mean for each in ranked), reverse=True
    )
    assert [each.rank.value for each in ranked if each.rank] == list(range(1, len(ranked) + 1))
    [first] = [each for each in positions if each.is_first]
    assert first.summary is contest.entrants[chosen.best_of_algorithm[0]]


def test_bounds_on_time_leave_agents_out(pages: dict[str, str]) -> None:
    content = content_of(pages["index.html"])
    names = [each["name"] for each in content["algorithms"]]
    # With accurate and wrong priors alike, an agent that takes longer than the limit is out.
    hasty = {names[row[0]]: row for row in content["views"][2][3]["best"][0]}
    assert "opps-ds" not in hasty
    label = content["agents"][content["contests"][0]["agents"][cell(content, 2, 3, "bamcp")[0]]][0]
    assert label == "bamcp(depth=2)"


def cell(content: Any, o: int, n: int, algorithm: str) -> list[Any]:
    """The cell of an algorithm in the first experiment."""
    first = content["contests"][0]
    [found] = [
        row
        for row in content["views"][o][n]["contests"][0]["best"]
        if content["algorithms"][content["agents"][first["agents"][row[0]]][1]]["name"] == algorithm
    ]
    return list(found)


def test_cells_have_normalised_scores_and_ranks(pages: dict[str, str]) -> None:
    content = content_of(pages["index.html"])
    experiment = DATA.experiments[0]
    assert experiment.scale is not None
    random, top = experiment.scale
    first, found = content["contests"][0], content["views"][0][0]["contests"][0]
    labels = [content["agents"][number][0] for number in first["agents"]]
    by_label = {each.label: each for each in experiment.summaries}
    for i, label in enumerate(labels):
        mdps = by_label[label].scored_mdps(CHOOSING)
        score = Score.of(by_label[label].scored_returns[mdps])
        if not mdps.start:  # left the race
            score = by_label[label].score
        assert [part[i] for part in first["scores"]] == [score.mean, score.ci95]
        mean, ci95 = (part[i] for part in first["normalised"])
        assert mean == pytest.approx(experiment.normalised(score.mean), abs=1e-6)
        assert ci95 == pytest.approx(score.ci95 / (top - random), abs=1e-6)
    complete = [row for row in found["best"] if row[1] is not None]
    assert len(complete) == len(found["best"]) - 1  # vdbe
    returns = [[by_label[labels[row[0]]].scored_returns[CHOOSING:]] for row in complete]
    ranks = aggregates.rank_intervals(returns, resamples=RESAMPLES)
    assert [row[1:] for row in complete] == [list(rank) for rank in ranks]
    assert complete[0][1] == 1
    assert found["winners"][0] == found["best"][0][0]


def test_single_agents_are_the_same_everywhere(pages: dict[str, str]) -> None:
    content = content_of(pages["index.html"])
    rows = {content["agents"][row[0]][0]: row for row in content["views"][0][0]["single"][0]}
    assert rows["beb(beta=0)"][2] == rows["beb(beta=1)"][2] == 3
    agents = [
        next(e for e in each.summaries if e.label == "beb(beta=1)") for each in DATA.experiments
    ]
    scores: Any = [normalised(k, agent) for k, agent in enumerate(agents)]
    found = content["totals"]["single"][rows["beb(beta=1)"][1]]
    expected = aggregates.interquartile_mean(scores, resamples=FEW_RESAMPLES)
    assert found["iqm"] == pytest.approx(expected, abs=1e-5)


def test_positions_compare_with_the_winner() -> None:
    field = field_of(DATA)
    positions = positions_in(field, Aggregation(field.contests, 50), field.contests[0])
    by_label = {each.summary.marked_label: each for each in positions}
    first = positions[0]
    assert (first.summary.label, first.is_winner, first.behind) == ("bamcp(depth=15)", True, None)
    assert positions[-1].summary.label == "optimal"
    assert positions[-1].rank is None and positions[-1].behind is None
    third = by_label["beb(beta=1)"]
    returns = [each.summary.scored_returns[CHOOSING:] for each in (first, third)]
    test = paired_z_test(returns[0], returns[1])
    assert third.p_value == pytest.approx(test.p_value)
    assert third.behind is not None
    assert third.behind.mean == pytest.approx(first.score.mean - third.score.mean)
    assert (third.is_best, by_label["beb(beta=2)"].is_best) == (False, True)
    stopped = by_label["vdbe(sigma=1) [20 MDPs]"]
    difference = (first.summary.scored_returns[:20] - stopped.summary.scored_returns).mean()
    assert stopped.behind is not None
    assert stopped.behind.mean == pytest.approx(difference)
    assert stopped.rank is None
