"""Hypotheses drawn from a belief: their rows, their optima, and trajectories on them."""

from typing import TYPE_CHECKING

from ...kernels.arrays import copy_vector
from ...kernels.jit import cold, inlined, kernel
from ...kernels.loop.environment import scan
from ...kernels.practice import Practice
from ...kernels.random.gamma import normal
from ...kernels.random.rng import uniform
from ...kernels.solving import sampled
from ...kernels.solving.sampled import Sampled
from ...kernels.types import Words

if TYPE_CHECKING:
    from .kernel import Cases, Solutions, Weights


@inlined
def draw(belief: "Weights", rng: Words) -> int:
    """Draw the number of a hypothesis."""
    return int(belief.case[scan(belief.weight, 0, belief.left[0], uniform(rng))])


def draw_rows(belief: "Weights", mdp: Sampled, rng: Words) -> None:
    """Draw a hypothesis and take its rows."""
    take_case(belief, mdp, draw(belief, rng))


@inlined
def take_case(belief: "Weights", mdp: Sampled, k: int) -> None:
    """Take the rows of a hypothesis."""
    cases, rows = belief.cases, mdp.rows
    for pair in range(len(rows.start)):
        sampled.place_row(mdp, pair)
        rows.reward[pair] = 0.0
        for entry in range(cases.row_start[pair], cases.row_start[pair + 1]):
            begin, end = cases.outcome_start[entry], cases.outcome_start[entry + 1]
            for o in range(begin, end):
                rows.probability[o] = 0.0
            chance = cases.probability[entry, k]
            rows.probability[begin + (cases.label[entry, k] if end > begin + 1 else 0)] = chance
            column = k if cases.reward.shape[1] > 1 else 0
            rows.reward[pair] += chance * cases.reward[entry, column]


def draw_optimum(belief: "Weights", mdp: Sampled, rng: Words) -> None:
    """Draw a hypothesis and look its optimum up, or solve it."""
    k, solutions = draw(belief, rng), belief.solutions
    if len(solutions.scale) > 0:
        copy_vector(mdp.optimum.q, solutions.q[k])
        mdp.optimum.scale[0] = solutions.scale[k]
    else:
        solve_case(belief, mdp, k)


@cold
def solve_case(belief: "Weights", mdp: Sampled, k: int) -> None:
    """Solve a hypothesis, starting from the values of the last one."""
    take_case(belief, mdp, k)
    sampled.solve(mdp)


@kernel
def solve_all(belief: "Weights", mdp: Sampled, solutions: "Solutions") -> None:
    """Solve all hypotheses."""
    for k in range(len(solutions.scale)):
        solve_case(belief, mdp, k)
        copy_vector(solutions.q[k], mdp.optimum.q)
        solutions.scale[k] = mdp.optimum.scale[0]


def begin_trajectory(belief: "Weights", practice: Practice, rng: Words) -> int:
    """Draw a hypothesis and its first state."""
    practice.drawn[0] = draw(belief, rng)
    return draw_first(belief, practice, rng)


def start_episode(belief: "Weights", practice: Practice, rng: Words) -> int:
    """Draw another first state of the same hypothesis."""
    return draw_first(belief, practice, rng)


@inlined
def draw_first(belief: "Weights", practice: Practice, rng: Words) -> int:
    """Draw a first state of the hypothesis that was drawn."""
    k = practice.drawn[0]
    start = belief.cases.start[k if len(belief.cases.start) > 1 else 0]
    return scan(start, 0, len(start), uniform(rng))


def step_trajectory(
    belief: "Weights", practice: Practice, pair: int, rng: Words
) -> tuple[int, float]:
    """Draw the next state and the reward in the hypothesis that was drawn."""
    cases, k = belief.cases, practice.drawn[0]
    entry = draw_entry(cases, pair, k, rng)
    return cases.next_state[entry], draw_reward(cases, entry, k, rng)


@inlined
def draw_entry(cases: "Cases", pair: int, k: int, rng: Words) -> int:
    """Draw a transition of a pair; despite rounding, always a possible one."""
    chance, last = uniform(rng), cases.row_start[pair]
    for entry in range(cases.row_start[pair], cases.row_start[pair + 1]):
        if cases.probability[entry, k] > 0:
            last = entry
            if chance < cases.probability[entry, k]:
                break
            chance -= cases.probability[entry, k]
    return int(last)


@inlined
def draw_reward(cases: "Cases", entry: int, k: int, rng: Words) -> float:
    """The reward of a transition, drawn if it is Gaussian."""
    reward: float = cases.reward[entry, k if cases.reward.shape[1] > 1 else 0]
    deviation = cases.deviation[entry, k if cases.deviation.shape[1] > 1 else 0]
    if deviation > 0:
        reward += deviation * normal(rng)
    return reward
