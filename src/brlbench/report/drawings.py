"""Drawings of problems: which transitions are possible, and which of them pay."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyArrowPatch
from matplotlib.patheffects import withStroke

from ..errors import InvalidInput
from ..mdps.dirichlet import FlatDirichlet
from ..mdps.sparse import Floats
from .figures import drawing
from .styles import COLOURS

_PLAIN, _REWARDED = COLOURS[0][0], COLOURS[1][0]


def row(states: int) -> Floats:
    """States in a row."""
    return np.stack([1.5 * np.arange(states), np.zeros(states)], axis=1)


def circle(states: int) -> Floats:
    """States on a circle, clockwise from the left."""
    angle = np.pi - 2 * np.pi * np.arange(states) / states
    return np.stack([np.cos(angle), np.sin(angle)], axis=1) * max(1.0, states / 4)


def square(states: int) -> Floats:
    """States in the lines of a square."""
    width = math.isqrt(states - 1) + 1
    lines, columns = np.divmod(np.arange(states), width)
    return np.stack([1.5 * columns, -1.5 * lines], axis=1)


def two_loops(states: int) -> Floats:
    """State 0 in the middle, one half of the others on each side."""
    loop = circle(states // 2 + 1)
    loop -= loop[0]
    return np.concatenate([loop[:1], -loop[1:], loop[1:]])


# Places of the states of a problem; on a circle by default.
LAYOUTS: dict[str, Callable[[int], Floats]] = {
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
    size = np.ptp(places, axis=0)
    low, high = places.min(axis=0) - 0.9, places.max(axis=0) + 0.9
    high[1] += max(0.0, 0.15 * size[0] - size[1])  # room for arrows that are bent upwards
    span = high - low
    with drawing():
        figure = Figure(figsize=tuple(span * min(0.75, 7 / span.max())), layout="constrained")
        axes = figure.subplots()
        axes.set_axis_off()
        axes.set_aspect("equal")
        discs = [
            Circle(
                tuple(place),
                _RADIUS,
                facecolor="#FFE9B0" if start > 0 else "white",
                edgecolor="black",
                zorder=3,
            )
            for place, start in zip(places, problem.start, strict=True)
        ]
        for state, disc in enumerate(discs):
            axes.add_patch(disc)
            x, y = disc.center
            axes.text(x, y, str(state), ha="center", va="center", zorder=4, fontsize=8)
        for state, following, reward in _arrows(problem):
            if state == following:
                _draw_loop(axes, discs[state], reward, places.mean(axis=0))
            else:
                _draw_arrow(axes, discs[state], discs[following], reward)
        axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
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


def _draw_arrow(axes: Axes, one: Circle, other: Circle, reward: float) -> None:
    start, end = np.array(one.center), np.array(other.center)
    distance = float(np.linalg.norm(end - start))
    right = np.array([end[1] - start[1], start[0] - end[0]]) / distance
    bend = 0.12 if distance < _NEAR else 0.3
    arrow = FancyArrowPatch(
        one.center,
        other.center,
        patchA=one,
        patchB=other,
        shrinkA=0,
        shrinkB=1,
        connectionstyle=f"arc3,rad={bend}",
        **_arrow_style(reward),
    )
    axes.add_patch(arrow)
    _write_reward(axes, (start + end) / 2 + right * (distance * bend / 2 + 0.22), reward)


def _draw_loop(axes: Axes, disc: Circle, reward: float, centre: Floats) -> None:
    """From a state to itself, on the side away from the middle."""
    place = np.array(disc.center)
    away = np.where(place < centre, -1.0, 1.0) / math.sqrt(2)
    first, last = (place + _RADIUS * _turned(away, angle) for angle in (0.55, -0.55))
    arrow = FancyArrowPatch(
        tuple(first),
        tuple(last),
        connectionstyle="arc3,rad=-1.6",
        shrinkA=0,
        shrinkB=0,
        **_arrow_style(reward),
    )
    axes.add_patch(arrow)
    _write_reward(axes, place + 0.75 * away, reward)


def _arrow_style(reward: float) -> dict[str, Any]:
    colour, width = (_REWARDED, 1.4) if reward else (_PLAIN, 0.9)
    return {"color": colour, "linewidth": width, "arrowstyle": "-|>", "mutation_scale": 8}


def _write_reward(axes: Axes, place: Floats, reward: float) -> None:
    if reward:
        axes.text(
            place[0],
            place[1],
            f"{reward:+.3g}",
            color=_REWARDED,
            fontsize=8,
            ha="center",
            va="center",
            zorder=5,
            path_effects=[withStroke(linewidth=2, foreground="white")],
        )


def _turned(vector: Floats, angle: float) -> Floats:
    cos, sin = math.cos(angle), math.sin(angle)
    return np.array([cos * vector[0] - sin * vector[1], sin * vector[0] + cos * vector[1]])
