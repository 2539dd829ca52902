"""Leaderboards of results that are few, equal, huge or strange."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np

from brlbench.report.board.sources import parameters_of
from brlbench.report.data import ReportData
from helpers.made_boards import content_of, contest, written
from helpers.made_results import summary


def test_a_single_mdp(tmp_path: Path) -> None:
    agents = [
        replace(each, returns=each.returns[:1], adjusted=None, learning=None, stopped=None)
        for each in contest(1, "GC").summaries
    ]
    made = replace(contest(1, "GC", num_mdps=1), summaries=agents)
    content = content_of(written(tmp_path, ReportData([made], []))["index.html"])
    assert math.isnan(content["contests"][0]["normalised"][1][0])


def test_agents_with_equal_scores_share_a_rank(tmp_path: Path) -> None:
    """Almost all returns are the same, which alone would be no axis for a profile."""
    agents = [summary(name, np.full(40, value)) for name, value in (("random", 0.0),
              ("optimal", 10.0), ("psrl", 5.0))]  # fmt: skip
    agents += [summary("beb", np.full(40, 5.0), beta=n) for n in range(12)]
    pages = written(tmp_path, ReportData([replace(contest(1, "Loop"), summaries=agents)], []))
    content = content_of(pages["index.html"])
    ranks = [row[3] for row in content["views"][0][0]["best"][0]]
    assert ranks == [[1.5] * 3 + [3], [1.5] * 3 + [3], [3] * 4]
    assert "7 (7\N{EN DASH}7)" in pages["agents/psrl.html"]  # among 13 single agents
    assert content["thresholds"][0] < content["thresholds"][-1]


def test_odd_experiments_are_shown(tmp_path: Path) -> None:
    """Returns that are far too large, and an experiment of the reference alone."""
    first, second = contest(1, "GC"), contest(2, "Loop")
    huge = [
        replace(each, returns=1e147 * each.returns, adjusted=None, learning=None)
        if each.algorithm == "beb" else each
        for each in first.summaries
    ]  # fmt: skip
    reference = [each for each in second.summaries if each.algorithm == "optimal"]
    experiments = [replace(first, summaries=huge), replace(second, summaries=reference)]
    pages = written(tmp_path, ReportData(experiments, []))
    assert "optimal" in pages["problems/Loop.html"]


def test_parameters_have_meanings() -> None:
    """Those of the agent that is mixed with random actions, too."""
    mixed = summary("random-mix", np.zeros(2), base="beb", epsilon=0.5, beta=2.0)
    meanings = {name: meaning for name, _, meaning in parameters_of(mixed)}
    assert meanings.keys() == {"base", "epsilon", "beta"} and all(meanings.values())
    refused = summary("random-mix", np.zeros(2), base="no such agent")
    assert parameters_of(refused) == [("base", "no such agent", "")]
