from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from reproduction.__main__ import DOCS
from reproduction.differences import Differences, Together
from reproduction.page import ARITHMETIC, MORE, RESULTS
from reproduction.published import PublishedRow
from reproduction.verdicts import Compared, compare_rows

from brlbench.report.loading import load
from brlbench.results.score import Score
from brlbench.results.summary import Summary


def row(difference: float, returns: Any, test: str = "GC") -> Compared:
    """A row whose published score is this many standard errors below ours."""
    ours = Summary("beb", {}, "beb", returns, {"mean": 1e-6}, {})
    mean, ci95 = ours.score
    published = PublishedRow(
        test, test, "beb", "beb", {}, Score(mean - difference * ci95 / np.sqrt(2), ci95)
    )
    return Compared(published, ours, [ours], None, None, None)


def rows(differences: Sequence[float], shared: bool) -> list[Compared]:
    rng = np.random.default_rng(0)
    returns = rng.normal(size=(len(differences), 1 if shared else 4000)) @ rng.normal(
        size=(1 if shared else 4000, 4000)
    )
    return [row(d, r) for d, r in zip(differences, returns, strict=True)]


def played(of: Sequence[Compared]) -> Differences:
    return Together(of).played


def test_differences_of_both_signs_are_chance() -> None:
    some = played(rows([1.5, -1.5, 1.0, -1.0], shared=False))
    assert some.negative == 2
    assert some.mean == pytest.approx(0)
    assert some.is_chance


def test_many_small_differences_of_one_sign_are_not_chance() -> None:
    some = played(rows([-1.5] * 9, shared=False))
    assert some.deviation == pytest.approx(1 / 3, rel=0.2)
    assert some.deviations == pytest.approx(-4.5, rel=0.2)
    assert not some.is_chance


def test_rows_that_share_their_luck_count_once() -> None:
    returns = np.random.default_rng(0).normal(size=100)
    same = [row(-1.5, returns) for _ in range(9)]
    assert played(same).deviation == pytest.approx(1)
    assert played(same).is_chance
    elsewhere = [replace(each, row=replace(each.row, test="Grid")) for each in same]
    assert played(same + elsewhere).deviation == pytest.approx(np.sqrt(0.5))


def test_the_page_says_that_most_differences_are_not_explained() -> None:
    """What is in the results, computed here once more; the page follows from them."""
    compared = compare_rows(*(load(path).experiments for path in (RESULTS, MORE, ARITHMETIC)))
    known = [each for each in compared if not each.has_defect]
    assert np.mean([each.z < 0 for each in known]) > 0.9
    assert np.mean([each.z for each in known]) < -1.4
    assert np.mean([each.z_without_luck for each in known]) < -1.1
    together = Together(known)
    assert together.choices.mean() < 0.5
    assert not together.with_all.is_chance
    page = (DOCS / "reproduction.md").read_text()
    minus = f"{together.with_all.mean:.2f}".replace("-", "\N{MINUS SIGN}")
    assert f"| all | 36 | {together.played.negative} |" in page
    assert f"| {minus} |" in page
    assert "**So this is not explained" in page
