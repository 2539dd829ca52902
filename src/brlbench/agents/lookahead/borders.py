"""Time in the search: without episodes it does not matter; in episodes, each step brings the end.

At the border of two episodes, what follows an action is a next state, from which is learned, and a
start state, in which to act next. The model's plan tells the time of the belief that is looked at.
"""

from typing import TYPE_CHECKING, Any

from ...kernels.dispatch import by_type, provide
from ...kernels.solving.plans import Endless, Horizon, is_border, rest

if TYPE_CHECKING:
    from .levels import Levels


@by_type
def num_steps(plan: Any, depth: int) -> int:  # type: ignore[empty-body]
    """The number of steps to look at."""


@by_type
def changes_nothing(plan: Any, levels: "Levels", level: int) -> bool:  # type: ignore[empty-body]
    """Whether a level's outcome is certain, and leaves all values as they are."""


@by_type
def state_after(plan: Any, levels: "Levels", level: int, i: int) -> int:  # type: ignore[empty-body]
    """The state to act in after a level's outcome i."""


@by_type
def add_starts(plan: Any, levels: "Levels", level: int) -> None:
    """Set the states to act in after a level's outcomes; at a border each has all start states."""


@by_type
def step_back(plan: Any) -> None:
    """Back to the decision before, whose solution has been restored."""


def _depth(plan: Endless, depth: int) -> int:
    return depth


def _is_certain(plan: Endless, levels: "Levels", level: int) -> bool:
    return bool(levels.length[level] == 1)


def _next_state(plan: Endless, levels: "Levels", level: int, i: int) -> int:
    return int(levels.following[level, i])


def _no_starts(plan: Endless, levels: "Levels", level: int) -> None:
    pass


def _no_step(plan: Endless) -> None:
    pass


provide(
    Endless,
    {
        num_steps: _depth,
        changes_nothing: _is_certain,
        state_after: _next_state,
        add_starts: _no_starts,
        step_back: _no_step,
    },
)


def _steps_left(plan: Horizon, depth: int) -> int:
    return max(1, min(depth, rest(plan)))


def _never(plan: Horizon, levels: "Levels", level: int) -> bool:
    return False


def _entered(plan: Horizon, levels: "Levels", level: int, i: int) -> int:
    return int(levels.entered[level, i])


def _add_starts(plan: Horizon, levels: "Levels", level: int) -> None:
    length = levels.length[level]
    if not is_border(plan):
        for i in range(length):
            levels.entered[level, i] = levels.following[level, i]
        return
    number = len(plan.state)
    for i in range(length - 1, -1, -1):  # places to the left of i are read later
        y, chance, r = levels.following[level, i], levels.chance[level, i], levels.reward[level, i]
        for k in range(number):
            place = i * number + k
            levels.following[level, place] = y
            levels.chance[level, place] = chance * plan.probability[k]
            levels.reward[level, place] = r
            levels.entered[level, place] = plan.state[k]
    levels.length[level] = length * number


def _step_back(plan: Horizon) -> None:
    plan.step[0] -= 1


provide(
    Horizon,
    {
        num_steps: _steps_left,
        changes_nothing: _never,
        state_after: _entered,
        add_starts: _add_starts,
        step_back: _step_back,
    },
)
