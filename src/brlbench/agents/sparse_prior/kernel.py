"""Rows with learned supports, as counts of the model that `spread` plays with.

A modelled row has an entry for every state, in order. So entry `row_start + y` is for the next
state y, and arrays [pool] beside the entries can also hold what belongs to k = y + 1.
"""

from typing import NamedTuple

from ...kernels.arrays import at, copy_vector
from ...kernels.jit import inlined, kernel
from ...kernels.loop import trajectory
from ...kernels.loop.trajectory import register
from ...kernels.solving import model as models
from ...kernels.types import Booleans, Floats, Integers, Words
from ..spread import kernel as spreads
from ..spread.kernel import Spread
from . import novelty as novelties
from .novelty import GROUPS, Novelty

_CERTAIN = 1e-12  # a row with less variance is certain


class Supports(NamedTuple):
    """The belief about the number of possible next states."""

    rows: Integers  # [R]; the pairs that are modelled
    is_modelled: Booleans  # [P]
    seen: Floats  # [pool]; transitions of a pair to each state
    tries: Floats  # [P]
    distinct: Floats  # [P]; number of different states that a pair led to
    likelihood: Floats  # [pool]; of each k, relative to the others
    share: Floats  # [S]; P(k), the share of rows with k = 1, ..., S possible next states
    initial_share: Floats  # [S]
    responsibility: Floats  # [S]; work space


class SparsePrior(NamedTuple):
    """The agent's state."""

    rng: Words
    spread: Spread  # plays, with counts that are set here; its own `rng` is not used
    supports: Supports
    novelty: Novelty


@kernel
def begin(agent: SparsePrior) -> None:
    """Set all rows without data."""
    forget(agent)
    set_rows(agent)


@inlined
def forget(agent: SparsePrior) -> None:
    """Forget what was seen."""
    supports, counts = agent.supports, agent.spread.model.counts
    copy_vector(supports.share, supports.initial_share)
    for i in range(len(supports.rows)):
        pair = supports.rows[i]
        supports.tries[pair] = supports.distinct[pair] = 0.0
        first = counts.row_start[pair]
        for entry in range(first, first + counts.row_length[pair]):
            supports.seen[entry] = 0.0
            supports.likelihood[entry] = 1.0
    novelties.reset(agent.novelty)


@inlined
def set_rows(agent: SparsePrior) -> None:
    """Set all modelled rows."""
    for i in range(len(agent.supports.rows)):
        set_row(agent, agent.supports.rows[i])
        spreads.set_size(agent.spread, agent.supports.rows[i])


@inlined
def set_row(agent: SparsePrior, pair: int) -> None:
    """Set a modelled row to the Dirichlet counts with its mean and its summed variance."""
    supports, counts = agent.supports, agent.spread.model.counts
    n, m = supports.tries[pair], supports.distinct[pair]
    once, twice, unseen_twice = factors(agent, pair)
    set_on_offer(agent, pair)
    unseen = max(0.0, 1 - (n + m) * once)
    x, first = pair // counts.num_actions, counts.row_start[pair]
    squares, expected_squares, reward = 0.0, 2 * unseen_twice, 0.0
    for y in range(counts.num_states):
        seen = supports.seen[at(first + y)]
        if seen > 0:
            p = (seen + 1) * once
            expected_squares += (seen + 1) * (seen + 2) * twice
        else:
            p = unseen * novelties.probability(agent.novelty, agent.novelty.group[x, y])
        squares += p * p
        reward += p * agent.spread.model.entry_reward[at(first + y)]
        counts.entry_count[at(first + y)] = p
    strength = n + 1
    if expected_squares - squares > _CERTAIN:
        strength = (1 - expected_squares) / (expected_squares - squares)
    strength = max(strength, _CERTAIN)
    for y in range(counts.num_states):
        counts.entry_count[at(first + y)] *= strength
    counts.total[pair] = strength
    counts.reward_sum[pair] = strength * reward


