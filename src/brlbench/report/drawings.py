"""Drawings of problems: which transitions are possible, and which of them pay."""

import cmath
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyArrowPatch
from matplotlib.patheffects import withStroke
from numpy.typing import NDArray

from ..errors import InvalidInput
from ..mdps.dirichlet import FlatDirichlet
from .figures import drawing
from .styles import COLOURS

_PLAIN, _REWARDED = COLOURS[0][0], COLOURS[1][0]

Places = NDArray[np.complex128]
"""The places [S] of states in the plane, as complex numbers."""


def row(states: int) -> Places:
    """States in a row."""
    return np.asarray(1.5 * np.arange(states), np.complex128)


def circle(states: int) -> Places:
    """States on a circle, clockwise from the left."""
    angles = np.pi - 2 * np.pi * np.arange(states) / states
    return np.asarray(np.exp(1j * angles) * max(1.0, states / 4))


def square(states: int) -> Places:
    """States in the lines of a square."""
    lines, columns = np.divmod(np.arange(states), math.isqrt(states - 1) + 1)
    return np.asarray(1.5 * (columns - 1j * lines))


def two_loops(states: int) -> Places:
    """State 0 in the middle, one half of the others on each side."""
    loop = circle(states // 2 + 1)
    loop -= loop[0]
    return np.concatenate([loop[:1], -loop[1:], loop[1:]])


# Places of the states of a problem; on a circle by default.
LAYOUTS: dict[str, Callable[[int], Places]] = {
    "GC": row,
    "GC-appendix": row,
    "GDL": two_loops,
    "Grid": square,
    "LongChain": row,
    "Chain": row,
    "Loop": two_loops,
    "RiverSwim": row,
    "DeepSea": square,
}
MOST_DRAWN = 1500  # possible transitions; problems with more have no drawing
_MOST_REWARDS = 30  # arrows that pay; if there are more, only the highest reward is shown
_RADIUS = 0.3  # of a state's disc
_NEAR = 2.2  # arrows between states that are farther apart are bent more


def transitions(problem: FlatDirichlet) -> Figure:
    """The states of a problem, and an arrow for each transition that some action makes possible."""
    number = len(problem.counts.values)
    if number > MOST_DRAWN:
        name = problem.name or "the problem"
        raise InvalidInput(
            f"{name} has {number} possible transitions: at most {MOST_DRAWN} can be drawn"
        )
    # As in `DeepSea:size=4` and `uniform:GC`.
    known = [LAYOUTS[part] for part in problem.name.split(":") if part in LAYOUTS]
    places = (known[0] if known else circle)(problem.num_states)
    points = np.stack([places.real, places.imag], axis=1)
    size = np.ptp(points, axis=0)
    low, high = points.min(axis=0) - 0.9, points.max(axis=0) + 0.9
    high[1] += max(0.0, 0.15 * size[0] - size[1])  # room for arrows that are bent upwards
    span = high - low
    with drawing():
        figure = Figure(figsize=tuple(span * min(0.75, 7 / span.max())))
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set_axis_off()
        axes.set(aspect="equal", xlim=(low[0], high[0]), ylim=(low[1], high[1]))
        for state, (x, y) in enumerate(points):
            colour = "#FFE9B0" if problem.start[state] > 0 else "white"
            axes.add_patch(Circle((x, y), _RADIUS, facecolor=colour, edgecolor="black", zorder=3))
            axes.text(x, y, str(state), ha="center", va="center", zorder=4, fontsize=8)
        for state, following, reward in _arrows(problem):
            if state == following:
                _draw_loop(axes, places[state], places.mean(), reward)
            else:
                _draw_arrow(axes, places[state], places[following], reward)
    return figure


def _arrows(problem: FlatDirichlet) -> list[tuple[int, int, float]]:
    """State, next state and the reward shown: the largest of all actions between them."""
    best: dict[tuple[int, int], float] = {}
    rewards = problem.rewards.mean.at(problem.counts)
    for pair, y, reward in zip(
        problem.counts.pair, problem.counts.next_state, rewards, strict=True
    ):
        key = (int(pair) // problem.num_actions, int(y))
        best[key] = max(best.get(key, -math.inf), float(reward))
    if sum(reward != 0 for reward in best.values()) > _MOST_REWARDS:
        highest = max(best.values())
        best = {key: reward * (reward == highest) for key, reward in best.items()}
    return [(x, y, reward) for (x, y), reward in best.items()]


def _draw_arrow(axes: Axes, start: complex, end: complex, reward: float) -> None:
    """The part between two discs of a quadratic Bézier curve between their centres."""
    bend = 0.12 if abs(end - start) < _NEAR else 0.3
    middle, right = (start + end) / 2, -1j * (end - start)
    control = middle + bend * right
    speed = 2 * abs(control - start)
    t, u = _RADIUS / speed, 1 - (_RADIUS + 0.03) / speed
    first, last = ((1 - x) ** 2 * start + 2 * x * (1 - x) * control + x**2 * end for x in (t, u))
    label = middle + right * (bend / 2 + 0.22 / abs(right))
    _draw(axes, first, last, bend * (u - t), label, reward)


def _draw_loop(axes: Axes, place: complex, centre: complex, reward: float) -> None:
    """From a state to itself, on the side away from the centre."""
    across = -1 if place.real < centre.real else 1
    up = -1 if place.imag < centre.imag else 1
    away = complex(across, up) / math.sqrt(2)
    first, last = (place + _RADIUS * away * cmath.exp(side * 0.55j) for side in (1, -1))
    _draw(axes, first, last, -1.6, place + 0.75 * away, reward)


def _draw(
    axes: Axes, first: complex, last: complex, bend: float, label: complex, reward: float
) -> None:
    """An arrow, and its reward beside it if there is one."""
    ends = ((first.real, first.imag), (last.real, last.imag))
    colour, width = (_REWARDED, 1.4) if reward else (_PLAIN, 0.9)
    style: Any = {"color": colour, "linewidth": width, "arrowstyle": "-|>", "mutation_scale": 8}
    curve = f"arc3,rad={bend}"
    # No patches to clip it, no shrinking, no update of limits: all of these are slow.
    axes.add_artist(FancyArrowPatch(*ends, connectionstyle=curve, shrinkA=0, shrinkB=0, **style))
    if reward:
        axes.text(
            label.real,
            label.imag,
            f"{reward:+.3g}",
            color=_REWARDED,
            fontsize=8,
            ha="center",
            va="center",
            zorder=5,
            path_effects=[withStroke(linewidth=2, foreground="white")],
        )
