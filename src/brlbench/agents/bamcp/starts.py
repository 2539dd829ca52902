"""Start states in BAMCP's simulations: where an episode ends, the next one begins.

What is learned stays, so a simulation goes on across the border. Histories then include the start
state that was drawn.
"""

from typing import Any, NamedTuple

import numpy as np

from ...beliefs.base import Family
from ...kernels.dispatch import by_type, provide
from ...kernels.jit import inlined
from ...kernels.loop.environment import scan
from ...kernels.random.rng import State, advance, load, store, unit
from ...kernels.solving.plans import Endless
from ...kernels.types import Floats, Integers, Words
from ...mdps.task import Task


class Starts(NamedTuple):
    """The K possible start states of episodes of L decisions."""

    length: int  # L
    step: Integers  # [1]; real decisions made in the present episode
    state: Integers  # [K]
    probability: Floats  # [K]


def build_starts(prior: Family, task: Task) -> Starts | Endless:
    """The start states that the prior expects; without episodes there are none to draw."""
    if task.episode is None:
        return Endless()
    states = np.flatnonzero(prior.start)
    return Starts(
        length=task.episode,
        step=np.zeros(1, np.int64),
        state=states,
        probability=np.asarray(prior.start)[states],
    )


@by_type
def begin(starts: Any) -> None:
    """A trajectory begins."""


@by_type
def advance_one(starts: Any) -> None:
    """A real decision was made."""


@by_type
def at_border(starts: Any) -> bool:  # type: ignore[empty-body]
    """Whether the real decision that was made last ended an episode."""


@by_type
def go_on(starts: Any, i: int, x: int, state: State) -> tuple[int, State]:  # type: ignore[empty-body]
    """The state to act in after a simulation's step i led to x."""


@by_type
def go_on_in_tree(  # type: ignore[empty-body]
    starts: Any, i: int, x: int, outcome: int, rng: Words
) -> tuple[int, int]:
    """The same, and what the history learns: the outcome and, at a border, the start state."""


def _nothing(starts: Endless) -> None:
    pass


def _never(starts: Endless) -> bool:
    return False


def _stay(starts: Endless, i: int, x: int, state: State) -> tuple[int, State]:
    return x, state


def _stay_in_tree(starts: Endless, i: int, x: int, outcome: int, rng: Words) -> tuple[int, int]:
    return x, outcome


provide(
    Endless,
    {
        begin: _nothing,
        advance_one: _nothing,
        at_border: _never,
        go_on: _stay,
        go_on_in_tree: _stay_in_tree,
    },
)


def _begin(starts: Starts) -> None:
    starts.step[0] = 0


def _advance_one(starts: Starts) -> None:
    starts.step[0] = (starts.step[0] + 1) % starts.length


def _at_border(starts: Starts) -> bool:
    return bool(starts.step[0] == 0)


@inlined
def draw(starts: Starts, state: State) -> tuple[int, State]:
    """Draw the number of a start state."""
    if len(starts.state) == 1:
        return 0, state
    word, state = advance(state)
    return scan(starts.probability, 0, len(starts.state), unit(word)), state


def _go_on(starts: Starts, i: int, x: int, state: State) -> tuple[int, State]:
    if (starts.step[0] + i + 1) % starts.length != 0:
        return x, state
    number, state = draw(starts, state)
    return int(starts.state[number]), state


def _go_on_in_tree(starts: Starts, i: int, x: int, outcome: int, rng: Words) -> tuple[int, int]:
    if (starts.step[0] + i + 1) % starts.length != 0:
        return x, outcome
    number, state = draw(starts, load(rng))
    store(rng, state)
    return int(starts.state[number]), outcome * len(starts.state) + number


provide(
    Starts,
    {
        begin: _begin,
        advance_one: _advance_one,
        at_border: _at_border,
        go_on: _go_on,
        go_on_in_tree: _go_on_in_tree,
    },
)
