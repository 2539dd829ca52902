import io
import math

import numpy as np
import pytest

from brlbench.report.data import ExperimentData
from brlbench.report.figures import score_against_online_time
from brlbench.report.styles import point_styles
from helpers.made_results import experiment, summary

PNG = b"\x89PNG\r\n\x1a\n"


def made(experiments: int, algorithms: int = 3, ci95: float = 1.0) -> list[ExperimentData]:
    """Experiments e whose agents a have the score 10 e + a; one MDP if there is no interval."""
    noise = np.array([0.0]) if math.isnan(ci95) else np.array([-ci95, ci95]) / 2
    return [
        experiment(
            [
                summary(f"algorithm {a}", 10.0 * e + a + noise, 0.1, 10.0 ** (a % 6 - 7), epsilon=a)
                for a in range(algorithms)
            ],
            name=f"experiment {e}",
        )
        for e in range(experiments)
    ]


def rendered(experiments: list[ExperimentData]) -> bytes:
    buffer = io.BytesIO()
    score_against_online_time(experiments).savefig(buffer, format="png", dpi=40)
    return buffer.getvalue()


@pytest.mark.parametrize(("experiments", "algorithms"), [(1, 14), (4, 2)])
def test_figures_are_drawn(experiments: int, algorithms: int) -> None:
    assert rendered(made(experiments, algorithms)).startswith(PNG)


def test_a_score_without_an_interval() -> None:
    assert rendered(made(1, 2, math.nan)).startswith(PNG)


def test_each_experiment_has_a_panel_with_all_its_agents() -> None:
    figure = score_against_online_time(made(4, 3))
    panels = [axes for axes in figure.axes if axes.axison]
    assert [panel.get_title() for panel in panels] == [f"experiment {e}" for e in range(4)]
    for e, panel in enumerate(panels):
        points = {(c.lines[0].get_xdata()[0], c.lines[0].get_ydata()[0]) for c in panel.containers}  # type: ignore[attr-defined]
        assert points == {(10.0 ** (a - 7), 10.0 * e + a) for a in range(3)}
        assert panel.get_xscale() == "log"


def test_intervals_are_drawn() -> None:
    figure = score_against_online_time(made(1, 1, ci95=2.0))
    (bar,) = figure.axes[0].containers
    (segment,) = bar.lines[2][0].get_segments()  # type: ignore[attr-defined]
    assert segment[:, 1].tolist() == [-2, 2]


def test_axes_are_labelled() -> None:
    figure = score_against_online_time(made(4))
    labels = [axes.get_xlabel() for axes in figure.axes]
    # The fourth panel is below the first; the second and the third have nothing below them.
    assert [bool(label) for label in labels[:4]] == [False, True, True, True]
    assert figure.axes[0].get_ylabel() == "score (mean return)"


def test_the_legend_names_each_algorithm_once() -> None:
    (legend,) = score_against_online_time(made(3, 5)).legends
    assert [text.get_text() for text in legend.get_texts()] == [f"algorithm {a}" for a in range(5)]


def test_an_algorithm_looks_alike_with_all_its_parameters() -> None:
    agents = [summary(f"algorithm {i % 2}", np.ones(2), number=i) for i in range(4)]
    (legend,) = score_against_online_time([experiment(agents)]).legends
    assert len(legend.get_texts()) == 2


@pytest.mark.parametrize("number", [1, 8, 9, 20, 32])
def test_looks_are_distinct(number: int) -> None:
    styles = point_styles([str(i) for i in range(number)])
    assert len({(style["color"], style["marker"]) for style in styles.values()}) == number
