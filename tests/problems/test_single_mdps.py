"""Problems of one MDP, beside their rules written down again, and solved by plain sweeps."""

from collections.abc import Callable, Hashable, Iterable
from functools import partial
from typing import Any

import numpy as np
import pytest

from brlbench.beliefs.flat.single import SingleMDP, alike_actions
from brlbench.problems import distribution
from brlbench.protocol.experiment import Experiment

DISCOUNT = 0.95
Outcomes = list[tuple[float, Any, float]]
"""Probability, next state and reward."""


def optimal_value(
    outcomes: Callable[[Any, int], Outcomes], start: Hashable, actions: Iterable[int]
) -> tuple[float, int]:
    """The value of the start by value iteration, and how many states can be reached from it."""
    table: dict[Any, list[Outcomes]] = {}
    new = {start}
    while new:
        table |= {state: [outcomes(state, action) for action in actions] for state in new}
        seen = {s for state in new for outcome in table[state] for p, s, _ in outcome if p > 0}
        new = seen - table.keys()
    value = dict.fromkeys(table, 0.0)
    for _ in range(600):
        value = {
            state: max(sum(p * (r + DISCOUNT * value[s]) for p, s, r in outcome) for outcome in row)
            for state, row in table.items()
        }
    return value[start], len(table)


def chain(state: int, action: int) -> Outcomes:
    along = 0.8 if action == 0 else 0.2
    return [(along, min(state + 1, 4), 10 if state == 4 else 0), (1 - along, 0, 2)]


def loop(state: int, action: int) -> Outcomes:
    match state:
        case 0:
            return [(1, 5 if action else 1, 0)]
        case 4 | 8:
            return [(1, 0, state / 4)]
        case 1 | 2 | 3:
            return [(1, state + 1, 0)]
    return [(1, state + 1 if action else 0, 0)]


def river_swim(state: int, action: int) -> Outcomes:
    if action == 0:
        return [(1, max(state - 1, 0), 0.005 if state == 0 else 0)]
    if state == 0:
        return [(0.4, 0, 0), (0.6, 1, 0)]
    if state == 5:
        return [(0.4, 4, 1), (0.6, 5, 1)]
    return [(0.05, state - 1, 0), (0.6, state, 0), (0.35, state + 1, 0)]


def deep_sea(place: tuple[int, int], action: int) -> Outcomes:
    row, column = place
    reward = (row == column == 9) - 0.001 if action else 0.0
    target = (row + 1, max(0, min(9, column + (1 if action else -1))))
    return [(1, target if row < 9 else (0, 0), reward)]


WALLS = {(0, 1), (0, 4), (1, 1), (1, 4), (3, 0), (3, 1), (3, 5), (3, 6), (5, 6)}
FLAGS, GOAL = {(0, 2), (4, 6), (5, 0)}, (0, 6)


def reset_grid(size: int, state: tuple[int, int], action: int) -> Outcomes:
    if state == (size - 1, size - 1):
        return [(1, (0, 0), 1)]
    outcomes: Outcomes = []
    for turn, chance in ((0, 0.8), (1, 0.1), (3, 0.1)):
        right, up = ((0, 1), (1, 0), (0, -1), (-1, 0))[(action + turn) % 4]
        target = (state[0] + right, state[1] + up)
        inside = 0 <= min(target) and max(target) < size
        outcomes.append((chance, target if inside else state, 0))
    return outcomes


def maze(state: Any, action: int) -> Outcomes:
    (row, column), flags = state
    if (row, column) == GOAL:
        return [(1, ((0, 0), frozenset()), 0)]
    outcomes: Outcomes = []
    for turn, chance in ((0, 0.9), (1, 0.05), (3, 0.05)):
        direction = (action + turn) % 4
        target = {0: (row - 1, column), 1: (row, column + 1),
                  2: (row + 1, column), 3: (row, column - 1)}[direction]  # fmt: skip
        if target in WALLS or not (0 <= target[0] < 6 and 0 <= target[1] < 7):
            target = (row, column)
        now = flags | ({target} & FLAGS)
        outcomes.append((chance, (target, now), len(now) if target == GOAL else 0))
    return outcomes


