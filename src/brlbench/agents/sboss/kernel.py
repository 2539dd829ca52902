"""The best action of the merged MDP, which is resampled when the posterior has moved.

Notation, for a pair with counts a(y) of sum n: the variance of the probability of y under the
posterior is sigma^2(y) = a(y) (n - a(y)) / (n^2 (n + 1)).
"""

import math
from typing import NamedTuple

from ...kernels import families
from ...kernels.arrays import copy_start, copy_vector
from ...kernels.counts import Counts
from ...kernels.jit import inlined, kernel
from ...kernels.loop.trajectory import register
from ...kernels.solving import merged as merging
from ...kernels.solving.merged_rows import Merged
from ...kernels.solving.sampled import Initial, best_action, first_best_action, skip_sampled
from ...kernels.types import Booleans, Floats, Integers, Words


class Sboss(NamedTuple):
    """The agent's state."""

    rng: Words
    merged: Merged
    initial: Initial
    initial_rows: Integers  # [P]; number of rows to sample under the prior
    last_count: Floats  # [pool]; the posterior's counts at the last sampling
    last_total: Floats  # [P]
    epsilon: float
    delta: float
    random_ties: bool
    due: Booleans  # [1]; whether the next act samples


@inlined
def rows_of(counts: Counts, pair: int, epsilon: float) -> int:
    """The number of rows to sample: the largest variance over epsilon, rounded up; at least 1."""
    n = counts.total[pair]
    first = counts.row_start[pair]
    largest = 0.0
    for a in counts.entry_count[first : first + counts.row_length[pair]]:
        largest = max(largest, a * (n - a))
    return max(1, math.ceil(largest / (n * n * (n + 1)) / epsilon))


@kernel
def set_rows(counts: Counts, epsilon: float, rows: Integers) -> None:
    """Set the number of rows [P] to sample for each pair."""
    for pair in range(len(rows)):
        rows[pair] = rows_of(counts, pair, epsilon)


@inlined
def moved(merged: Merged, pair: int, last_count: Floats, last_total: Floats, delta: float) -> bool:
    """Whether the pair's means have moved by more than delta since the last sampling.

    `last_count` [pool] and `last_total` [P] are the counts then. The move is the sum over y of
    |P(y) - P_last(y)| / sigma_last(y). Outcomes that were certain or impossible have no variance
    and do not count.
    """
    rows, posterior = merged.mdp.rows, merged.mdp.posterior
    n, n_now = last_total[pair], posterior.total[pair]
    last, now = rows.first_entry[pair], posterior.row_start[pair]
    total = 0.0
    for i in range(rows.length[pair]):
        mean = last_count[last + i] / n
        variance = mean * (1 - mean) / (n + 1)
        if variance > 0:
            total += abs(posterior.entry_count[now + i] / n_now - mean) / math.sqrt(variance)
            if total > delta:
                return True
    return False


def reset(agent: Sboss, x: int) -> None:
    """Back to the prior; the first act samples."""
    merged = agent.merged
    learned = merging.reset(merged, agent.initial, x)
    copy_vector(merged.num_rows, agent.initial_rows)
    if learned:
        mdp = merged.mdp
        for i in range(families.recount(mdp.belief, mdp.posterior, mdp.entry_reward)):
            other = families.changed(mdp.belief, 0, i)
            merged.num_rows[other] = rows_of(mdp.posterior, other, agent.epsilon)
    agent.due[0] = True


def act(agent: Sboss, x: int) -> int:
    """Sample if it is due, and take a best action of the merged MDP."""
    merged, posterior = agent.merged, agent.merged.mdp.posterior
    if agent.due[0]:
        merging.resample(merged, agent.rng)
        copy_start(agent.last_count, posterior.entry_count, posterior.pool_end[0])
        copy_vector(agent.last_total, posterior.total)
        agent.due[0] = False
    if agent.random_ties:
        return best_action(merged.mdp, x, agent.rng)
    return first_best_action(merged.mdp, x)


def observe(agent: Sboss, x: int, u: int, y: int, r: float) -> None:
    """Learn from the transition; only pairs whose counts changed can have moved."""
    merged = agent.merged
    pair = x * merged.mdp.posterior.num_actions + u
    mdp = merged.mdp
    number = families.count_rewarded(mdp.belief, mdp.posterior, mdp.entry_reward, pair, y, r)
    for i in range(number):
        other = families.changed(mdp.belief, pair, i)
        merged.num_rows[other] = rows_of(mdp.posterior, other, agent.epsilon)
        if moved(merged, other, agent.last_count, agent.last_total, agent.delta):
            agent.due[0] = True
    skip_sampled(mdp.plan, mdp)


register(Sboss, reset=reset, act=act, observe=observe)
