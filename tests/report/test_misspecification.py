"""The figure of scores against how wrong the prior is shows what the results hold."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import brlbench as bb
from brlbench.analysis.bayes_bound.known import known_bound
from brlbench.report.data import ExperimentData
from brlbench.report.misspecification import MIXED, SCALED, families, misspecification
from brlbench.results.result import Result
from brlbench.results.score import Score
from helpers.made_results import experiment, result, summary

GC = bb.distribution("GC")
NOISE = np.random.default_rng(0).standard_normal(40)


def made(prior: str, **means: float) -> ExperimentData:
    """An experiment on GC with made-up returns; each agent is named by its algorithm and value."""
    agents = [
        summary(name.partition("_")[0], mean + NOISE, value=name.partition("_")[2])
        for name, mean in means.items()
    ]
    one = experiment(agents)
    changed = {"prior": prior, "prior_digest": bb.distribution(prior).digest, "test": "GC",
               "test_digest": GC.digest}  # fmt: skip
    return replace(one, hash=prior, settings={**one.settings, **changed})


PLAYED = [
    made("GC", random=30, beb_a=38, beb_b=40, psrl=35),
    made("mixed:0.1:GC", beb_a=39, beb_b=36, psrl=34),
    made("uniform:GC", beb_a=38.5, beb_b=32, psrl=33, soft=50),
    made("scaled:10:GC", beb_a=1, beb_b=2, psrl=3),
    made("around:5:GC", beb_a=1, beb_b=2, psrl=3),
]


def panels(figure: Any) -> list[Any]:
    """The axes of a figure, whose types say little about what is drawn."""
    return list(figure.axes)


def test_experiments_are_ordered_by_the_change_of_the_prior() -> None:
    [mixed], [scaled] = families(PLAYED[::-1], MIXED), families(PLAYED, SCALED)
    assert list(mixed.experiments) == [0.0, 0.1, 1.0]
    assert list(scaled.experiments) == [1.0, 10.0]
    assert mixed.reference is scaled.reference is PLAYED[0]


def test_the_best_agent_at_the_accurate_prior_is_kept() -> None:
    """Not the other one, which is better at worse priors."""
    [family] = families(PLAYED, MIXED)
    kept = family.lines["beb"]
    assert {each.parameters["value"] for each in kept.values()} == {"b"}
    means = {number: each.score.mean - NOISE.mean() for number, each in kept.items()}
    assert means == pytest.approx({0.0: 40, 0.1: 36, 1.0: 32})
    assert "soft" not in family.lines


def test_lines_are_normalised_scores_and_bands_their_intervals() -> None:
    figure = misspecification(PLAYED)
    mixed, scaled = panels(figure)
    bound = known_bound({"test_digest": GC.digest, "discount": 0.95, "horizon": 250})
    assert bound is not None
    random = Score.of(30 + NOISE)
    width = bound.upper - random.mean
    lines = {line.get_label(): line for line in mixed.lines if line.get_label()[0] != "_"}
    assert set(lines) == {"beb", "psrl"}  # the prior does not matter to random
    assert mixed.get_ylabel() == "score (0: random, 1: bound)"
    expected = (np.array([40, 36, 32]) - 30) / width
    np.testing.assert_allclose(lines["beb"].get_ydata(), expected)
    np.testing.assert_array_equal(lines["beb"].get_xdata(), [0, 1, 2])
    [band] = mixed.collections[0].get_paths()  # of beb
    at_end = [y for x, y in band.vertices if x == 2]
    assert max(at_end) - min(at_end) == pytest.approx(2 * random.ci95 / width)
    labels = [text.get_text() for text in mixed.get_xticklabels()]
    assert labels == ["0\naccurate", "0.1", "1\nuniform"]
    assert [text.get_text() for text in scaled.get_xticklabels()] == ["1\naccurate", "10"]


def test_without_a_random_agent_returns_are_shown() -> None:
    without = [made("GC", beb=40), made("uniform:GC", beb=32)]
    [panel] = panels(misspecification(without))
    np.testing.assert_allclose(panel.lines[0].get_ydata(), np.array([40, 32]) + NOISE.mean())
    assert panel.get_ylabel() == "score (mean return)"


def test_without_anything_above_random_returns_are_shown() -> None:
    played = [made("GC", random=990, optimal=990, beb=40), made("uniform:GC", beb=32)]
    [panel] = panels(misspecification(played))
    np.testing.assert_allclose(panel.lines[0].get_ydata(), np.array([40, 32]) + NOISE.mean())


def test_some_algorithms() -> None:
    [panel, _] = panels(misspecification(PLAYED, ["psrl"]))
    assert panel.lines[0].get_label() == "psrl"
    assert len(panel.collections) == 1
    with pytest.raises(bb.InvalidInput, match=r"no algorithms to show: .* \(beb, psrl\)"):
        misspecification(PLAYED, ["bebb"])


def test_from_results() -> None:
    """One column per problem; experiments on other MDPs are no part of a line."""
    played = [
        _evaluated(prior, name, seed)
        for name, seed in (("GC", 0), ("GDL", 0), ("Grid", 3))
        for prior in (name, f"mixed:0.25:{name}")
        if (prior, seed) != ("Grid", 3)
    ]
    titles = [panel.get_title(loc="left") for panel in panels(bb.plot_misspecification(played))]
    assert titles == ["GC", "GDL"]


def _evaluated(prior: str, test: str, seed: int) -> Result:
    settings = {
        **bb.Experiment(prior, test, 40, seed=seed).settings(),
        "name": f"{test} from {prior}",
    }
    return result("psrl", np.random.default_rng(1).random((40, 1, 3)), settings=settings,
                  experiment_hash=f"{prior} {seed}")  # fmt: skip


def test_results_without_changed_priors_are_refused() -> None:
    with pytest.raises(bb.InvalidInput, match=r"^no two experiments differ in a changed prior"):
        bb.plot_misspecification(_evaluated("GC", "GC", 0))
