"""An MDP sampled from a posterior, with one row of transition probabilities per pair, solved.

Policy iteration starts from the values of the last sample: every state takes its best action, and
the values of that policy are computed exactly, until nothing improves. With too many states for a
matrix (`matrix` is then empty), values are computed by sweeps, to within SWEEP_TOLERANCE of their
scale.

In episodes, solutions are those of `episodes`.

In a merged MDP (see `merged`) the row of a pair is the best one of several.
"""

from typing import Any, NamedTuple

import numpy as np

from .. import families
from ..arrays import at, copy_vector
from ..choice import first_greedy, greedy
from ..counts import Counts
from ..counts import reset as reset_counts
from ..dispatch import by_type, provide
from ..families import Flat
from ..jit import cold, inlined
from ..random.gamma import draw_row
from ..types import Floats, Integers, Words
from .elimination import eliminate
from .plans import Endless
from .tolerances import SWEEP_TOLERANCE, SWITCH

MAX_TURNS = 1000  # of policy iteration
_ROUNDING = 1e-14  # sweeps can't make the relative change smaller
_NARROWING = 0.75  # of bounds per sweep, at least; otherwise Gauss-Seidel sweeps are faster


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

    posterior: Counts  # has an entry for every possible outcome, and no background
    belief: Any  # see `families`
    discount: float
    entry_reward: Floats  # [pool]; reward of each of the posterior's entries
    rows: SampledRows
    optimum: Optimum
    plan: Any  # Endless or Episode


class Initial(NamedTuple):
    """The state at the beginning of every trajectory."""

    counts: Counts  # the prior's
    belief: Any  # the prior's
    value: Floats  # [S]; the values of the prior's mean MDP


@inlined
def without_belief(mdp: Sampled) -> Sampled:
    """The same MDP without the belief that it was drawn from: solving is compiled once for all."""
    return Sampled(mdp.posterior, Flat(), *mdp[2:])  # the second field is the belief


@inlined
def reset(mdp: Sampled, initial: Initial, x: int) -> bool:
    """Back to the prior, and learn from the start state x; return whether that taught anything."""
    reset_counts(mdp.posterior, initial.counts)
    families.reset(mdp.belief, initial.belief)
    copy_vector(mdp.optimum.value, initial.value)
    begin_sampled(mdp.plan, without_belief(mdp))
    return families.begin(mdp.belief, x)


@inlined
def learn(mdp: Sampled, pair: int, y: int, r: float) -> None:
    """Learn from a transition; the sampled MDP stays as it is."""
    families.observe(mdp.belief, mdp.posterior, mdp.entry_reward, pair, y, r)
    skip_sampled(mdp.plan, without_belief(mdp))


@by_type
def begin_sampled(plan: Any, mdp: Sampled) -> None:
    """A trajectory begins, by the plan."""


@by_type
def skip_sampled(plan: Any, mdp: Sampled) -> None:
    """A decision was made, by the plan."""


@by_type
def solve_sampled(plan: Any, mdp: Sampled) -> None:
    """`solve`, by the plan."""


def _do_nothing(plan: Endless, mdp: Sampled) -> None:
    pass


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
    """Draw an MDP and find its optimum."""
    draw_optimum(mdp.belief, mdp, rng)


@by_type
def draw_optimum(belief: Any, mdp: Sampled, rng: Words) -> None:
    """`resample`, by the belief's family."""


@by_type
def draw_rows(belief: Any, mdp: Sampled, rng: Words) -> None:
    """Draw an MDP: the rows of all pairs, and their rewards."""


def _draw_optimum(belief: Any, mdp: Sampled, rng: Words) -> None:
    draw_rows(belief, mdp, rng)
    solve(mdp)


def _draw_rows(belief: Flat, mdp: Sampled, rng: Words) -> None:
    for pair in range(len(mdp.rows.start)):
        place_row(mdp, pair)
        draw_single(mdp, pair, rng)


provide(tuple, {draw_optimum: _draw_optimum})
provide(Flat, {draw_rows: _draw_rows})


@inlined
def solve(mdp: Sampled) -> None:
    """Solve the MDP, starting from the values of the last one."""
    solve_sampled(mdp.plan, without_belief(mdp))


def _solve_endless(plan: Endless, mdp: Sampled) -> None:
    q = mdp.optimum.q
    for turn in range(MAX_TURNS):
        for pair in range(len(q)):
            q[pair] = q_value(mdp, pair)
        better = improve(mdp)
        if turn > 0 and not better:
            break
        evaluate(mdp)


provide(
    Endless,
    {
        begin_sampled: _do_nothing,
        skip_sampled: _do_nothing,
        solve_sampled: _solve_endless,
    },
)


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
    """Compute the values of the policy."""
    if not sweep_and_shift(mdp):
        sweep_in_place(mdp)


@inlined
def sweep_and_shift(mdp: Sampled) -> bool:
    """Sweep while bounds narrow fast; then shift all values alike; return whether they are exact.

    If a sweep changes values by between l and h, all later sweeps together change them by between
    l and h times discount / (1 - discount) (MacQueen, 1966); the shift is to the middle. In MDPs
    that soon forget where they began, few sweeps suffice.
    """
    optimum, actions = mdp.optimum, mdp.posterior.num_actions
    later, error, narrows = mdp.discount / (1 - mdp.discount), np.inf, True
    while narrows:
        lowest, highest, last_error = np.inf, -np.inf, error
        bottom, top = np.inf, -np.inf
        for x in range(len(optimum.value)):
            pair = x * actions + optimum.policy[x]
            optimum.q[pair] = q_value(mdp, pair)
        for x in range(len(optimum.value)):
            value = optimum.q[x * actions + optimum.policy[x]]
            change = value - optimum.value[x]
            lowest, highest = min(lowest, change), max(highest, change)
            bottom, top, optimum.value[x] = min(bottom, value), max(top, value), value
        error, shift = later * (highest - lowest) / 2, later * (highest + lowest) / 2
        largest = max(abs(bottom + shift), abs(top + shift))
        if error <= max(SWEEP_TOLERANCE / 4, later * _ROUNDING) * largest:
            for x in range(len(optimum.value)):
                optimum.value[x] += shift
            return True
        narrows = error < _NARROWING * last_error
    return False


@inlined
def sweep_in_place(mdp: Sampled) -> None:
    """Gauss-Seidel sweeps.

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
