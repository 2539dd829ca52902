"""Learning curves: what agents have gained after each decision."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..mdps.sparse import Floats
from ..results.learning import so_far, with_intervals
from ..results.result import Result
from .data import REFERENCE
from .figures import PLAIN, WIDTH, Looks, Picture, drawing, legend_above, styles_of_agents, wrapped
from .words import bound_sentence

_LINE = 44  # characters of a name per line


def learning_curves(results: Sequence[Result], bound: float | None = None) -> Figure:
    """The discounted reward so far, and the regret if the optimal agent is among the results.

    The bound, if there is one, is what no agent can pass; its regret is the least in the end.
    """
    looks = styles_of_agents({result.label: result.algorithm for result in results})
    optimal = next((each for each in results if each.algorithm == REFERENCE), None)
    with drawing():
        figure = Picture(figsize=(WIDTH, 3.4), layout="constrained")
        panels = figure.subplots(1, 1 if optimal is None else 2, squeeze=False)[0]
        for result in results:
            _draw(panels[0], so_far(result), result.label, looks)
            if optimal is not None and result is not optimal:
                _draw(panels[1], so_far(optimal) - so_far(result), result.label, looks)
        panels[0].set_ylabel("discounted reward so far")
        if optimal is not None:
            panels[1].set_ylabel(f"regret: {REFERENCE} minus agent")
        if bound is not None:
            _draw_bound(panels, bound, optimal)
        for panel in panels:
            panel.set_xlabel("decision")
            panel.grid(alpha=0.25)
            panel.margins(x=0)
        handles, names = panels[0].get_legend_handles_labels()
        legend_above(figure, handles, [wrapped(name, _LINE) for name in names])
    return figure


def _draw_bound(panels: Sequence[Axes], bound: float, optimal: Result | None) -> None:
    look: Any = {"color": PLAIN, "linestyle": ":", "linewidth": 1}
    panels[0].axhline(bound, **look, label=bound_sentence(bound))
    if optimal is not None:
        panels[1].axhline(optimal.mean - bound, **look)


def _draw(panel: Axes, curves: Floats, label: str, looks: Looks) -> None:
    """The mean of curves [N, T], with a band of two standard errors."""
    decisions = np.arange(1, curves.shape[1] + 1)
    mean, width = with_intervals(curves)
    look = looks[label]
    every = max(1, len(decisions) // 8)
    panel.plot(decisions, mean, **look, markersize=4, markevery=every, linewidth=1.2, label=label)
    if len(curves) > 1:
        panel.fill_between(
            decisions, mean - width, mean + width, color=look["color"], alpha=0.15, linewidth=0
        )
