import io
import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from brlbench.analysis.bounds import Comparison
from brlbench.problems import distribution
from brlbench.report.answers import Answer, Question, answer
from brlbench.report.axes import LogAxis
from brlbench.report.data import ExperimentData
from brlbench.report.figures import BOUND, drawing, render, score_against_time
from brlbench.report.map import NAMED, TOGETHER, best_algorithms_map, rectangles
from brlbench.report.words import format_bound
from brlbench.results.summary import Summary
from helpers.made_results import SPECIAL_NAMES, experiment, study, summary
from helpers.strategies import reproducible

RNG = np.random.default_rng(0)
ONE = experiment([summary("only", RNG.normal(size=40))])
NONE = experiment([summary("optimal", RNG.normal(size=40))])
INSTANT = experiment(
    [summary("a", RNG.normal(size=40), 0.0, 1e-6), summary("b", RNG.normal(3, 1, 40), 0.1, 0.0)]
)
ALL_INSTANT = experiment([summary("a", RNG.normal(size=40), 0.0, 0.0)])
SPECIAL = experiment([summary(name, RNG.normal(size=40)) for name in (*SPECIAL_NAMES, "_hidden")])
MANY = study(0, num_agents=100, num_mdps=40).experiments[0]

TIMES = (0.0, 1e-3, 1.0, 60.0)


@st.composite
def answers(draw: st.DrawFn) -> Answer:
    agents = st.tuples(
        st.sampled_from("abc"), st.sampled_from(TIMES), st.sampled_from(TIMES), st.integers(0, 3)
    )
    summaries: list[Summary] = []
    for i, (name, offline, online, score) in enumerate(draw(st.lists(agents, max_size=8))):
        returns = score + np.random.default_rng(i).integers(0, 5, size=6).astype(float)
        summaries.append(summary(name, returns, offline, online, number=i))
    comparison = Comparison(summaries)
    return Answer(experiment(summaries), Question(), comparison, [])


@reproducible
@given(answers())
def test_the_rectangles_cover_every_pair_of_bounds_once(found: Answer) -> None:
    parts = rectangles(found)
    summaries = found.comparison.summaries
    for offline in (*TIMES, 0.5, 1e9):
        for online in (*TIMES, 0.5, 1e9):
            holding = [
                part
                for part in parts
                if part.offline[0] <= offline < part.offline[1]
                and part.online[0] <= online < part.online[1]
            ]
            best = found.comparison.within(offline, online)
            winners = [summaries[i].algorithm for i in best.winners] if best else None
            assert [list(part.winners) for part in holding] == (
                [sorted(winners)] if winners else []
            )


def test_equal_neighbours_are_one_rectangle() -> None:
    better = experiment(
        [
            summary("a", RNG.normal(9, 1, 40), 1, 1),
            summary("a", RNG.normal(0, 1, 40), 2, 2, poor=True),
        ]
    )
    (part,) = rectangles(answer(better))
    assert part.online == part.offline == (1, math.inf)


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


@pytest.mark.parametrize("data", [ONE, NONE, INSTANT, ALL_INSTANT, SPECIAL, MANY])
def test_all_figures_render(data: ExperimentData) -> None:
    found = answer(data)
    for figure in (best_algorithms_map(found), score_against_time(found, "mean")):
        with drawing():
            figure.savefig(io.BytesIO(), format="png", dpi=20)


def test_figures_can_be_vectors() -> None:
    assert render(score_against_time(answer(SPECIAL), "offline"), ".pdf").startswith(b"%PDF")


def test_figures_are_the_same_every_time() -> None:
    found = answer(INSTANT)
    first, second = (render(best_algorithms_map(found), ".pdf") for _ in range(2))
    assert first == second


