"""Figures: tables in, matplotlib figures out."""

import math

import polars as pl
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import EngFormatter

# Okabe and Ito's colours, which people with any kind of colour vision can tell apart.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#B8A800")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")


def styles(algorithms: list[str]) -> dict[str, dict[str, str]]:
    """A colour and a marker for each algorithm; no pair is used twice."""
    return {
        name: {
            "color": _COLOURS[i % len(_COLOURS)],
            "marker": _MARKERS[(i + i // len(_COLOURS)) % len(_MARKERS)],
        }
        for i, name in enumerate(algorithms)
    }


def score_against_online_time(summary: pl.DataFrame) -> Figure:
    """Scores with 95% intervals against the mean time of a decision, a panel an experiment."""
    experiments = summary["experiment"].unique(maintain_order=True).to_list()
    looks = styles(summary["algorithm"].unique(maintain_order=True).to_list())
    columns = min(3, len(experiments))
    rows = math.ceil(len(experiments) / columns)
    figure = Figure(figsize=(4.2 * columns, 3.1 * rows + 0.9), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False)
    for panel, experiment in zip(panels.flat, experiments, strict=False):
        part = summary.filter(pl.col("experiment") == experiment)
        for row in part.iter_rows(named=True):
            panel.errorbar(
                row["online_seconds"], row["mean"], row["ci95"],
                **looks[row["algorithm"]], markersize=6, capsize=2, linewidth=1,
            )  # fmt: skip
        panel.set_xscale("log")
        panel.xaxis.set_major_formatter(EngFormatter(unit="s", sep=" "))
        panel.xaxis.set_minor_formatter("")
        panel.set_title(experiment)
        panel.grid(alpha=0.3)
    for panel in panels.flat[len(experiments) :]:
        panel.set_axis_off()
    for panel in panels[:, 0]:
        panel.set_ylabel("mean discounted return")
    for column in range(columns):
        lowest = max(row for row in range(rows) if row * columns + column < len(experiments))
        panels[lowest, column].set_xlabel("online time a decision (log scale)")
    handles = [Line2D([], [], linestyle="", **look, label=name) for name, look in looks.items()]  # type: ignore[arg-type]
    figure.legend(handles=handles, loc="outside lower center", ncols=min(6, len(handles)))
    return figure
