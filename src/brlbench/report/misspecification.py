"""How scores fall as the prior gets worse: one line per algorithm, in experiments on the same MDPs.

A prior is made from the accurate one, the test distribution, in two ways: `mixed:0.25:GC` takes a
share of each count from the uniform prior, and `scaled:10:GC` multiplies all counts by a factor.
"""

import json
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..analysis.scores import normalised
from ..errors import InvalidInput
from ..protocol.score import Score
from ..protocol.summary import Summary
from .data import REFERENCE, ExperimentData
from .figures import (
    PLAIN,
    WIDTH,
    Looks,
    Picture,
    drawing,
    legend_above,
    settle,
    write_title,
)
from .looks import Look, looks_of

_BY_PRIOR = ("name", "prior", "prior_digest", "deadline")  # settings that MDPs do not depend on
BLIND = ("random", REFERENCE)  # algorithms that don't look at the prior
_PANEL = 2.6  # inches
_DASHES = ("-", "--", ":", "-.")


@dataclass(frozen=True, eq=False)
class Change:
    """A way in which priors differ from the accurate one, by a number."""

    name: str  # the prefix
    none: float  # the number that leaves the accurate prior as it is
    axis: str
    ends: dict[float, str]  # names of some numbers


MIXED = Change("mixed", 0.0, "share λ of uniform counts", {0.0: "accurate", 1.0: "uniform"})
SCALED = Change("scaled", 1.0, "factor κ of all counts", {1.0: "accurate"})


class Scale(NamedTuple):
    """Scores of agents between which others are."""

    random: float
    top: float
    name: str  # of the top


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
    def kept(self) -> dict[str, dict[float, Summary]]:
        """Each algorithm's agent with the best score in the reference, in all experiments."""
        best: dict[str, Summary] = {}
        for each in self.reference.summaries:
            other = best.setdefault(each.algorithm, each)
            if each.score.mean > other.score.mean:
                best[each.algorithm] = each
        return {
            algorithm: {
                number: found
                for number, experiment in self.experiments.items()
                for found in experiment.summaries
                if found.full_label == chosen.full_label
            }
            for algorithm, chosen in best.items()
        }

    @cached_property
    def scale(self) -> Scale | None:
        """Where 0 and 1 are, if that is known. No prior matters to it: one experiment will do."""
        found = (self.reference, *self.experiments.values())
        random, optimal = (
            next((value for each in found if (value := each.score_of(name)) is not None), None)
            for name in BLIND
        )
        bound = self.reference.upper_bound
        top = optimal if bound is None else bound
        if random is None or top is None or not random < top:
            return None
        return Scale(random, top, REFERENCE if bound is None else "bound")

    def on_scale(self, score: Score) -> Score:
        """A score on the scale, or as it is where none is known."""
        if self.scale is None:
            return score
        low, high = self.scale.random, self.scale.top
        return Score(normalised(score.mean, low, high), score.ci95 / (high - low))


def families(experiments: Iterable[ExperimentData], change: Change) -> list[Family]:
    """The experiments that differ in nothing but such a change of the prior, two or more each."""
    found: dict[str, dict[float, ExperimentData]] = {}
    for experiment in experiments:
        number = _number(experiment, change)
        if number is not None:
            same = {k: v for k, v in experiment.settings.items() if k not in _BY_PRIOR}
            found.setdefault(json.dumps(same, sort_keys=True), {})[number] = experiment
    return [
        Family(change, dict(sorted(family.items()))) for family in found.values() if len(family) > 1
    ]


def _number(experiment: ExperimentData, change: Change) -> float | None:
    """The number by which a prior is changed, if it is changed in this way or not at all."""
    prior, test = experiment.settings["prior"], experiment.settings["test"]
    if experiment.accurate:
        return change.none
    if change is MIXED and prior == f"uniform:{test}":
        return 1.0
    found = re.fullmatch(rf"{change.name}:([\d.e+-]+):{re.escape(test)}", prior)
    with suppress(ValueError):  # a name that a user gave
        return float(found[1]) if found else None
    return None