def test_the_map_names_few_sets_and_groups_the_others() -> None:
    found = answer(MANY)
    sets = Counter(part.winners for part in rectangles(found))
    assert len(sets) > 5 * NAMED
    figure = best_algorithms_map(found)
    legend = texts(figure)
    named = legend[: legend.index("several, or too small for a number")]
    assert 3 < len(named) <= NAMED
    assert [text.split(":")[0] for text in named] == [str(i + 1) for i in range(len(named))]
    winners = [tuple(text.split(": ")[1].replace("\n    ", " ").split(", ")) for text in named]
    assert set(winners) <= sets.keys()
    assert max(map(len, winners)) == TOGETHER < max(map(len, sets))
    # Each name of the legend has its number on the map, so none is of a sliver.
    assert [text.get_text() for text in figure.axes[0].texts] == [text[0] for text in named]
    assert not any("optimal" in text for text in legend)


def test_grouping_sets_covers_the_same_bounds() -> None:
    found = answer(MANY)
    parts = rectangles(found)
    named = {part.winners for part in parts if len(part.winners) <= TOGETHER}
    grouped = rectangles(found, named)
    assert len(grouped) < len(parts)
    assert {part.winners for part in grouped} == named | {()}
    for part in parts:
        online, offline = part.online[0], part.offline[0]
        (holding,) = (
            each.winners
            for each in grouped
            if each.online[0] <= online < each.online[1]
            and each.offline[0] <= offline < each.offline[1]
        )
        assert holding == (part.winners if part.winners in named else ())


def test_regions_are_where_they_should_be() -> None:
    """Below an offline bound of 0.1 s only a; above it b, which is better and instant."""
    figure = best_algorithms_map(answer(INSTANT))
    (axes,) = figure.axes
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    corners = [path.get_extents().extents for c in axes.collections for path in c.get_paths()]
    colours = {to_hex(tuple(c.get_facecolor()[0])) for c in axes.collections}  # type: ignore[arg-type]
    assert len(colours) == len(corners) == 2
    (left, bottom, right, top), (a_left, a_bottom, a_right, a_top) = sorted(
        corners, key=lambda box: -box[3]
    )
    assert (left, right, top) == (*axes.get_xlim(), axes.get_ylim()[1])
    assert bottom == a_top == pytest.approx(0.1)
    assert a_left == pytest.approx(1e-6)
    assert a_right == right
    assert a_bottom == axes.get_ylim()[0]


def test_labels_and_reference_of_scores() -> None:
    figure = score_against_time(answer(MANY), "mean")
    (axes,) = figure.axes
    best = {row.summary.algorithm for row in answer(MANY).rows}
    assert {text.get_text() for text in axes.texts} == best
    assert axes.get_xlabel() == "mean online time per decision (log scale)"
    legend = texts(figure)
    assert legend[0].startswith("optimal (reference)")
    assert set(legend) >= best


def test_the_bound_of_a_known_experiment_is_a_line() -> None:
    of_gc = replace(MANY, settings={**MANY.settings, "test_digest": distribution("GC").digest})
    figure = score_against_time(answer(of_gc), "mean")
    assert texts(figure)[0] == f"{BOUND}:\n{format_bound(of_gc.upper_bound or 0)}"
    (line,) = (line for line in figure.axes[0].lines if line.get_linestyle() == ":")
    assert set(np.asarray(line.get_ydata())) == {of_gc.upper_bound}


def test_names_are_shown_as_they_are() -> None:
    figure = score_against_time(answer(SPECIAL), "mean")
    assert set(texts(figure)) >= set(SPECIAL_NAMES)
    assert not any(text.get_parse_math() for text in figure.axes[0].texts)
    (patches,) = best_algorithms_map(answer(experiment(SPECIAL.summaries[:1]))).legends
    assert patches.get_texts()[0].get_text() == f"1: {SPECIAL_NAMES[0]}"


def test_ticks_have_units_and_zero_has_a_place() -> None:
    figure = Figure()
    axes = figure.subplots()
    axis = LogAxis.of([0.0, 1e-3, 7200.0])
    axis.set_up(axes, "x")
    assert axis.place(0.0) == axis.zero == 1e-5
    assert axis.place(2.0) == 2.0
    label = axes.xaxis.get_major_formatter()
    assert [label(t, 0) for t in (1e-5, 1e-3, 1.0, 10_000.0)] == ["0", "1 ms", "1 s", "10000 s"]
    assert LogAxis.of([1.0]).zero is None
    assert LogAxis.of([0.0]).zero == 1e-5
