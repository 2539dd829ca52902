"""Rows whose supports are learned by displacements, beside those of `sparse-prior`.

A modelled row has an entry for every state, in order, in the counts of both models. So arrays
[pool] beside the entries are shared: entry `row_start + y` is for the next state y.
"""

import math
from typing import NamedTuple

from ...kernels.arrays import at
from ...kernels.jit import inlined, kernel
from ...kernels.loop import trajectory
from ...kernels.loop.trajectory import register
from ...kernels.solving import model as models
from ...kernels.types import Floats, Integers, Words
from ..sparse_prior import kernel as sparse_priors
from ..sparse_prior.kernel import SparsePrior
from ..spread import kernel as spreads
from ..spread.kernel import Spread

ALPHA = 0.3  # expected number of possible next states, before anything is seen
SHARED_WEIGHT = 1.0  # of what is expected in the shared rates, in rows
OWN_WEIGHT = 0.3  # of the shared rates in those of an action, in rows
MOST = 0.999  # highest rate
PERIOD = 4  # most transitions between two passes over all rows


class Shifts(NamedTuple):
    """The belief about displacements; y - x = d is at d + S - 1."""

    possible: Floats  # [pool]; probability that the entry's next state is possible
    number: Floats  # [P]; sum of `possible` over the row
    rate: Floats  # [A, 2S - 1]; probability that a displacement is possible
    rows: Floats  # [A, 2S - 1]; work space: rows tried in which the displacement stays inside
    hits: Floats  # [A, 2S - 1]; work space: their sum of `possible`
    age: Integers  # [1]; transitions since the last pass


class ShiftPrior(NamedTuple):
    """The agent's state."""

    rng: Words
    sparse: SparsePrior  # the other model, which counts; its own `rng` is not used
    spread: Spread  # plays with displacements; its own `rng` is not used
    shifts: Shifts
    lead: Floats  # [1]; log of how much better displacements have predicted than `sparse`


@kernel
def begin(agent: ShiftPrior) -> None:
    """Set all rows without data."""
    forget(agent)
    set_rows(agent)


@inlined
def forget(agent: ShiftPrior) -> None:
    """Forget what was seen."""
    shifts = agent.shifts
    states = agent.spread.model.counts.num_states
    shifts.rate[:] = ALPHA / states
    shifts.possible[:] = ALPHA / states
    shifts.number[:] = ALPHA
    shifts.age[0] = 0
    agent.lead[0] = 0.0


@inlined
def set_rows(agent: ShiftPrior) -> None:
    """Set the counts of all modelled rows."""
    rows = agent.sparse.supports.rows
    for i in range(len(rows)):
        set_row(agent, rows[i])
        spreads.set_size(agent.spread, rows[i])


@inlined
def set_row(agent: ShiftPrior, pair: int) -> None:
    """Set the probabilities that next states are possible, and with them the row's counts."""
    shifts, supports, counts = agent.shifts, agent.sparse.supports, agent.spread.model.counts
    x, u, first = pair // counts.num_actions, pair % counts.num_actions, counts.row_start[pair]
    number, tries, total, reward = 0.0, supports.tries[pair], 0.0, 0.0
    for y in range(counts.num_states):
        entry = first + y
        possible, seen = 1.0, supports.seen[at(entry)]
        if seen == 0:
            others = max(1.0, shifts.number[pair] - shifts.possible[at(entry)])
            rate = shifts.rate[u, at(y - x + counts.num_states - 1)]
            odds = rate / (1 - rate) * others / (tries + others)
            possible = odds / (1 + odds)
        count = possible * (seen + 1)
        shifts.possible[at(entry)] = possible
        counts.entry_count[at(entry)] = count
        number += possible
        total += count
        reward += count * agent.spread.model.entry_reward[at(entry)]
    shifts.number[pair] = number
    counts.total[pair], counts.reward_sum[pair] = total, reward


@inlined
def set_rates(agent: ShiftPrior) -> None:
    """Estimate how often each displacement is possible, by action, from the rows tried."""
    shifts, supports, counts = agent.shifts, agent.sparse.supports, agent.spread.model.counts
    states, actions = counts.num_states, counts.num_actions
    shifts.rows[:] = 0.0
    shifts.hits[:] = 0.0
    for i in range(len(supports.rows)):
        pair = supports.rows[i]
        if supports.tries[pair] > 0:
            x, u, first = pair // actions, pair % actions, counts.row_start[pair]
            for y in range(states):
                shifts.rows[u, at(y - x + states - 1)] += 1
                shifts.hits[u, at(y - x + states - 1)] += shifts.possible[at(first + y)]
    for d in range(2 * states - 1):
        rows, hits = SHARED_WEIGHT, SHARED_WEIGHT * ALPHA / states
        for u in range(actions):
            rows += shifts.rows[u, d]
            hits += shifts.hits[u, d]
        for u in range(actions):
            rate = (shifts.hits[u, d] + OWN_WEIGHT * hits / rows) / (shifts.rows[u, d] + OWN_WEIGHT)
            shifts.rate[u, d] = min(rate, MOST)


@inlined
def probability(agent: Spread, pair: int, y: int) -> float:
    """The mean probability of a next state in a modelled row."""
    counts = agent.model.counts
    return counts.entry_count[counts.row_start[pair] + y] / counts.total[pair]


@inlined
def see(agent: ShiftPrior, pair: int, is_new: bool) -> None:
    """Bring rates and rows up to date after a transition of a modelled row."""
    agent.shifts.age[0] += 1
    set_row(agent, pair)
    spreads.set_size(agent.spread, pair)
    if is_new or agent.shifts.age[0] == PERIOD:
        agent.shifts.age[0] = 0
        set_rates(agent)
        set_rows(agent)


def reset(agent: ShiftPrior, x: int) -> None:
    """Back to the prior."""
    trajectory.reset(agent.sparse, x)
    trajectory.reset(agent.spread, x)
    forget(agent)


@inlined
def leader(agent: ShiftPrior) -> Spread:
    """The model that has predicted better; with equal merit that of `sparse-prior`."""
    return agent.spread if agent.lead[0] > 0 else agent.sparse.spread


def act(agent: ShiftPrior, x: int) -> int:
    """Choose a best action of the leader; ties are broken at random."""
    return models.best_action(leader(agent).model, x, agent.rng)


def observe(agent: ShiftPrior, x: int, u: int, y: int, r: float) -> None:
    """Learn from the transition in both models, and solve the leader again."""
    pair = x * agent.spread.model.counts.num_actions + u
    if agent.sparse.supports.is_modelled[pair]:
        ours, others = probability(agent.spread, pair, y), probability(agent.sparse.spread, pair, y)
        agent.lead[0] += math.log(ours / others)
        tried = agent.sparse.supports.distinct[pair]
        sparse_priors.learn(agent.sparse, x, u, y, r)
        see(agent, pair, agent.sparse.supports.distinct[pair] > tried)
    else:
        sparse_priors.learn(agent.sparse, x, u, y, r)
        spreads.count(agent.spread, x, u, y, r)
    models.skip(agent.spread.model)
    spreads.solve_with_bonuses(leader(agent))


register(ShiftPrior, reset=reset, act=act, observe=observe)