def misspecification(
    experiments: Sequence[ExperimentData], algorithms: Iterable[str] | None = None
) -> Figure:
    """Scores with 95% bands against the change of the prior: a column per problem, a row per way.

    Each algorithm is shown by its agent with the best score at the accurate prior, at all priors.
    """
    rows = [found for change in (MIXED, SCALED) if (found := families(experiments, change))]
    if not rows:
        raise InvalidInput(
            "no two experiments differ in a changed prior alone: play the same MDPs with the "
            "accurate prior and with others, such as mixed:0.25:GC or scaled:10:GC for GC"
        )
    played = {each for row in rows for family in row for each in family.kept} - set(BLIND)
    shown = sorted(played if algorithms is None else played.intersection(algorithms))
    if not shown:
        raise InvalidInput(
            "there are no algorithms to show: must be some that were played with the accurate "
            f"prior ({', '.join(sorted(played)) or 'none was'})"
        )
    looks = {name: _line(look) for name, look in looks_of(shown).items()}
    columns = max(map(len, rows))
    with drawing():
        size = (max(WIDTH, 0.8 + _PANEL * columns), 0.8 + _PANEL * len(rows))
        figure = Picture(figsize=size, layout="constrained")
        panels = figure.subplots(len(rows), columns, squeeze=False)
        for panel_row, row in zip(panels, rows, strict=True):
            for panel, family in zip(panel_row, row, strict=False):
                _draw(panel, family, looks)
            for panel in panel_row[len(row) :]:
                panel.set_axis_off()
            if all(family.scale for family in row):
                _share_limits(panel_row[: len(row)])
            panel_row[0].set_ylabel(_what(row))
        handles, names = panels[0, 0].get_legend_handles_labels()
        legend_above(figure, handles, names)
        settle(figure)
    return figure


def _line(look: Look) -> dict[str, Any]:
    """How an algorithm's line is drawn; those of one colour differ in dashes."""
    return {**look.points, "linestyle": _DASHES[look.hatch % len(_DASHES)]}


def _share_limits(panels: Sequence[Axes]) -> None:
    """Give panels the same vertical limits, each with its own ticks."""
    limits = [panel.get_ylim() for panel in panels]
    for panel in panels:
        panel.set_ylim(min(low for low, _ in limits), max(high for _, high in limits))


def _what(row: Sequence[Family]) -> str:
    """What the scores of some problems are."""
    tops = sorted({family.scale.name for family in row if family.scale})
    return f"score (0: random, 1: {' or '.join(tops)})" if tops else "mean discounted return"


def _draw(panel: Axes, family: Family, looks: Looks) -> None:
    """One problem: a line per algorithm; the numbers of the priors are evenly spaced."""
    numbers = list(family.experiments)
    for algorithm, look in looks.items():
        kept = family.kept.get(algorithm, {})
        scores = [family.on_scale(each.score) for each in kept.values()]
        places = [numbers.index(number) for number in kept]
        low, high = ([s.mean + side * s.ci95 for s in scores] for side in (-1, 1))
        panel.plot(places, [s.mean for s in scores], **look, markersize=4, linewidth=1.2,
                   label=algorithm)  # fmt: skip
        panel.fill_between(places, low, high, color=look["color"], alpha=0.13, linewidth=0)
    ends = family.change.ends
    panel.set_xticks(
        range(len(numbers)), [f"{n:g}\n{ends[n]}" if n in ends else f"{n:g}" for n in numbers]
    )
    if family.scale:
        panel.axhline(0, color=PLAIN, linestyle=":", linewidth=1)
    panel.set_xlabel(family.change.axis)
    panel.grid(alpha=0.25)
    write_title(panel, family.reference.settings["test"])
