"""The leaderboard's files and numbers."""

import os
import re
from dataclasses import replace
from functools import partial
from html import unescape
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import brlbench as bb
from brlbench.analysis import aggregates
from brlbench.analysis.bounds import Comparison
from brlbench.analysis.significance import paired_z_test
from brlbench.errors import InvalidInput, StoreError
from brlbench.report import board
from brlbench.report.board.aggregation import Aggregation
from brlbench.report.board.field import field_of
from brlbench.report.board.overview import OFFLINE_LIMITS, ONLINE_LIMITS, overview_content
from brlbench.report.board.positions import positions_in
from brlbench.report.board.sources import known_problem, web_address
from brlbench.report.data import ReportData
from brlbench.report.words import selection_words
from brlbench.results.score import Score
from brlbench.results.summary import Summary
from helpers.made_boards import (
    BAD_ENTRY,
    FEW_RESAMPLES,
    HTML,
    RESAMPLES,
    board_data,
    content_of,
    contest,
    written,
)
from helpers.made_results import write_study
from helpers.shell import Shell

DATA = board_data()
CHOOSING = 10  # the first quarter of the MDPs


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
    ranks = aggregates.rank_intervals(
        [scores[True][name] for name in expected], resamples=RESAMPLES
    )
    for row, name, rank in zip(rows, expected, ranks, strict=False):
        found = content["totals"]["best"][row[1]]
        for key, aggregate in (
            ("iqm", aggregates.interquartile_mean),
            ("gap", aggregates.optimality_gap),
        ):
            assert found[key] == pytest.approx(
                aggregate(played[name], resamples=RESAMPLES), abs=1e-5
            )
        mean = aggregates.mean_score(scores[True][name], resamples=RESAMPLES)
        assert found["mean"] == pytest.approx(mean, abs=1e-5)
        thresholds = content["thresholds"]
        profile = aggregates.performance_profile(played[name], thresholds, resamples=RESAMPLES)
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
            improved = aggregates.probability_of_improvement(
                played[name], played[expected[0]], resamples=RESAMPLES
            )
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
    ranks = aggregates.rank_intervals(list(scores.values()), resamples=RESAMPLES)
    rank = dict(zip(scores, ranks, strict=True))["psrl"]
    assert rows["psrl"][2:4] == [2, [*rank, 6]]
    means = {name: np.mean([each.mean() for each in arrays]) for name, arrays in scores.items()}
    assert rank.value == sum(mean >= means["psrl"] for mean in means.values()) == 5
    mean = aggregates.mean_score(scores["psrl"], resamples=RESAMPLES)
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
    improved = aggregates.probability_of_improvement(
        played["psrl"], played["bamcp"], resamples=RESAMPLES
    )
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


def test_the_same_results_give_the_same_bytes(pages: dict[str, str], tmp_path: Path) -> None:
    assert written(tmp_path, board_data()) == pages