@inlined
def factors(agent: SparsePrior, pair: int) -> tuple[float, float, float]:
    """Means over k: 1 / (n + k); 1 / ((n + k) (n + k + 1)); the latter times (k - m)."""
    supports, first = agent.supports, agent.spread.model.counts.row_start[pair]
    n, m = supports.tries[pair], supports.distinct[pair]
    total, once, twice, unseen_twice = 0.0, 0.0, 0.0, 0.0
    for i in range(len(supports.share)):
        weight = supports.share[at(i)] * supports.likelihood[at(first + i)]
        total += weight
        weight /= n + i + 1
        once += weight
        weight /= n + i + 2
        twice += weight
        unseen_twice += weight * (i + 1 - m)
    return once / total, twice / total, unseen_twice / total


@inlined
def set_on_offer(agent: SparsePrior, pair: int) -> None:
    """Count the unseen states of a pair by group, and set their probabilities."""
    counts, novelty = agent.spread.model.counts, agent.novelty
    x, first = pair // counts.num_actions, counts.row_start[pair]
    for group in range(GROUPS):
        novelty.on_offer[group] = 0.0
    for y in range(counts.num_states):
        if agent.supports.seen[at(first + y)] == 0:
            novelty.on_offer[at(novelty.group[x, y])] += 1
    novelties.set_probabilities(novelty, pair % counts.num_actions)


@inlined
def see(agent: SparsePrior, x: int, u: int, y: int) -> None:
    """Learn from a transition of a modelled row."""
    supports, counts = agent.supports, agent.spread.model.counts
    pair = x * counts.num_actions + u
    first = counts.row_start[pair]
    is_new = supports.seen[first + y] == 0
    if is_new:
        set_on_offer(agent, pair)
        novelties.learn(agent.novelty, x, u, y)
    largest = 0.0
    for i in range(counts.num_states):
        factor = max(0.0, i + 1 - supports.distinct[pair]) if is_new else 1.0
        supports.likelihood[first + i] *= factor / (supports.tries[pair] + i + 1)
        largest = max(largest, supports.likelihood[first + i])
    for i in range(counts.num_states):
        supports.likelihood[first + i] /= largest
    supports.seen[first + y] += 1
    supports.tries[pair] += 1
    supports.distinct[pair] += is_new


@inlined
def update_shares(agent: SparsePrior) -> None:
    """One step of EM for P(k), over the rows with data and one row that has the initial shares."""
    supports = agent.supports
    states = len(supports.share)
    copy_vector(supports.responsibility, supports.initial_share)
    rows = 1
    for i in range(len(supports.rows)):
        pair = supports.rows[i]
        if supports.tries[pair] > 0:
            rows += 1
            first, total = agent.spread.model.counts.row_start[pair], 0.0
            for k in range(states):
                total += supports.share[at(k)] * supports.likelihood[at(first + k)]
            for k in range(states):
                weight = supports.share[at(k)] * supports.likelihood[at(first + k)]
                supports.responsibility[at(k)] += weight / total
    for k in range(states):
        supports.share[k] = supports.responsibility[k] / rows


def reset(agent: SparsePrior, x: int) -> None:
    """Back to the prior."""
    trajectory.reset(agent.spread, x)
    forget(agent)


def act(agent: SparsePrior, x: int) -> int:
    """Choose a best action; ties are broken at random."""
    return models.best_action(agent.spread.model, x, agent.rng)


@inlined
def learn(agent: SparsePrior, x: int, u: int, y: int, r: float) -> None:
    """Learn from the transition; the model is not solved again yet."""
    if agent.supports.is_modelled[x * agent.spread.model.counts.num_actions + u]:
        see(agent, x, u, y)
        update_shares(agent)
        set_rows(agent)
    else:
        spreads.count(agent.spread, x, u, y, r)
    models.skip(agent.spread.model)


def observe(agent: SparsePrior, x: int, u: int, y: int, r: float) -> None:
    """Learn from the transition, and solve again."""
    learn(agent, x, u, y, r)
    spreads.solve_with_bonuses(agent.spread)


register(SparsePrior, reset=reset, act=act, observe=observe)
