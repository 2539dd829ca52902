"""Published scores beside ours, against our time per decision."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from brlbench.report.axes import LogAxis
from brlbench.report.figures import drawing, render
from brlbench.report.loading import load
from brlbench.report.styles import PointStyles, point_styles
from brlbench.report.words import bound_sentence

from .page import ARITHMETIC, MORE, RESULTS
from .published import WITH_DEFECTS
from .verdicts import Compared, compare_rows


def draw() -> bytes:
    """The figure as a PNG file: one panel per experiment, one point per algorithm."""
    experiments = load(RESULTS).experiments
    more, arithmetic = (load(path).experiments for path in (MORE, ARITHMETIC))
    compared = compare_rows(experiments, more, arithmetic)
    styles = point_styles(list(dict.fromkeys(each.row.algorithm for each in compared)))
    log = LogAxis.of(each.ours.seconds["processor"] for each in compared)
    with drawing():
        figure = Figure(figsize=(9.5, 5.6), layout="constrained")
        for axes, experiment in zip(figure.subplots(2, 3).flat, experiments, strict=True):
            log.set_up(axes, "x", ticks=6)
            for each in compared:
                if each.row.is_of(experiment):
                    _draw_row(axes, each, styles)
            axes.set_title(experiment.name, loc="left", fontsize=10)
            axes.set_xlabel(bound_sentence(experiment.upper_bound), loc="right", fontsize=7)
            axes.tick_params(axis="x", labelsize=7)
            axes.grid(alpha=0.25)
        figure.supxlabel("processor time per decision (log scale)", fontsize=9)
        figure.supylabel("mean discounted return", fontsize=9)
        figure.legend(handles=_legend(styles), loc="outside right upper", alignment="left")
    return render(figure, ".png")


def _draw_row(axes: Axes, each: Compared, styles: PointStyles) -> None:
    time, style = each.ours.seconds["processor"], styles[each.row.algorithm]
    axes.errorbar(time, *each.ours.score, markersize=6, capsize=2, linewidth=1, **style)
    published = each.row.score.mean
    axes.plot(
        time * 1.25, published, markersize=6, markerfacecolor="none", linestyle="none", **style
    )


def _legend(styles: PointStyles) -> list[Line2D]:
    return [
        *(
            Line2D(
                [],
                [],
                linestyle="none",
                label=f"{name} †" if name in WITH_DEFECTS else name,
                **style,
            )
            for name, style in styles.items()
        ),
        Line2D([], [], linestyle="none", label=""),
        Line2D([], [], linestyle="none", marker="o", color="0.3", label="brlbench, 95% interval"),
        Line2D(
            [],
            [],
            linestyle="none",
            marker="o",
            color="0.3",
            markerfacecolor="none",
            label="the paper",
        ),
        Line2D([], [], linestyle="none", label="† published with\n   a defect"),
    ]
