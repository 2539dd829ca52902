"""Plots from Python show what results hold."""

from typing import Any

import numpy as np
import pytest
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure

import brlbench as bb
from brlbench.errors import InvalidInput
from brlbench.report.figures import Picture
from brlbench.results.result import Result
from brlbench.results.score import ci95
from helpers.made_results import result

PNG = b"\x89PNG\r\n\x1a\n"
DISCOUNT = 0.95


def made(algorithm: str, gain: float, seed: int, **changes: Any) -> Result:
    rng = np.random.default_rng(seed)
    return result(algorithm, np.random.default_rng(0).random((30, 2, 6)) + gain * rng.random(
        (30, 2, 6)), **changes)  # fmt: skip


@pytest.fixture
def results() -> list[Result]:
    return [
        made("optimal", 5.0, 1),
        made("beb", 2.0, 2, parameters={"beta": 1.5}),
        made("random", 0.0, 3, nanoseconds=np.full((30, 2, 6), 10)),
    ]


def panels(figure: Figure) -> list[Any]:
    """The axes of a figure, whose types say little about what is drawn."""
    return list(figure.axes)


def test_notebooks_show_all_plots(results: list[Result]) -> None:
    _, one, other = results
    figures: list[Any] = [
        bb.plot_scores(results), bb.plot_scores(bb.compare(results), "offline"),
        bb.plot_map(results), bb.plot_learning(results), bb.plot_learning(one),
        bb.plot_differences(results), bb.plot_pair(one, other), bb.plot_returns(results),
        bb.plot_returns(one), bb.plot_differences(one),
        bb.plot_misspecification([one, made("beb", 1.0, 2, settings={**one.settings, "prior":
            "uniform:GC", "prior_digest": "uniform"}, experiment_hash="uniform")]),
    ]  # fmt: skip
    for figure in figures:
        assert isinstance(figure, Picture)
        assert figure._repr_png_().startswith(PNG)


def test_scores_are_drawn_against_the_time_asked_for(results: list[Result]) -> None:
    [axes] = bb.plot_scores(results, "p95").axes
    assert axes.get_xlabel().startswith("95th percentile of the online time")
    [axes] = bb.plot_scores(bb.compare(results, feature="max")).axes
    assert axes.get_xlabel().startswith("longest online time")


def test_learning_curves_end_at_the_score_and_at_the_regret(results: list[Result]) -> None:
    so_far, regret = panels(bb.plot_learning(results))
    optimal, *others = results
    ends = {line.get_label(): line.get_ydata()[-1] for line in so_far.lines}
    assert ends == {each.label: pytest.approx(each.mean) for each in results}
    ends = {line.get_label(): line.get_ydata()[-1] for line in regret.lines}
    assert ends == {each.label: pytest.approx(optimal.mean - each.mean) for each in others}
    # The band at the end is the interval of the score.
    [band] = so_far.collections[0].get_paths()
    at_end = [y for x, y in band.vertices if x == 6]
    assert max(at_end) - min(at_end) == pytest.approx(2 * optimal.ci95)
    assert bb.plot_learning(others).axes[0].get_ylabel() == "discounted reward so far"
    for plot in (bb.plot_learning, bb.plot_returns, bb.plot_differences, bb.plot_scores):
        assert plot(others).axes[0].get_title(loc="left") == others[0].settings["name"]
    assert len(bb.plot_learning(others).axes) == 1


def test_learning_curves_at_each_step(results: list[Result]) -> None:
    rewards = results[1].rewards.mean(axis=(0, 1))
    expected = np.cumsum(rewards * DISCOUNT ** np.arange(6))
    line = panels(bb.plot_learning(results[1]))[0].lines[0]
    np.testing.assert_allclose(line.get_ydata(), expected)
    np.testing.assert_array_equal(line.get_xdata(), [1, 2, 3, 4, 5, 6])


def diamonds(figure: Any) -> Any:
    """The mean and the half-width in the row of each agent."""
    axes = figure.axes[0]
    names = [text.get_text() for text in axes.get_yticklabels()]
    found = {}
    for container in axes.containers:
        if hasattr(container, "has_xerr"):
            (mean,), (place,) = container.lines[0].get_data()
            [[low, high]] = [part[:, 0] for part in container.lines[2][0].get_segments()]
            found[names[int(place)]] = (float(mean), float(high - low) / 2)
    return found


def test_differences_are_paired(results: list[Result]) -> None:
    _, best, other = results
    difference = other.returns - best.returns
    assert diamonds(bb.plot_differences(results)) == {
        "random": (pytest.approx(difference.mean()), pytest.approx(ci95(difference)))
    }
    assert diamonds(bb.plot_differences(results, against="random")) == {
        best.label: (pytest.approx(-difference.mean()), pytest.approx(ci95(difference)))
    }
    with pytest.raises(bb.InvalidInput, match=r"^against = 'randon' \(did you mean 'random'\?\)"):
        bb.plot_differences(results, against="randon")


def test_the_pair_shows_a_point_per_mdp_and_both_intervals(results: list[Result]) -> None:
    _, one, other = results
    left, right = panels(bb.plot_pair(one, other))
    [points] = [each for each in left.collections if isinstance(each, PathCollection)]
    np.testing.assert_allclose(
        np.asarray(points.get_offsets()), np.stack([other.returns, one.returns], axis=1)
    )
    widths = [np.ptp(each.lines[2][0].get_segments()[0][:, 0]) / 2 for each in right.containers]
    assert widths == [
        pytest.approx(ci95(one.returns - other.returns)),
        pytest.approx(np.hypot(one.ci95, other.ci95)),
    ]


def test_distributions_show_every_agent_best_first(results: list[Result]) -> None:
    figure = bb.plot_returns(results)
    assert diamonds(figure) == {
        each.label: (pytest.approx(each.mean), pytest.approx(each.ci95)) for each in results
    }
    names = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert names == ["optimal", "beb(beta=1.5)", "random"]
    points = figure.axes[0].collections[0].get_offsets()
    np.testing.assert_allclose(np.asarray(points)[:, 0], results[0].returns)


def test_results_of_different_experiments_are_refused(results: list[Result]) -> None:
    stranger = made("psrl", 0.0, 4, experiment_hash="another")
    for plot in (bb.plot_learning, lambda both: bb.plot_pair(*both)):
        with pytest.raises(bb.InvalidInput, match=r"^random and psrl played different experiments"):
            plot([results[2], stranger])
    with pytest.raises(bb.InvalidInput, match="of 2 experiments"):
        bb.plot_scores([results[2], stranger])
    with pytest.raises(bb.InvalidInput, match=r"^results = "):
        bb.plot_learning([])


def test_autopsies_stand_side_by_side() -> None:
    """A line per agent in both panels: random actions keep costing, good ones soon do not."""
    experiment = bb.Experiment("GC", num_mdps=10, horizon=20)
    results = [bb.evaluate(bb.make_agent(name), experiment) for name in ("random", "psrl")]
    figure = bb.plot_autopsy([bb.autopsy(results[0], samples=5), results[1]], samples=5)
    exploring, ignorance = figure.axes
    assert [len(panel.lines) for panel in (exploring, ignorance)] == [2, 2]
    assert exploring.get_ylabel() == "expected regret by exploring"
    with pytest.raises(InvalidInput, match="different experiments"):
        other = bb.evaluate(bb.make_agent("random"), bb.Experiment("GC", num_mdps=9, horizon=20))
        bb.plot_autopsy([results[0], other], samples=2)
