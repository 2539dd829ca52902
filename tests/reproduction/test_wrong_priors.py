"""The page on wrong priors is what its results say, and they are what it says they are."""

from pathlib import Path

import numpy as np
import pytest
from reproduction.__main__ import DOCS
from reproduction.misspecification import SHIPPED, changed, experiments, rows, winners
from reproduction.page import RESULTS
from reproduction.wrong_priors import make_page

from brlbench.analysis.scores import paired_differences
from brlbench.problems.frozen import HASHES
from brlbench.report.loading import load
from brlbench.report.misspecification import BLIND, MIXED, SCALED, families
from brlbench.study.plan import read_study

STUDY = Path(__file__).parents[2] / "studies/misspecification.toml"
SHARES, FACTORS = [0.0, 0.1, 0.25, 0.5, 1.0], [0.1, 1.0, 10.0]


def test_the_page_is_made_from_the_results() -> None:
    assert make_page() == (DOCS / "misspecification.md").read_text()


def test_the_results_are_small_and_those_of_the_study() -> None:
    assert SHIPPED.stat().st_size < 3.5e6
    planned = {(job.experiment.hash, job.label) for job in read_study(STUDY).jobs}
    assert planned == {
        (experiment.hash, summary.label)
        for experiment in experiments()
        for summary in experiment.summaries
    }


def test_all_priors_of_a_problem_were_played_on_the_same_mdps() -> None:
    for change, numbers in ((MIXED, SHARES), (SCALED, FACTORS)):
        found = families(experiments(), change)
        assert [family.reference.name for family in found] == ["GC", "GDL", "Grid"]
        assert all(list(family.experiments) == numbers for family in found)
        assert all(list(row.played) == numbers for row in rows(change))
    assert not {experiment.hash for experiment in experiments()} & set(HASHES.values())


def test_settings_were_chosen_on_other_mdps() -> None:
    """They are the best of the frozen sets; planners and lookahead would take too long."""
    frozen = {experiment.name: experiment for experiment in load(RESULTS).experiments}
    for row in rows(MIXED):
        if row.algorithm in ("bamcp", "bfs3", "lookahead"):
            continue
        for name, label in (
            (row.problem, row.accurate.full_label),
            (f"{row.problem} from uniform:{row.problem}", row.retuned_label),
        ):
            tried = [s for s in frozen[name].summaries if s.algorithm == row.algorithm]
            assert max(tried, key=lambda each: each.score.mean).full_label == label


def test_what_is_kept_has_the_interval_of_the_bootstrap() -> None:
    row = next(row for row in rows(MIXED) if (row.problem, row.algorithm) == ("GC", "beb"))
    random = next(s for s in row.family.reference.summaries if s.algorithm == "random")
    gains = np.array([paired_differences(row.played[n], random) for n in (1.0, 0.0)])
    chosen = np.random.default_rng(0).integers(0, gains.shape[1], size=(4000, gains.shape[1]))
    after, before = gains[:, chosen].mean(axis=2)
    low, high = np.quantile(after / before, [0.025, 0.975])
    kept = row.kept(1.0)
    assert kept.mean == pytest.approx(gains[0].mean() / gains[1].mean())
    assert 2 * kept.ci95 == pytest.approx(high - low, rel=0.1)


def test_agents_that_look_at_no_prior_are_left_out() -> None:
    assert not {row.algorithm for row in rows(MIXED)} & set(BLIND)
