"""An MDP sampled from a posterior, with one row of transition probabilities per pair, solved.

Policy iteration starts from the values of the last sample: every state takes its best action, and
the values of that policy are computed exactly, until nothing improves. With too many states for a
matrix (`matrix` is then empty), values are computed by sweeps, to within SWEEP_TOLERANCE of their
scale.

In a merged MDP (see `merged`) the row of a pair is the best one of several.
"""

from typing import NamedTuple

from ..arrays import at, copy_vector
from ..choice import first_greedy, greedy
from ..counts import Counts, add_rewarded
from ..counts import reset as reset_counts
from ..jit import cold, inlined
from ..random.gamma import draw_row
from ..types import Floats, Integers, Words
from .elimination import eliminate
from .tolerances import SWEEP_TOLERANCE, SWITCH

MAX_TURNS = 1000  # of policy iteration
_ROUNDING = 1e-14  # sweeps can't make the relative change smaller


class SampledRows(NamedTuple):
    """The row of each pair; its probabilities have the order of the posterior's entries."""

    first_entry: Integers  # [P]; where the pair's entries were at the sampling
    length: Integers  # [P]; their number
    probability: Floats  # [pool, or more in a merged MDP]
    start: Integers  # [P]; where in `probability` the pair's row begins
    reward: Floats  # [P]; the row's expected reward


class Optimum(NamedTuple):
    """The optimal policy and its values."""

    policy: Integers  # [S]
    value: Floats  # [S]
    scale: Floats  # [1]; the largest absolute value
    q: Floats  # [P]
    matrix: Floats  # [S, S], or [0, 0] where sweeps take its place; work space


class Sampled(NamedTuple):
    """A posterior, rows sampled from it, and the optimum of the MDP that they make."""

    posterior: Counts  # has an entry for every possible next state, and no background
    discount: float
    entry_reward: Floats  # [pool]; reward of each of the posterior's entries
    rows: SampledRows
    optimum: Optimum


class Initial(NamedTuple):
    """The state at the beginning of every trajectory."""

    counts: Counts  # the prior's
    value: Floats  # [S]; the values of the prior's mean MDP


@inlined
def reset(mdp: Sampled, initial: Initial) -> None:
    """Back to the prior."""
    reset_counts(mdp.posterior, initial.counts)
    copy_vector(mdp.optimum.value, initial.value)


@inlined
def learn(mdp: Sampled, pair: int, y: int) -> None:
    """Count one transition; the sampled MDP stays as it is."""
    add_rewarded(mdp.posterior, mdp.entry_reward, pair, y)


@inlined
def best_action(mdp: Sampled, x: int, rng: Words) -> int:
    """A best action; ties are broken at random."""
    actions = mdp.posterior.num_actions
    return greedy(mdp.optimum.q, x * actions, actions, mdp.optimum.scale[0], rng)


@inlined
def first_best_action(mdp: Sampled, x: int) -> int:
    """The lowest-numbered best action."""
    actions = mdp.posterior.num_actions
    return first_greedy(mdp.optimum.q, x * actions, actions, mdp.optimum.scale[0])


@cold
def resample(mdp: Sampled, rng: Words) -> None:
    """Draw all rows anew and solve the MDP, starting from the values of the last one."""
    q = mdp.optimum.q
    for pair in range(len(q)):
        place_row(mdp, pair)
        draw_single(mdp, pair, rng)
    for turn in range(MAX_TURNS):
        for pair in range(len(q)):
            q[pair] = q_value(mdp, pair)
        better = improve(mdp)
        if turn > 0 and not better:
            break
        evaluate(mdp)


@inlined
def place_row(mdp: Sampled, pair: int) -> None:
    """Let the pair's row begin where its entries do."""
    rows, first = mdp.rows, mdp.posterior.row_start[pair]
    rows.first_entry[pair], rows.length[pair] = first, mdp.posterior.row_length[pair]
    rows.start[pair] = first


@inlined
def draw_single(mdp: Sampled, pair: int, rng: Words) -> None:
    """Draw the pair's only row."""
    entries = entries_of(mdp.rows, pair)
    draw_row(rng, mdp.posterior.entry_count[entries], mdp.rows.probability[entries])
    set_reward(mdp, pair)