class Attributes(HTMLParser):
    """The attributes of all elements of a page, as pairs of name and value."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, str | None]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += attrs


def test_pages_need_nothing_from_elsewhere(pages: dict[str, str]) -> None:
    for name, text in pages.items():
        assert not re.search(r"@import|\burl\((?!#)", text), name
        found = Attributes(text).found
        [policy] = [value for key, value in found if key == "content" and "src" in str(value)]
        assert "default-src 'none'" in str(policy)
        assert not [key for key, _ in found if key == "style" or key.startswith("on")]
        addresses = [str(value) for key, value in found if key in ("src", "href")]
        for address in addresses:
            local = not re.match(r"[a-z]+:", address)
            assert local or address.startswith(("https://example.org/", "data:image/svg")), name
    rooms = ("board", "page", "web")
    for source in [each for room in rooms for each in files(f"brlbench.report.{room}").iterdir()]:
        if source.name.endswith((".js", ".css", ".j2")):
            text = source.read_text(encoding="utf-8")
            assert not re.search(r"https?:|fetch\(|//[a-z]+\.|style=", text), source.name


def test_every_link_leads_to_a_page(pages: dict[str, str]) -> None:
    for name, text in pages.items():
        content = content_of(text)
        links = re.findall(r'href="([^"]*\.html)"', text)
        assert name == "index.html" or links[0] == "../index.html"
        for link in links:
            assert os.path.normpath(Path(name).parent / link) in pages, (name, link)
        if name == "index.html":
            assert all(f"agents/{page}.html" in pages for _, _, page in content["agents"])
            assert all(f"problems/{each['page']}.html" in pages for each in content["contests"])


def test_texts_of_strangers_stay_text(pages: dict[str, str]) -> None:
    assert len(pages) == 1 + 3 + 11
    for name, text in pages.items():
        assert "<img src=x" not in text, name
        assert text.count("<script") == text.count("</script>") == 2, name
    [page] = [text for text in pages.values() if "example.org" in text]
    shown = unescape(re.sub(r"<script.*?</script>|<[^>]*>", "", page, flags=re.DOTALL))
    for said in (*BAD_ENTRY[:1], *BAD_ENTRY.authors, *BAD_ENTRY[2:]):
        assert said in shown
    assert HTML in shown
    assert 'href="javascript' not in page
    [link] = re.findall(r"<a [^>]*example[^>]*>", page)
    assert 'rel="nofollow noopener"' in link


@pytest.mark.parametrize(
    ("text", "is_link"),
    [
        ("https://example.org/a?b=c", True), ("http://example.org", True),
        ("javascript:alert(1)", False), ("data:text/html,x", False), ("//example.org", False),
        ("https:", False), ("https://[", False), ("", False), (" https://example.org", True),
    ],
)  # fmt: skip
def test_only_web_pages_are_links(text: str, is_link: bool) -> None:
    assert (web_address(text) is not None) == is_link


def test_only_problems_of_the_package_are_drawn(tmp_path: Path) -> None:
    made = bb.frozen_set("GC/accurate/v1", 1)
    known = known_problem(made.settings())
    assert known is not None and known.digest == made.test.digest
    own = tmp_path / "own.toml"
    for test in ("gym:FrozenLake-v1", str(own), "no such", "Dense:states=1000000"):
        assert known_problem({"test": test, "test_digest": "x"}) is None
    assert known_problem({"test": "GC", "test_digest": "x"}) is None
    told: Any = {"test": "GC", "test_digest": bb.distribution("GC").digest}
    pages = written(tmp_path / "site", ReportData([contest(1, "GC", **told)], []))
    assert "data:image/svg+xml;base64," in pages["problems/GC.html"]
    assert "Generalised Chain" in pages["problems/GC.html"]


def test_experiments_without_a_scale_are_shown_and_not_counted(tmp_path: Path) -> None:
    unscaled = contest(4, "Loop")
    agents = [each for each in unscaled.summaries if each.algorithm != "random"]
    data = board_data(replace(unscaled, summaries=agents))
    content = content_of(written(tmp_path, data)["index.html"])
    assert (content["priors"][0]["contests"], content["priors"][0]["counted"]) == ([0, 1, 2, 3], 3)
    assert content["contests"][3]["normalised"] is None
    alone = written(tmp_path / "alone", ReportData([replace(unscaled, summaries=agents)], []))
    content = content_of(alone["index.html"])
    assert content["priors"][0]["counted"] == 0
    assert content["views"][0][0]["best"] == [[], []]


def test_refusals(tmp_path: Path) -> None:
    reference = [each for each in contest(1, "GC").summaries if each.algorithm == "optimal"]
    only = ReportData([replace(contest(1, "GC"), summaries=reference)], [])
    with pytest.raises(InvalidInput, match="no agents to compare"):
        written(tmp_path / "site", only)
    (tmp_path / "site/agents").mkdir(parents=True)
    (tmp_path / "site/agents/optimal.html").write_text("mine")
    with pytest.raises(StoreError, match=r"optimal\.html exists already"):
        written(tmp_path / "site", DATA)
    assert not (tmp_path / "site/index.html").exists()
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="can't be made"):
        written(tmp_path / "file", DATA)


def test_the_command_and_the_function(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    write_study(tmp_path / "results", ("random", "beb", "psrl", "optimal"))
    done = shell("leaderboard", "results", "--output", "site")
    assert done.code == 0
    assert done.out == "wrote 7 pages: open site/index.html\n"
    done = shell("leaderboard", "results", "--output", "site")
    assert done.code == 1
    assert done.err.startswith("error: site/index.html exists already: choose another name")
    assert shell("leaderboard", "results", "-o", "site", "--overwrite").code == 0
    made = bb.leaderboard("results", "again")
    assert [path.name for path in made][:3] == ["index.html", "GC.html", "Grid.html"]
    for path in made:
        assert path.read_bytes() == (Path("site") / path.relative_to("again")).read_bytes()
    assert "curves" in (tmp_path / "site/agents/random.html").read_text(encoding="utf-8")


def test_an_entry_is_beside_the_others(made_entry: Path, tmp_path: Path) -> None:
    made = bb.leaderboard([made_entry], tmp_path / "site")
    [page] = [path.read_text(encoding="utf-8") for path in made if "Steady" in path.name]
    assert "<dd>Ada One, Bo Two</dd>" in page
    assert '<a href="https://example.org/steady" rel="nofollow noopener">' in page
    assert "Steady &amp; sons" in page
