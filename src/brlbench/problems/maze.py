"""The maze of Dearden, Friedman and Russell, *Bayesian Q-learning* (1998).

33 cells with a start S, a goal G and three flags F. A state is a cell and the flags collected so
far; there are 264. Up, right, down and left move to the next cell, unless there is a wall (#). With
probability 0.1 an action slips and moves to one of its two sides. Arriving at the goal pays the
number of flags; from there every action leads back to the start, without flags. Agents know where
each state can lead, but not which action leads there.

The map is that of Guez, Silver and Dayan (2012), who pay for leaving the goal instead. The state is
`33 * flags + cell`: cells are numbered row by row, and each flag is a bit.

As in their experiments, priors can have small equal counts: over the neighbours of each state,
`scaled:0.25:Maze`, or over all 264 states, `scaled:0.0038:uniform:Maze`. Of the map, the latter
tells agents only which states are the goal: arriving there pays wherever one comes from.
"""

from collections import defaultdict

import numpy as np

from ..beliefs.flat.single import SingleMDP, unlabelled
from ..mdps.sparse import SparseTable

_MAP = (
    "S#F.#.G",
    ".#..#..",
    ".......",
    "##...##",
    "......F",
    "F.....#",
)
_MOVES = ((-1, 0), (0, 1), (1, 0), (0, -1))  # up, right, down, left
_SLIP = 0.1

_MARKS = {
    (row, column): mark
    for row, line in enumerate(_MAP)
    for column, mark in enumerate(line)
    if mark != "#"
}
CELLS = {place: cell for cell, place in enumerate(_MARKS)}
"""The number of each cell, by row and column."""
FLAGS = {place: 1 << i for i, place in enumerate(p for p, mark in _MARKS.items() if mark == "F")}
"""The bit of each cell with a flag."""


def maze() -> SingleMDP:
    """Dearden's maze."""
    shape = (len(CELLS) << len(FLAGS), len(_MOVES))
    probabilities: dict[tuple[int, int, int], float] = defaultdict(float)
    rewards = np.zeros(shape[0])  # of arriving
    for flags in range(1 << len(FLAGS)):
        for place, mark in _MARKS.items():
            state = _state(flags, place)
            if mark == "G":
                rewards[state] = flags.bit_count()
                probabilities |= {(state, action, 0): 1.0 for action in range(len(_MOVES))}
                continue
            for direction in range(len(_MOVES)):
                following = _move(flags, place, direction)
                for turn, chance in ((0, 1 - _SLIP), (-1, _SLIP / 2), (1, _SLIP / 2)):
                    action = (direction + turn) % len(_MOVES)
                    probabilities[state, action, following] += chance
    transitions = SparseTable.from_dict(*shape, probabilities, "transitions")
    return unlabelled(transitions, rewards, "Dearden's maze with flags")


def _state(flags: int, place: tuple[int, int]) -> int:
    return len(CELLS) * flags + CELLS[place]


def _move(flags: int, place: tuple[int, int], direction: int) -> int:
    """The next state, without slipping."""
    down, right = _MOVES[direction]
    target = (place[0] + down, place[1] + right)
    if target not in _MARKS:
        target = place
    return _state(flags | FLAGS.get(target, 0), target)
