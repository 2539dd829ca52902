"""Extended value iteration: each pair has the best row and the best reward within confidence."""

import math
from typing import NamedTuple

from ...kernels.arrays import at
from ...kernels.jit import cold, inlined
from ...kernels.loop.trajectory import register
from ...kernels.solving.model import Model
from ...kernels.solving.model_agent import worth
from ...kernels.solving.optimism import Pace, act, observe, reset, time_of_plan, visits_of
from ...kernels.types import Floats, Integers, Words

_MAX_STEPS = 100  # of Newton's method
_ACCURACY = 1e-12  # of the divergence
_NOTHING = 1e-17  # a loss that rounding hides
_FARTHEST = 600.0  # logarithms beyond it are those of zero and infinity


class Ucrl2(NamedTuple):
    """The agent's state."""

    rng: Words
    model: Model  # with rewards of entries; its bonuses are the widths of expected rewards
    initial: Model
    pace: Pace
    width: Floats  # [P]; of rows: the L1 distance, or the divergence if `kl`
    row: Floats  # [pool]; the probabilities of the optimistic rows, unless `kl`
    order: Integers  # [pool]; places in each row, by increasing worth
    log_gap: Floats  # [P]; where Newton's method begins, if `kl`
    reward_width: Floats  # [P]; by how much rewards vary
    largest_reward: float  # that can be expected
    delta: float
    reward_factor: float
    row_factor: float
    reward_pairs: int  # pairs in the logarithm of the width of rewards
    row_pairs: int
    delay: int  # added to the time in logarithms
    scale: float
    kl: bool
    carried: bool


def set_widths(agent: Ucrl2) -> None:
    """Set the widths of all pairs."""
    model, counts = agent.model, agent.model.counts
    time = time_of_plan(model.plan, agent.pace) + agent.delay
    reward_log = math.log(2 * agent.reward_pairs * time / agent.delta)
    row_log = math.log(2 * agent.row_pairs * time / agent.delta)
    for pair in range(len(agent.width)):
        visits = max(1, visits_of(agent, pair))
        first, length = counts.row_start[pair], counts.row_length[pair]
        expected = counts.reward_sum[pair] / counts.total[pair]
        reach = agent.scale * math.sqrt(agent.reward_factor * reward_log / visits)
        model.bonus[pair] = 0.0
        if agent.reward_width[pair] > 0:
            widened = expected + agent.reward_width[pair] * reach
            model.bonus[pair] = min(widened, agent.largest_reward) - expected
        squared = agent.scale * agent.scale * agent.row_factor * length * row_log / visits
        agent.width[pair] = squared / 2 if agent.kl else math.sqrt(squared)
        agent.log_gap[pair] = 0.0
        for i in range(length):
            agent.order[first + i] = i
        estimate(agent, pair)


@inlined
def estimate(agent: Ucrl2, pair: int) -> None:
    """Set a pair's row to the estimated one."""
    counts, row = agent.model.counts, at(pair)
    first = counts.row_start[row]
    for entry in range(first, first + counts.row_length[row]):
        agent.row[at(entry)] = counts.entry_count[at(entry)] / counts.total[row]


def optimistic_q(agent: Ucrl2, pair: int, left: int) -> float:
    """The best expected worth of a pair, with the width of its reward."""
    best = best_by_divergence(agent, pair) if agent.kl else best_by_distance(agent, pair)
    return best + agent.model.bonus[pair]


@cold
def best_by_distance(agent: Ucrl2, pair: int) -> float:
    """The best row within an L1 distance: half of it goes to the best entry, from the worst ones.

    A carried row is the one of the last call, unless that was certain of the best entry.
    """
    counts, row = agent.model.counts, agent.row
    first, length = counts.row_start[pair], counts.row_length[pair]
    sort(agent, first, length)
    top = first + agent.order[first + length - 1]
    if not agent.carried:
        estimate(agent, pair)
    excess = agent.width[pair] / 2
    if row[top] + excess >= 1:
        return worth(agent, top)
    row[top] += excess
    for i in range(length - 1):
        entry = first + agent.order[first + i]
        taken = min(row[entry], excess)
        row[entry] -= taken
        excess -= taken
        if excess <= 0:
            break
    best = 0.0
    for entry in range(first, first + length):
        best += row[at(entry)] * worth(agent, entry)
    return best


@inlined
def sort(agent: Ucrl2, first: int, length: int) -> None:
    """Sort a row's places by worth; they are nearly in order since the last time."""
    order = agent.order
    for i in range(first + 1, first + length):
        place = order[i]
        value = worth(agent, first + place)
        j = i
        while j > first and worth(agent, first + order[j - 1]) > value:
            order[j] = order[j - 1]
            j -= 1
        order[j] = place


@cold
def best_by_divergence(agent: Ucrl2, pair: int) -> float:
    """The best row q with KL(p, q) at most the width, p the estimated one.

    It is q(y) ~ p(y) / (gap + d(y)), where d(y) is the distance to the best worth and the gap is
    such that the divergence is the width. The divergence falls with the gap; Newton's method finds
    the gap's logarithm, within an interval that shrinks.
    """
    counts = agent.model.counts
    first, length = counts.row_start[pair], counts.row_length[pair]
    highest = lowest = worth(agent, first)
    for entry in range(first + 1, first + length):
        highest = max(highest, worth(agent, entry))
        lowest = min(lowest, worth(agent, entry))
    spread = highest - lowest
    if spread <= 0:
        return highest
    low, high, point = -_FARTHEST, _FARTHEST, agent.log_gap[pair]
    loss = 0.0
    for _ in range(_MAX_STEPS):
        divergence, slope, loss = tilt(agent, pair, highest, spread, point)
        error = divergence - agent.width[pair]
        if abs(error) <= _ACCURACY * (1 + agent.width[pair]) or (error < 0 and loss < _NOTHING):
            break
        if error > 0:
            low = point
        else:
            high = point
        following = point - error / slope if slope < 0 else low
        point = following if low < following < high else (low + high) / 2
    agent.log_gap[pair] = point
    return highest - spread * loss


@inlined
def tilt(
    agent: Ucrl2, pair: int, highest: float, spread: float, log_gap: float
) -> tuple[float, float, float]:
    """The divergence of a tilted row, its slope by the logarithm of the gap, and the row's loss.

    Gap and loss are relative to the spread of worths. The loss is the mean distance to the best.
    """
    counts, row = agent.model.counts, at(pair)
    first = counts.row_start[row]
    gap = math.exp(log_gap)
    logs, inverse, squares, loss = 0.0, 0.0, 0.0, 0.0
    for entry in range(first, first + counts.row_length[row]):
        p = counts.entry_count[at(entry)] / counts.total[row]
        distance = (highest - worth(agent, entry)) / spread
        weight = p / (gap + distance)
        logs += p * math.log(gap + distance)
        inverse += weight
        squares += weight / (gap + distance)
        loss += weight * distance
    slope = gap * (inverse - squares / inverse)
    return logs + math.log(inverse), slope, loss / inverse


register(Ucrl2, reset=reset, act=act, observe=observe)
