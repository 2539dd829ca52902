"""Scores against the error of the prior: one line per algorithm, in experiments on the same MDPs.

A prior is made from the accurate one, the test distribution, in three ways: `mixed:0.25:GC` takes a
share of each count from the uniform prior, `scaled:10:GC` multiplies all counts by a factor, and
`RandomMDP:mean=0` expects other rewards.
"""

import json
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..errors import InvalidInput
from ..results.score import Score
from ..results.summary import Summary
from .data import RANDOM, REFERENCE, ExperimentData, Scale
from .figures import (
    PLAIN,
    WIDTH,
    Picture,
    draw_line,
    drawing,
    fix_layout,
    legend_above,
    write_title,
)
from .styles import PointStyles, line_styles
from .words import score_axis

_BY_PRIOR = ("name", "prior", "prior_digest", "deadline")  # settings that MDPs do not depend on
BLIND = (RANDOM, REFERENCE)  # algorithms that don't look at the prior
_PANEL = 2.6  # inches


@dataclass(frozen=True, eq=False)
class Change:
    """A way in which priors differ from the accurate one, by a number."""

    prior: str  # the prior's name, with its number and the test distribution's name
    none: float  # the number that leaves the accurate prior as it is
    axis: str
    ends: dict[float, str]  # names of some numbers


MIXED = Change(
    "mixed:{number}:{test}",
    0.0,
    "share λ of uniform counts",
    {0.0: "accurate", 1.0: "uniform"},
)
SCALED = Change("scaled:{number}:{test}", 1.0, "factor κ of all counts", {1.0: "accurate"})
EXPECTED = Change("{test}:mean={number}", 1.0, "expected reward μ", {1.0: "accurate"})
CHANGES = (MIXED, SCALED, EXPECTED)


@dataclass(frozen=True, eq=False)
class Family:
    """Experiments on the same MDPs, whose priors are changed in one way."""

    change: Change
    experiments: dict[float, ExperimentData]  # by the number, increasing

    @property
    def reference(self) -> ExperimentData:
        """The experiment with the accurate prior, or the one closest to it."""
        nearest = min(self.experiments, key=lambda number: abs(number - self.change.none))
        return self.experiments[nearest]

    @cached_property
    def lines(self) -> dict[str, dict[float, Summary]]:
        """Each algorithm's agent with the best score in the reference, in all experiments."""
        best: dict[str, Summary] = {}
        for each in sorted(self.reference.summaries, key=lambda each: -each.score.mean):
            best.setdefault(each.algorithm, each)
        return {
            algorithm: {
                number: each
                for number, experiment in self.experiments.items()
                for each in experiment.summaries
                if each.full_label == chosen.full_label
            }
            for algorithm, chosen in best.items()
        }

    @cached_property
    def scale(self) -> Scale | None:
        """The scores that are 0 and 1, from any experiment that has them: no prior changes them."""
        ends = {
            name: score
            for each in (*self.experiments.values(), self.reference)
            for name, score in zip(BLIND, (each.random, each.score_of(REFERENCE)), strict=True)
            if score is not None
        }
        random, optimal = map(ends.get, BLIND)
        scale = Scale.between(random, optimal, self.reference.upper_bound)
        return scale if scale and scale.rises else None

    @property
    def top(self) -> str:
        """The name of the score that is 1."""
        return REFERENCE if self.reference.upper_bound is None else "bound"

    def on_scale(self, score: Score) -> Score:
        """A score on the scale, or as it is where none is known."""
        return score if self.scale is None else self.scale.with_interval(score)


def families(experiments: Iterable[ExperimentData], change: Change) -> list[Family]:
    """The experiments that differ in nothing but such a change of the prior, two or more each."""
    by_settings: dict[str, dict[float, ExperimentData]] = {}
    for experiment in experiments:
        number = _number(experiment, change)
        if number is not None:
            same = {k: v for k, v in experiment.settings.items() if k not in _BY_PRIOR}
            by_settings.setdefault(json.dumps(same, sort_keys=True), {})[number] = experiment
    return [
        Family(change, dict(sorted(family.items())))
        for family in by_settings.values()
        if len(family) > 1
    ]