@inlined
def row_of(rows: SampledRows, pair: int) -> slice:
    """The slice of `probability` that is the pair's row."""
    return slice(rows.start[pair], rows.start[pair] + rows.length[pair])


@inlined
def entries_of(rows: SampledRows, pair: int) -> slice:
    """The slice of the posterior's pool where the pair's outcomes were at the sampling."""
    return slice(rows.first_entry[pair], rows.first_entry[pair] + rows.length[pair])


@inlined
def set_reward(mdp: Sampled, pair: int) -> None:
    """Compute the expected reward of the pair's row."""
    posterior, rows = mdp.posterior, mdp.rows
    rows.reward[pair] = 0.0
    if posterior.reward_start[pair] < posterior.reward_start[pair + 1]:
        row = rows.probability[row_of(rows, pair)]
        rows.reward[pair] = dot(row, mdp.entry_reward[entries_of(rows, pair)])


@inlined
def dot(row: Floats, numbers: Floats) -> float:
    """The expectation of some numbers under a row's probabilities."""
    total = 0.0
    for i in range(len(row)):
        total += row[i] * numbers[i]
    return total


@inlined
def q_value(mdp: Sampled, pair: int) -> float:
    """The value of the pair's row."""
    rows, value = mdp.rows, mdp.optimum.value
    row = rows.probability[row_of(rows, pair)]
    following = mdp.posterior.entry_next[entries_of(rows, pair)]
    total = 0.0
    for i in range(len(row)):
        total += row[i] * value[at(following[i])]
    return rows.reward[pair] + mdp.discount * total


@inlined
def improve(mdp: Sampled) -> bool:
    """Take the actions with the highest Q-values; return whether values improve."""
    optimum, q = mdp.optimum, mdp.optimum.q
    largest = 0.0
    for value in optimum.value:
        largest = max(largest, abs(value))
    optimum.scale[0] = largest
    actions = mdp.posterior.num_actions
    gain = 0.0
    for x in range(len(optimum.policy)):
        best = x * actions
        for pair in range(best, best + actions):
            if q[pair] > q[best]:
                best = pair
        optimum.policy[x] = best - x * actions
        gain = max(gain, q[best] - optimum.value[x])
    return gain > (SWITCH if len(optimum.matrix) > 0 else SWEEP_TOLERANCE) * largest


@inlined
def evaluate(mdp: Sampled) -> None:
    """Compute the values of the policy."""
    if len(mdp.optimum.matrix) > 0:
        set_equations(mdp)
        eliminate(mdp.optimum.matrix, mdp.optimum.value)
    else:
        sweep(mdp)


@inlined
def set_equations(mdp: Sampled) -> None:
    """Set `matrix` to I - discount * P_policy, and `value` to the policy's rewards."""
    rows, optimum = mdp.rows, mdp.optimum
    for x in range(len(optimum.value)):
        pair = x * mdp.posterior.num_actions + optimum.policy[x]
        row = rows.probability[row_of(rows, pair)]
        following = mdp.posterior.entry_next[entries_of(rows, pair)]
        optimum.value[x] = rows.reward[pair]
        optimum.matrix[x, :] = 0.0
        optimum.matrix[x, x] = 1.0
        for i in range(len(row)):
            optimum.matrix[x, at(following[i])] -= mdp.discount * row[i]


@cold
def sweep(mdp: Sampled) -> None:
    """Compute the values of the policy by Gauss-Seidel sweeps.

    If a sweep changes no value by more than c, all are within c / (1 - discount) of the exact ones.
    """
    optimum = mdp.optimum
    tolerance = max(SWEEP_TOLERANCE / 4 * (1 - mdp.discount), _ROUNDING)
    change, largest = 1.0, 0.0
    while change > tolerance * largest:
        change, largest = 0.0, 0.0
        for x in range(len(optimum.value)):
            pair = x * mdp.posterior.num_actions + optimum.policy[x]
            value = q_value(mdp, pair)
            change = max(change, abs(value - optimum.value[x]))
            largest = max(largest, abs(value))
            optimum.value[x] = value
