"""Drawings of problems: which transitions are possible, and which of them pay."""

import cmath
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from matplotlib.patheffects import withStroke
from numpy.typing import NDArray

from ..beliefs.base import Family
from ..errors import InvalidInput
from ..problems.maze import CELLS, FLAGS
from .figures import drawing
from .styles import COLOURS

_PLAIN, _REWARDED = COLOURS[0][0], COLOURS[1][0]

Places = NDArray[np.complex128]
"""The places [S] of states in the plane, as complex numbers; NaN for states that are not drawn."""


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


def columns(states: int) -> Places:
    """States in the columns of a square, each from below."""
    column, line = np.divmod(np.arange(states), math.isqrt(states - 1) + 1)
    return np.asarray(1.5 * (column + 1j * line))


def two_loops(states: int) -> Places:
    """State 0 in the middle, one half of the others on each side."""
    loop = circle(states // 2 + 1)
    loop -= loop[0]
    return np.concatenate([loop[:1], -loop[1:], loop[1:]])


def two_mazes(states: int) -> Places:
    """The maze without flags and, beside it, with all of them; a flag leads to one with a flag."""
    if states != len(CELLS) << len(FLAGS):  # another problem of this name
        return circle(states)
    places = np.full(states, np.nan, np.complex128)
    for cell, (line, column) in enumerate(CELLS):
        place = 1.5 * (column - 1j * line)
        places[len(CELLS) * FLAGS.get((line, column), 0) + cell] = place
        places[states - len(CELLS) + cell] = place + 13
    return places


# Places of the states of a problem; on a circle by default.
LAYOUTS: dict[str, Callable[[int], Places]] = {
    "GC": row,
    "GC-appendix": row,
    "GDL": two_loops,
    "Grid": square,
    "LongChain": row,
    "Grid5": columns,
    "Grid10": columns,
    "GoalGrid": square,
    "Chain": row,
    "Loop": two_loops,
    "Maze": two_mazes,
    "RiverSwim": row,
    "DeepSea": square,
}
MOST_DRAWN = 1500  # arrows; problems with more have no drawing
_MOST_REWARDS = 30  # arrows that pay; if there are more, only the highest reward is shown
_MOST_LABELS = 12  # arrows with a reward; if there are more, it stands in states where it can
_RADIUS = 0.3  # of a state's disc
_ROOMY = 40  # points per unit, with which a reward fits into a disc
_NEAR = 2.2  # arrows between states that are farther apart are bent more
_SHIFTS = (0, 0.05, -0.05, 0.1, -0.1, 0.15, -0.15)  # of a reward along its arrow, past discs
_HEAD = (5.0, 2.0)  # points; length and half the width of an arrow's head


class Arrow(NamedTuple):
    """The next states that some action makes possible."""

    state: int
    next_state: int
    reward: float  # the largest of all actions; 0 if it is not shown


class _Curve(NamedTuple):
    """A quadratic Bézier curve, and the place of its reward."""

    first: complex
    control: complex
    last: complex
    label: complex

    @property
    def middle(self) -> complex:
        """The point in its middle, which is farthest out."""
        return (self.first + 2 * self.control + self.last) / 4


def transitions(problem: Family) -> Figure:
    """The states of a problem, and an arrow for each transition that some action makes possible."""
    number = num_moves(problem)
    if number > MOST_DRAWN:
        name = problem.name or "the problem"
        raise InvalidInput(
            f"{name} has {number} possible moves between states: at most {MOST_DRAWN} can be drawn"
        )
    # As in `DeepSea:size=4` and `uniform:GC`.
    parts = problem.name.split(":")
    known = [LAYOUTS[part] for part in parts if part in LAYOUTS and "renumbered" not in parts]
    places = (known[0] if known else circle)(problem.num_states)
    arrows, arrivals = _with_arrivals(_arrows(problem, np.isfinite(places)))
    curves = _curves(arrows, places)
    points = np.concatenate([places[np.isfinite(places)], [c.middle for c in curves]])
    low, high = (
        np.array([edge(points.real), edge(points.imag)]) + room
        for edge, room in ((np.min, -0.9), (np.max, 0.9))
    )
    span = high - low
    inches = min(0.75, max(7, min(14, 0.4 * span.max())) / span.max())  # per unit
    with drawing():
        figure = Figure(figsize=tuple(span * inches))
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set_axis_off()
        axes.set(aspect="equal", xlim=(low[0], high[0]), ylim=(low[1], high[1]))
        _draw_states(axes, problem, places, arrivals, 72 * inches)
        _draw_arrows(axes, arrows, curves, 72 * inches)
    return figure


def num_moves(problem: Family) -> int:
    """The number of pairs of a state and a next state."""
    places = problem.frame.places
    states = places.pair // problem.num_actions
    return len(np.unique(states * problem.num_states + places.next_state))


def _arrows(problem: Family, is_drawn: NDArray[np.bool_]) -> list[Arrow]:
    """The arrows between states that are drawn."""
    best: dict[tuple[int, int], float] = {}
    places = problem.frame.places
    # Where MDPs differ in rewards, the expected ones are shown.
    rewards = (problem.known_rewards or problem.mean().rewards).mean.at(places)
    for pair, y, reward in zip(places.pair, places.next_state, rewards, strict=True):
        key = (int(pair) // problem.num_actions, int(y))
        if is_drawn[list(key)].all():
            best[key] = max(best.get(key, -math.inf), float(reward))
    if sum(reward != 0 for reward in best.values()) > _MOST_REWARDS:
        highest = max(best.values())
        best = {key: reward * (reward == highest) for key, reward in best.items()}
    return [Arrow(x, y, reward) for (x, y), reward in best.items()]


def _with_arrivals(arrows: list[Arrow]) -> tuple[list[Arrow], dict[int, float]]:
    """Arrows with few rewards; if many pay, what states pay for all arrows that end there."""
    if sum(arrow.reward != 0 for arrow in arrows) <= _MOST_LABELS:
        return arrows, {}
    rewards: dict[int, set[float]] = {}
    for arrow in arrows:
        rewards.setdefault(arrow.next_state, set()).add(arrow.reward)
    arrivals = {y: amount for y, (amount, *others) in rewards.items() if amount and not others}
    return [
        arrow._replace(reward=0.0) if arrow.next_state in arrivals else arrow for arrow in arrows
    ], arrivals


def _draw_states(
    axes: Axes, problem: Family, places: Places, arrivals: dict[int, float], scale: float
) -> None:
    """A disc per state, with its number and the amount that it pays; `scale` is points per unit."""
    states = np.flatnonzero(np.isfinite(places))
    axes.scatter(
        places[states].real,
        places[states].imag,
        s=(2 * _RADIUS * scale) ** 2,
        c=["#FFE9B0" if problem.start[state] > 0 else "white" for state in states],
        edgecolors=[_REWARDED if state in arrivals else "black" for state in states],
        linewidths=1,
        zorder=3,
    )
    style: Any = {"ha": "center", "va": "center", "zorder": 4}
    centre, has_room = places[states].mean(), scale > _ROOMY
    for state in states.tolist():
        x, y = places[state].real, places[state].imag
        up = 0.08 if state in arrivals and has_room else 0.0
        axes.text(x, y + up, str(state), fontsize=8, **style)
        if state not in arrivals:
            continue
        if has_room:
            axes.text(x, y - 0.12, _amount(arrivals[state]), fontsize=5, color=_REWARDED, **style)
        else:
            beside = 0.52j if y > centre.imag else -0.52j
            _write_reward(axes, places[state] + beside, arrivals[state])


def _draw_arrows(axes: Axes, arrows: list[Arrow], curves: list[_Curve], scale: float) -> None:
    """All arrows of a colour as one path, so that files are small, and their rewards."""
    for colour, width, pays in ((_PLAIN, 0.9, False), (_REWARDED, 1.4, True)):
        drawn = [
            (arrow.reward, curve)
            for arrow, curve in zip(arrows, curves, strict=True)
            if (arrow.reward != 0) == pays
        ]
        if not drawn:
            continue
        lines, heads = zip(*(_with_head(curve, scale) for _, curve in drawn), strict=True)
        line_style: Any = {"linewidth": width, "edgecolor": colour, "facecolor": "none"}
        head_style: Any = {"linewidth": 0, "facecolor": colour}
        for paths, style in ((lines, line_style), (heads, head_style)):
            # No update of limits, which is slow.
            axes.add_artist(PathPatch(Path.make_compound_path(*paths), **style))
        for reward, curve in drawn if pays else []:
            _write_reward(axes, curve.label, reward)


def _curves(arrows: list[Arrow], places: Places) -> list[_Curve]:
    """The curves of arrows."""
    drawn = places[np.isfinite(places)]
    centre = drawn.mean()
    return [
        _loop(places[x], centre) if x == y else _curve(places[x], places[y], drawn)
        for x, y, _ in arrows
    ]


def _curve(start: complex, end: complex, discs: Places) -> _Curve:
    """The part between two discs of a curve between their centres."""
    bend = 0.12 if abs(end - start) < _NEAR else 0.3
    right = -1j * (end - start)
    control = (start + end) / 2 + bend * right

    def at(t: float) -> complex:
        return (1 - t) ** 2 * start + 2 * t * (1 - t) * control + t**2 * end

    speed = 2 * abs(control - start)
    t, u = _RADIUS / speed, 1 - (_RADIUS + 0.03) / speed
    labels = (at(0.5 + shift) + 0.22 * right / abs(right) for shift in _SHIFTS)
    free = (label for label in labels if abs(discs - label).min() > _RADIUS + 0.2)
    label = next(free, at(0.5) + 0.22 * right / abs(right))
    return _Curve(*_bent(at(t), at(u), bend * (u - t)), label)


def _loop(place: complex, centre: complex) -> _Curve:
    """From a state to itself, on the side away from the centre."""
    across = -1 if place.real < centre.real else 1
    up = -1 if place.imag < centre.imag else 1
    away = complex(across, up) / math.sqrt(2)
    first, last = (place + _RADIUS * away * cmath.exp(side * 0.55j) for side in (1, -1))
    return _Curve(*_bent(first, last, -1.6), place + 0.75 * away)


def _bent(first: complex, last: complex, bend: float) -> tuple[complex, complex, complex]:
    return first, (first + last) / 2 - 1j * bend * (last - first), last


def _with_head(curve: _Curve, scale: float) -> tuple[Path, Path]:
    """A curve up to the head of its arrow, and the head."""
    first, control, last, _ = curve
    length, half = _HEAD[0] / scale, _HEAD[1] / scale
    along = (last - control) / abs(last - control)
    base = last - length * along
    line = Path(_xy(first, control, base), [Path.MOVETO, Path.CURVE3, Path.CURVE3])
    return line, Path(
        _xy(last, base + 1j * half * along, base - 1j * half * along, last), closed=True
    )


def _xy(*points: complex) -> NDArray[np.float64]:
    return np.array([(point.real, point.imag) for point in points])


def _write_reward(axes: Axes, place: complex, reward: float) -> None:
    axes.text(
        place.real,
        place.imag,
        _amount(reward),
        color=_REWARDED,
        fontsize=8,
        ha="center",
        va="center",
        zorder=5,
        path_effects=[withStroke(linewidth=2, foreground="white")],
    )


def _amount(reward: float) -> str:
    return f"{reward:+.3g}"
