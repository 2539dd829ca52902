from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from reproduction.page import ARITHMETIC, MORE, RESULTS
from reproduction.published import PublishedRow, published_rows
from reproduction.verdicts import Compared, compare_rows

from brlbench.report.data import ExperimentData
from brlbench.report.loading import load
from brlbench.results.adjusted import Adjusted
from brlbench.results.result import Stopped
from brlbench.results.score import Score
from brlbench.results.summary import HALVED, Summary

ROW = PublishedRow("GDL", "GDL", "beb", "beb", {"beta": 0.5}, Score(3.0, 0.2))


def summary(mean: float, mdps: int = 100, label: str = "beb", **parameters: Any) -> Summary:
    returns = mean + np.tile([-0.5, 0.5], mdps // 2)
    return Summary("beb", parameters, label, returns, {"processor": 1e-6}, {})


def compared(mean: float = 2.0, **evidence: Summary) -> Compared:
    ours = summary(mean)
    missing: dict[str, Any] = dict.fromkeys(("more", "original", "with_ties"))
    return Compared(row=ROW, ours=ours, grid=[ours], **(missing | evidence))


def test_a_row_is_judged_by_the_best_evidence() -> None:
    far, close = summary(2.2), summary(2.95)
    assert compared().verdict == "not reproduced"
    assert compared(more=close).verdict == "reproduced with more MDPs"
    with_original = compared(more=far, original=close)
    assert with_original.verdict == "reproduced with the original's arithmetic and more MDPs"
    assert compared(more=close, original=far).verdict == "not reproduced"
    assert compared(more=close, original=close).verdict == "reproduced with more MDPs"


def test_evidence_counts_in_both_directions() -> None:
    far, close = summary(2.2), summary(2.95)
    assert compared(2.95).verdict == "reproduced"
    assert compared(2.95, more=close).verdict == "reproduced"
    by_luck = "not reproduced: agrees as played, but not with"
    assert compared(2.95, more=far).verdict == f"{by_luck} more MDPs"
    with_original = compared(2.95, more=close, original=far)
    assert with_original.verdict == f"{by_luck} the original's arithmetic and more MDPs"
    adjusted = replace(close, adjusted=Adjusted(far.returns, far.score.ci95))
    lucky = replace(compared(), ours=adjusted)
    assert lucky.verdict == f"{by_luck} its luck taken out"
    assert not any(each.is_explained for each in (compared(2.95, more=far), with_original, lucky))


def test_beb_on_gdl_agrees_by_luck() -> None:
    data = (load(path).experiments for path in (RESULTS, MORE, ARITHMETIC))
    [beb] = [c for c in compare_rows(*data) if (c.row.algorithm, c.row.prior) == ("beb", "GDL")]
    assert beb.is_close
    assert beb.verdict.startswith("not reproduced")


def test_the_gain_is_measured_on_the_mdps_in_common() -> None:
    gain = compared(more=summary(2.0, mdps=200), original=summary(2.5, mdps=50)).gain
    assert gain == pytest.approx((0.5, 0.0))
    assert compared(more=summary(2.0)).gain is None


def test_agents_with_the_originals_arithmetic_are_found_by_their_parameters() -> None:
    [row] = [r for r in published_rows() if (r.algorithm, r.prior) == ("beb", "Grid")]
    settings = {"test": "Grid", "prior": "Grid"}
    ours = ExperimentData("Grid", "", settings, [summary(6.1, label=row.label)])
    exact, ties, other = (
        summary(mean, label=f"original beb(beta={beta}, accuracy=0.0001, tolerance={tolerance})")
        for mean, beta, tolerance in [(1.0, 0.5, 0.0), (2.0, 0.5, 1e-9), (3.0, 0.75, 0.0)]
    )
    played = ExperimentData("Grid", "", settings, [other, ties, exact])
    [found] = compare_rows([ours], [], [played])
    assert (found.original, found.with_ties) == (exact, ties)


def test_the_choice_of_the_best_is_among_agents_that_played_all_mdps() -> None:
    [row] = [r for r in published_rows() if (r.algorithm, r.prior) == ("bfs3", "GC")]
    ours, other = summary(37.0, label=row.label), summary(36.9, simulations=1, label="other")
    left = summary(50.0, mdps=10, label="left")
    halved = replace(left, stopped=Stopped(HALVED, "others were better"))
    grid = [replace(each, algorithm="bfs3") for each in (ours, other, halved)]
    data = ExperimentData("GC", "", {"test": "GC", "prior": "GC"}, grid)
    [found] = compare_rows([data], [], [])
    assert found.grid == grid[:2]
    assert found.best is grid[0]
    assert 0 < (found.selection or 0.0) < 0.1
