"""The page is what the shipped results say, and they say what a reproduction should."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest
from reproduction.__main__ import DOCS
from reproduction.page import ARITHMETIC, MORE, RESULTS, TIMES, make_page
from reproduction.published import published_rows
from reproduction.verdicts import CLOSE, Compared, compare_rows, constant_policies

from brlbench.problems.frozen import HASHES
from brlbench.report.data import ExperimentData
from brlbench.report.loading import load
from brlbench.results.score import Score


@cache
def experiments(path: Path) -> Sequence[ExperimentData]:
    return load(path).experiments


@pytest.fixture(scope="module")
def compared() -> list[Compared]:
    return compare_rows(*map(experiments, (RESULTS, MORE, ARITHMETIC)))


def test_the_page_is_made_from_the_results() -> None:
    assert make_page() == (DOCS / "reproduction.md").read_text()


def test_the_results_are_small_and_on_the_frozen_sets() -> None:
    assert sum(path.stat().st_size for path in (RESULTS, MORE, ARITHMETIC, TIMES)) < 10e6
    hashes = [experiment.hash for experiment in experiments(RESULTS)]
    assert sorted(hashes) == sorted(list(HASHES.values())[:6])


def test_the_originals_arithmetic_was_played_on_the_same_mdps() -> None:
    """So that their difference from ours is paired: MDP i depends on these settings alone."""
    names = ("prior_digest", "test_digest", "discount", "horizon", "seed")
    ours = [{name: e.settings[name] for name in names} for e in experiments(MORE)]
    for experiment in experiments(ARITHMETIC):
        assert {name: experiment.settings[name] for name in names} in ours


def test_all_rows_were_played(compared: list[Compared]) -> None:
    played = [each.row for each in compared]
    assert len(played) == 48
    assert all(row in played for row in published_rows())
    assert "Not played yet" not in (DOCS / "reproduction.md").read_text()
    assert all(len(each.ours.returns) == 500 for each in compared)


def test_rows_without_a_defect_are_reproduced(compared: list[Compared]) -> None:
    rows = [each for each in compared if not each.has_defect]
    assert len(rows) == 36
    assert sum(each.is_close for each in rows) >= 26
    assert sum(each.is_explained for each in rows) >= 33
    for each in rows:
        assert abs(each.z) <= 4 or abs(each.z_explained) <= CLOSE


def test_rounding_explains_bfs3_on_gdl(compared: list[Compared]) -> None:
    [bfs3] = [c for c in compared if (c.row.algorithm, c.row.prior) == ("bfs3", "GDL")]
    assert bfs3.is_explained
    assert bfs3.gain is not None
    assert bfs3.gain.mean > 2 * bfs3.gain.ci95  # four standard errors
    assert bfs3.with_ties is not None
    assert bfs3.more is not None
    without_rounding = Score.of(bfs3.with_ties.returns - bfs3.more.returns)
    assert abs(without_rounding.mean) < 1.5 * without_rounding.ci95


def test_soft_max_was_a_constant_policy() -> None:
    rows = constant_policies("soft-max")
    assert len(rows) == 6
    assert all(abs(each.z) <= CLOSE for each in rows)


def test_soft_max_as_printed_is_better(compared: list[Compared]) -> None:
    rows = [each for each in compared if each.row.algorithm == "soft-max"]
    assert sum(each.z > 2 for each in rows) >= 4
