"""The page on wrong priors is what its results say, and they are what it says they are."""

from pathlib import Path

import numpy as np
import pytest
from reproduction.__main__ import DOCS
from reproduction.misspecification import LEVEL, SHIPPED, Row, changed, experiments, rows, winners
from reproduction.page import RESULTS
from reproduction.wrong_priors import make_page

from brlbench.analysis.scores import paired_differences
from brlbench.analysis.significance import paired_z_test
from brlbench.problems.frozen import HASHES
from brlbench.report.loading import load
from brlbench.report.misspecification import BLIND, MIXED, SCALED, Change, families
from brlbench.study.plan import read_study

STUDIES = [
    Path(__file__).parents[2] / f"studies/{name}.toml"
    for name in ("misspecification", "wrong-rewards")
]
SHARES, FACTORS = [0.0, 0.1, 0.25, 0.5, 1.0], [0.1, 1.0, 10.0]


def test_the_page_is_made_from_the_results() -> None:
    assert make_page() == (DOCS / "misspecification.md").read_text()


def test_the_results_are_small_and_those_of_the_study() -> None:
    assert SHIPPED.stat().st_size < 3.5e6
    # Not by hashes: processors draw MDPs with different last bits.
    jobs = [job for study in STUDIES for job in read_study(study).jobs]
    planned = {(job.experiment.name, job.label) for job in jobs}
    assert planned == {
        (experiment.name, summary.label)
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
    """They are the best of the frozen sets, except for those that would take too long."""
    frozen = {experiment.name: experiment for experiment in load(RESULTS).experiments}
    for row in rows(MIXED):
        if row.algorithm in ("bamcp", "lookahead", "sboss"):
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


def find(problem: str, algorithm: str, change: Change = MIXED) -> Row:
    [row] = [r for r in rows(change) if (r.problem, r.algorithm) == (problem, algorithm)]
    return row


def test_the_pages_sentences_about_winners() -> None:
    found = winners(MIXED)
    for problem in ("GC", "GDL", "Grid"):
        assert found[problem, 1.0] == ["sparse-prior"]
    assert all("epsilon-greedy" in found["GDL", share] for share in SHARES[:-1])
    assert found["Grid", 0.1] == ["epsilon-greedy"]
    assert found["Grid", 0.25] == found["Grid", 0.5] == ["ann"]


def test_the_pages_sentences_about_curves_that_rise_again() -> None:
    """With z-scores that are significant whatever else was looked at."""
    for problem, algorithm, better, worse in (
        ("GDL", "sparse-prior", 1.0, 0.5),
        ("Grid", "sparse-prior", 1.0, 0.5),
        ("GDL", "opps-ds", 0.5, 0.1),
    ):
        played = find(problem, algorithm).played
        assert paired_z_test(played[better], played[worse]).z > 3.9
    one, other = find("Grid", "sparse-prior"), find("Grid", "spread")
    assert abs(one.scores[3].mean - other.scores[3].mean) < 0.02  # they play alike


def test_the_pages_sentences_about_losses() -> None:
    for algorithm in ("psrl", "boss", "sboss"):
        assert all(abs(score.mean) < 0.03 for score in find("Grid", algorithm).scores[1:])
    ann = find("GDL", "ann").kept(1.0)
    assert ann.mean - ann.ci95 < 0 < ann.mean < 0.1
    assert find("Grid", "lookahead", SCALED).scores[0].mean < 0
    lost = [
        1 - row.scores[0].mean / row.scores[1].mean
        for row in rows(SCALED)
        if row.problem == "Grid" and changed(SCALED, 0.1)[row] < LEVEL
    ]
    assert sum(share > 0.33 for share in lost) > 0.7 * len(lost)
    for algorithm in ("soft-max", "ann", "opps-ds", "bamcp"):
        assert find("GDL", algorithm, SCALED).kept(10.0).mean < 2 / 3
    gained = find("GC", "bamcp", SCALED)
    assert gained.scores[0].mean > gained.scores[1].mean
    on_gc = [row for row in rows(SCALED) if row.problem == "GC"]
    assert [r.algorithm for r in on_gc if changed(SCALED, 0.1)[r] < LEVEL] == ["bamcp"]
    for problem in ("GC", "GDL", "Grid"):
        vdbe = find(problem, "vdbe", SCALED)
        assert changed(SCALED, 10.0)[vdbe] < LEVEL
        assert vdbe.scores[2].mean > vdbe.scores[1].mean