CASES: dict[str, tuple[Callable[[Any, int], Outcomes], Any, int]] = {
    "Chain": (chain, 0, 5),
    "Loop": (loop, 0, 9),
    "RiverSwim": (river_swim, 0, 6),
    "DeepSea": (deep_sea, (0, 0), 55),  # no dive gets above the diagonal
    "Grid5": (partial(reset_grid, 5), (0, 0), 25),
    "Grid10": (partial(reset_grid, 10), (0, 0), 100),
    "Maze": (maze, ((0, 0), frozenset()), 264 - 3 * 4),  # no flag's cell without the flag
}


@pytest.mark.parametrize("name", CASES)
def test_optimal_values(name: str) -> None:
    outcomes, start, reachable = CASES[name]
    mdp = distribution(name).mean()
    expected, seen = optimal_value(outcomes, start, range(mdp.num_actions))
    assert mdp.solve(DISCOUNT).value[0] == pytest.approx(expected, rel=1e-9)
    assert seen == reachable


def test_known_values() -> None:
    """Dearden's chain pays 3.677 a step in the long run (Strens, 2000), the loop 2 in five."""
    discount = 0.99999
    long_run = {
        name: distribution(name).mean().solve(discount).value[0] * (1 - discount)
        for name in ("Chain", "Loop")
    }
    assert long_run == pytest.approx({"Chain": 3.6768, "Loop": 0.4}, rel=1e-4)
    for size in (3, 10):
        dive = DISCOUNT ** (size - 1) - 0.01 / size * sum(DISCOUNT**t for t in range(size))
        mdp = distribution(f"DeepSea:size={size}").mean()
        assert mdp.solve(DISCOUNT).value[0] == pytest.approx(dive / (1 - DISCOUNT**size))


@pytest.mark.parametrize(
    ("name", "steps", "published"),
    [
        ("Chain", 1000, 3665.8),
        ("Grid5", 1000, 92.1),
        ("Grid10", 1000, 43.2),
        ("Grid10", 2000, 86.9),
    ],
)
def test_best_undiscounted_sums(name: str, steps: int, published: float) -> None:
    mdp = distribution(name).mean()
    probabilities = mdp.transitions.to_dense()
    rewards = (probabilities * mdp.rewards.mean.to_dense()).sum(axis=2)
    value = np.zeros(mdp.num_states)
    for _ in range(steps):
        value = (rewards + probabilities @ value).max(axis=1)
    assert round(float(value[0]), 1) == published


@pytest.mark.parametrize("name", CASES)
def test_agents_know_where_states_lead_but_not_which_action_leads_there(name: str) -> None:
    problem = distribution(name)
    assert isinstance(problem, SingleMDP)
    expected = alike_actions(problem.mean().transitions)
    np.testing.assert_array_equal(problem.counts.to_dense(), expected.to_dense())
    per_pair = np.diff(problem.counts.row_start).reshape(-1, problem.num_actions)
    assert (per_pair == per_pair[:, :1]).all()
    assert (per_pair > 1).any()


def test_rewards_belong_to_moves_whichever_action_makes_them() -> None:
    for name in ("Chain", "Loop", "Maze"):
        problem = distribution(name)
        rewards = problem.rewards.mean.to_dense()
        assert (rewards == rewards[:, :1]).all()


@pytest.mark.parametrize("name", ["Grid5", "Grid10", "Loop", "Maze"])
def test_small_equal_counts(name: str) -> None:
    """Over neighbours or over all states; the latter's rewards tell nothing of the map."""
    problem = distribution(name)
    near, far = distribution(f"scaled:0.25:{name}"), distribution(f"scaled:0.04:uniform:{name}")
    np.testing.assert_array_equal(near.counts.place, problem.counts.place)
    assert (near.counts.values == 0.25).all()
    assert (far.counts.to_dense() == 0.04).all()
    for prior in (near, far):
        assert Experiment(prior, name, num_mdps=1).prior is prior  # rewards agree
        rewards = prior.rewards.mean.to_dense()
        assert rewards.max() == {"Loop": 2, "Maze": 3}.get(name, 1)
        if name != "Loop":  # paid for leaving the goal, or for arriving there
            usual = rewards[:, :, :1] if name != "Maze" else rewards[:1]
            assert (rewards == usual).all()


def test_sizes() -> None:
    assert distribution("DeepSea:size=7").num_states == 49
    assert distribution("RiverSwim:size=20").num_states == 20
    assert distribution("RiverSwim:size=2").mean().solve(DISCOUNT).policy.tolist() == [1, 1]
