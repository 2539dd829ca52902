"""Value iteration on observed frequencies, with bonuses, and values at most those of any MDP."""

import math
from typing import NamedTuple

from ...kernels.arrays import at
from ...kernels.jit import cold
from ...kernels.loop.trajectory import register
from ...kernels.solving.model import Model, q_value
from ...kernels.solving.model_agent import worth
from ...kernels.solving.optimism import FOREVER, Pace, act, observe, visits_of
from ...kernels.solving.optimism import reset as forget
from ...kernels.types import Floats, Words


class Ucbvi(NamedTuple):
    """The agent's state."""

    rng: Words
    model: Model  # with rewards of entries; its bonuses are the parts that values do not change
    initial: Model
    pace: Pace
    highest: Floats  # [L + 1]; the largest return, by decisions left, or FOREVER
    limit: Floats  # [L + 1, P]; the last plan's Q-values, in episodes
    span: float  # by which returns differ at most
    log: float
    scale: float
    bernstein: bool


def set_widths(agent: Ucbvi) -> None:
    """Set the bonuses of all pairs that were taken."""
    for pair in range(len(agent.model.bonus)):
        visits = max(1, visits_of(agent, pair))
        if agent.bernstein:
            size = 14 / 3 * agent.span * agent.log / visits
        else:
            size = 7 * agent.span * agent.log / math.sqrt(visits)
        agent.model.bonus[pair] = agent.scale * size


def optimistic_q(agent: Ucbvi, pair: int, left: int) -> float:
    """The value of a pair with its bonus, at most the largest return, or its last value."""
    visits = visits_of(agent, pair)
    if visits == 0:
        return float(agent.highest[left])
    value = q_value(agent.model, pair)
    if agent.bernstein:
        value += agent.scale * math.sqrt(8 * agent.log * variance(agent, pair) / visits)
    if left == FOREVER:
        return min(float(agent.highest[FOREVER]), value)
    agent.limit[left, pair] = min(agent.limit[left, pair], value)
    return float(agent.limit[left, pair])


@cold
def variance(agent: Ucbvi, pair: int) -> float:
    """The variance of what a pair's transitions are worth, by their frequencies."""
    counts, row = agent.model.counts, at(pair)
    first = counts.row_start[row]
    mean, squares = 0.0, 0.0
    for entry in range(first, first + counts.row_length[row]):
        mean += counts.entry_count[at(entry)] * worth(agent, entry)
    mean /= counts.total[row]
    for entry in range(first, first + counts.row_length[row]):
        squares += counts.entry_count[at(entry)] * (worth(agent, entry) - mean) ** 2
    return squares / counts.total[row]


def reset(agent: Ucbvi, x: int) -> None:
    """Back to the plan without any visits."""
    forget(agent, x)
    for left in range(len(agent.highest)):
        agent.limit[left, :] = agent.highest[left]


register(Ucbvi, reset=reset, act=act, observe=observe)
