"""Drawings show each possible move once, and few elements."""

from collections import Counter

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from brlbench.problems import distribution
from brlbench.report.drawings import num_moves, transitions


def curves(figure: Figure) -> np.ndarray:
    """The points [n, 3, 2] of all arrows: start, control point and end."""
    [axes] = figure.axes
    paths = [patch.get_path() for patch in axes.patches if isinstance(patch, PathPatch)]
    curved = [path for path in paths if np.asarray(path.codes)[1] == Path.CURVE3]
    return np.concatenate([np.asarray(path.vertices) for path in curved]).reshape(-1, 3, 2)


def texts(figure: Figure) -> Counter[str]:
    [axes] = figure.axes
    return Counter(text.get_text() for text in axes.texts)


@pytest.mark.parametrize(
    "name",
    ["GC", "Grid10", "GoalGrid:size=4", "Garnet", "Chain:prior=full", "renumbered:7:Grid"],
)
def test_every_move_is_an_arrow(name: str) -> None:
    problem = distribution(name)
    figure = transitions(problem)
    assert len(curves(figure)) == num_moves(problem)
    assert {str(state) for state in range(problem.num_states)} <= texts(figure).keys()
    assert len(figure.axes[0].get_children()) < 2.5 * problem.num_states + 30


def test_rewards_of_many_arrows_stand_in_states() -> None:
    """A goal may be in 21 cells; 100 arrows end there."""
    shown = texts(transitions(distribution("GoalGrid")))
    assert shown["+0.0476"] == 21
    assert texts(transitions(distribution("GC")))["+2"] == 5


def test_rewards_do_not_cover_states() -> None:
    [axes] = transitions(distribution("Grid10")).axes
    [reward] = [text.get_position() for text in axes.texts if text.get_text() == "+1"]
    [discs] = axes.collections
    assert np.hypot(*(np.asarray(discs.get_offsets()) - reward).T).min() > 0.4


def test_the_maze_without_flags_and_with_all() -> None:
    figure = transitions(distribution("Maze"))
    shown = texts(figure)
    assert shown["+3"] == 2  # two cells lead to the goal
    flagged = {33 + 1, 2 * 33 + 26, 4 * 33 + 27}
    without = set(range(33)) - {1, 26, 27}
    states = without | flagged | set(range(7 * 33, 8 * 33))
    assert shown.keys() - {"+3"} == {str(state) for state in states}
    first, control, last = np.moveaxis(curves(figure), 1, 0)
    low, high = figure.axes[0].get_ylim()
    middle = ((first + 2 * control + last) / 4)[:, 1]
    assert low < middle.min() < middle.max() < high  # the way back to the start is not cut off


def test_another_problem_of_a_known_name() -> None:
    figure = transitions(distribution("GC").named("Maze"))
    assert len(curves(figure)) == num_moves(distribution("GC"))