def _number(experiment: ExperimentData, change: Change) -> float | None:
    """The number by which a prior is changed, if it is changed in this way or not at all."""
    prior, test = experiment.settings["prior"], experiment.settings["test"]
    if experiment.accurate:
        return change.none
    if change is MIXED and prior == f"uniform:{test}":
        return 1.0
    pattern = change.prior.format(number=r"([\d.e+-]+)", test=re.escape(test))
    match = re.fullmatch(pattern, prior)
    with suppress(ValueError):  # a name that a user gave
        return float(match[1]) if match else None
    return None


def misspecification(
    experiments: Sequence[ExperimentData], algorithms: Iterable[str] | None = None
) -> Figure:
    """Scores with 95% bands against the change of the prior: a column per problem, a row per way.

    Each algorithm is shown by its agent with the best score at the accurate prior, at all priors.
    """
    rows = [row for change in CHANGES if (row := families(experiments, change))]
    if not rows:
        raise InvalidInput(
            "no two experiments differ in a changed prior alone: play the same MDPs with the "
            "accurate prior and with others, such as mixed:0.25:GC or scaled:10:GC for GC"
        )
    known = {name for row in rows for family in row for name in family.lines} - set(BLIND)
    shown = sorted(known if algorithms is None else known.intersection(algorithms))
    if not shown:
        raise InvalidInput(
            "there are no algorithms to show: must be some that were played with the accurate "
            f"prior ({', '.join(sorted(known)) or 'none was'})"
        )
    styles = line_styles({name: name for name in shown})
    columns = max(map(len, rows))
    with drawing():
        size = (max(WIDTH, 0.8 + _PANEL * columns), 0.8 + _PANEL * len(rows))
        figure = Picture(figsize=size, layout="constrained")
        panels = figure.subplots(len(rows), columns, squeeze=False)
        for panel_row, row in zip(panels, rows, strict=True):
            for panel, family in zip(panel_row, row, strict=False):
                _draw(panel, family, styles)
            for panel in panel_row[len(row) :]:
                panel.set_axis_off()
            if all(family.scale for family in row):  # the same limits, each with its own ticks
                lows, highs = zip(
                    *(panel.get_ylim() for panel in panel_row[: len(row)]), strict=True
                )
                for panel in panel_row[: len(row)]:
                    panel.set_ylim(min(lows), max(highs))
            tops = " or ".join(sorted({family.top for family in row if family.scale}))
            scale = f"score (0: random, 1: {tops})"
            plain = score_axis([family.reference for family in row])
            panel_row[0].set_ylabel(scale if tops else plain)
        handles, names = panels[0, 0].get_legend_handles_labels()
        legend_above(figure, handles, names)
        fix_layout(figure)
    return figure


def _draw(panel: Axes, family: Family, styles: PointStyles) -> None:
    """One problem: a line per algorithm; the numbers of the priors are evenly spaced."""
    numbers = list(family.experiments)
    for algorithm, style in styles.items():
        line = family.lines.get(algorithm, {})
        scores = [family.on_scale(each.score) for each in line.values()]
        places = [numbers.index(number) for number in line]
        draw_line(panel, places, *np.reshape(scores, (-1, 2)).T, **style, label=algorithm)
    ends = family.change.ends
    panel.set_xticks(
        range(len(numbers)), [f"{n:g}\n{ends[n]}" if n in ends else f"{n:g}" for n in numbers]
    )
    if family.scale:
        panel.axhline(0, color=PLAIN, linestyle=":", linewidth=1)
    panel.set_xlabel(family.change.axis)
    panel.grid(alpha=0.25)
    write_title(panel, family.reference.settings["test"])
