"""The action with the largest index, a formula of Q-values in up to three models.

The models are stacked: a `Model` whose arrays have one more axis, the first one. Only models that
the formula uses are kept up to date. Under a prior that is not flat, the first model follows its
belief; the others count each pair's own transitions. Each learns unknown rewards for itself.

Ties: a Q-value is known to within TIE of its model's scale, and each operation carries this
tolerance over to first order. Indices within their tolerance of each other are equal, so that
formulas which rank alike also tie alike. An action whose index is undefined is ranked below all
others; if all are undefined, all are tied.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from ...beliefs.rewards.kernel import Means, Rewarded
from ...formulas import opcodes
from ...kernels.choice import TIE
from ...kernels.counts import Counts
from ...kernels.dispatch import by_type, provide
from ...kernels.families import Flat
from ...kernels.jit import inlined
from ...kernels.loop.trajectory import register
from ...kernels.random.rng import below
from ...kernels.solving import model as models
from ...kernels.solving import undo
from ...kernels.solving.model import SCALE, Model, as_flat
from ...kernels.solving.plans import Endless, Episode
from ...kernels.types import Booleans, Floats, Integers, Words

VALUE, TOLERANCE = 0, 1  # columns of `stack` and `indices`
NO_ACTION = -1


class Program(NamedTuple):
    """A formula's instructions, in reverse Polish order, and the stack that they work on."""

    codes: Integers  # [tokens]; see `opcodes`
    numbers: Floats  # [tokens]; the number that a NUMBER pushes
    length: Integers  # [1]; number of instructions in use
    stack: Floats  # [tokens, 2]; work space: VALUE and TOLERANCE


class Formula(NamedTuple):
    """The agent's state, with M models."""

    rng: Words
    models: Model  # each array [M, …], except the reward table
    initial: Model  # the same, solved for the prior
    used: Booleans  # [M]; which models are kept up to date
    program: Program
    indices: Floats  # [A, 2]; VALUE and TOLERANCE of each action in the present state
    undefined: Integers  # [1]; number of undefined indices since the last reset


@by_type
def belief_of(belief: Any, k: int) -> Any:
    """The belief of one of the stacked models."""


def _belief_of(belief: Any, k: int) -> Any:
    return belief


def _rewarded_of(belief: Rewarded, k: int) -> Rewarded:
    means = belief.means
    return Rewarded(
        inner=belief.inner,
        means=Means(
            weight=means.weight[k],
            total=means.total[k],
            deviation=means.deviation[k],
            is_binary=means.is_binary,
        ),
    )


provide(tuple, {belief_of: _belief_of})
provide(Rewarded, {belief_of: _rewarded_of})


@inlined
def pick(stacked: Model, k: int) -> Model:
    """One of the stacked models, as a view."""
    counts = stacked.counts
    return Model(
        belief=belief_of(stacked.belief, k),
        counts=Counts(
            num_states=counts.num_states,
            num_actions=counts.num_actions,
            has_background=counts.has_background,
            background=counts.background[k],
            total=counts.total[k],
            reward_sum=counts.reward_sum[k],
            row_start=counts.row_start[k],
            row_length=counts.row_length[k],
            row_room=counts.row_room[k],
            entry_next=counts.entry_next[k],
            entry_count=counts.entry_count[k],
            pool_end=counts.pool_end[k],
            reward_start=counts.reward_start,
            reward_next=counts.reward_next,
            reward=counts.reward,
        ),
        discount=stacked.discount,
        entry_reward=stacked.entry_reward,
        bonus=stacked.bonus[k],
        policy=stacked.policy[k],
        pending=stacked.pending[k],
        inverse=stacked.inverse[k],
        row=stacked.row[k],
        value=stacked.value[k],
        q=stacked.q[k],
        norms=stacked.norms[k],
        plan=pick_plan(stacked.plan, k),
    )


@by_type
def pick_plan(plan: Any, k: int) -> Any:
    """The plan of one of the stacked models."""


def _pick_endless(plan: Endless, k: int) -> Endless:
    return plan


def _pick_episode(plan: Episode, k: int) -> Episode:
    return Episode(length=plan.length, every_step=plan.every_step, step=plan.step[k], q=plan.q[k])


provide(Endless, {pick_plan: _pick_endless})
provide(Episode, {pick_plan: _pick_episode})


@by_type
def learn_stacked(belief: Any, stacked: Model, k: int, x: int, u: int, y: int, r: float) -> None:
    """Let one of the stacked models learn."""


def _learn_flat(belief: Flat, stacked: Model, k: int, x: int, u: int, y: int, r: float) -> None:
    models.learn(pick(stacked, k), x, u, y, r)


def _learn(belief: Any, stacked: Model, k: int, x: int, u: int, y: int, r: float) -> None:
    if k == 0:
        undo.learn(pick(stacked, k), x, u, y, r)
    else:
        undo.learn(as_flat(pick(stacked, k)), x, u, y, r)


@by_type
def reset_stacked(belief: Any, stacked: Model, initial: Model, k: int, x: int) -> None:
    """Reset one of the stacked models, and let it learn from the start state."""


def _reset_flat(belief: Flat, stacked: Model, initial: Model, k: int, x: int) -> None:
    models.reset(pick(stacked, k), pick(initial, k), x)


def _reset(belief: Any, stacked: Model, initial: Model, k: int, x: int) -> None:
    if k == 0:
        models.start(pick(stacked, k), pick(initial, k), x)
    else:
        models.reset(as_flat(pick(stacked, k)), as_flat(pick(initial, k)), x)


provide(Flat, {learn_stacked: _learn_flat, reset_stacked: _reset_flat})
provide(tuple, {learn_stacked: _learn, reset_stacked: _reset})


@inlined
def unary(code: int, a: float, s: float) -> tuple[float, float]:
    """The value of an operation on a, which has tolerance s, and its tolerance."""
    if code == opcodes.ABS:
        return abs(a), s
    if code == opcodes.OPPOSITE:
        return -a, s
    if code == opcodes.SQRT:
        if a <= 0:
            return (0.0 if a == 0 else np.nan), math.sqrt(s)
        return math.sqrt(a), min(s / (2 * math.sqrt(a)), math.sqrt(s))
    if code == opcodes.LN:
        return (math.log(a), s / a) if a > 0 else (np.nan, s)
    return (1 / a, s / a / a) if a != 0 else (np.nan, s)


@inlined
def binary(code: int, a: float, s: float, b: float, t: float) -> tuple[float, float]:
    """The value of an operation on a and b, which have tolerances s and t, and its tolerance."""
    if code == opcodes.ADD:
        return a + b, s + t
    if code == opcodes.SUBTRACT:
        return a - b, s + t
    if code == opcodes.MULTIPLY:
        return a * b, abs(a) * t + abs(b) * s
    if code == opcodes.MIN:
        return (a, s) if a <= b else (b, t)
    if code == opcodes.MAX:
        return (a, s) if a >= b else (b, t)
    return (a / b, (s + t * abs(a / b)) / abs(b)) if b != 0 else (np.nan, s)


@inlined
def evaluate(program: Program, stacked: Model, pair: int) -> tuple[float, float]:
    """The index of a pair and its tolerance; NaN if it is undefined."""
    stack, top = program.stack, -1
    for i in range(program.length[0]):
        code = program.codes[i]
        if code == opcodes.NUMBER:
            top += 1
            value, tolerance = program.numbers[i], 0.0
        elif code < opcodes.NUMBER:
            top += 1
            value, tolerance = stacked.q[code, pair], TIE * stacked.norms[code, SCALE]
        elif code <= opcodes.LAST_UNARY:
            value, tolerance = unary(code, stack[top, VALUE], stack[top, TOLERANCE])
        else:
            top -= 1
            one, other = stack[top], stack[top + 1]
            value, tolerance = binary(
                code, one[VALUE], one[TOLERANCE], other[VALUE], other[TOLERANCE]
            )
        if not math.isfinite(value):
            return np.nan, 0.0
        stack[top, VALUE], stack[top, TOLERANCE] = value, tolerance
    return stack[0, VALUE], stack[0, TOLERANCE]


@inlined
def tied(indices: Floats, u: int, best: int) -> bool:
    """Whether an action is as good as the best one by indices [A, 2]; all are for NO_ACTION."""
    if best == NO_ACTION or u == best:
        return True
    # Written so that NaN is not tied.
    tolerance = max(indices[best, TOLERANCE], indices[u, TOLERANCE])
    return indices[best, VALUE] - indices[u, VALUE] <= tolerance


def reset(agent: Formula, x: int) -> None:
    """Back to the prior, in all models that are used."""
    agent.undefined[0] = 0
    for k in range(len(agent.used)):
        if agent.used[k]:
            reset_stacked(agent.models.belief, agent.models, agent.initial, k, x)


def act(agent: Formula, x: int) -> int:
    """Choose an action with the largest index; ties are broken at random."""
    actions = agent.models.counts.num_actions
    indices, best = agent.indices, NO_ACTION
    for u in range(actions):
        index = evaluate(agent.program, agent.models, x * actions + u)
        indices[u, VALUE], indices[u, TOLERANCE] = index
        if math.isnan(indices[u, VALUE]):
            agent.undefined[0] += 1
        elif best == NO_ACTION or indices[u, VALUE] > indices[best, VALUE]:
            best = u
    number = 0
    for u in range(actions):
        number += tied(indices, u, best)
    skip = below(agent.rng, number) if number > 1 else 0
    for u in range(actions):
        if tied(indices, u, best):
            if skip == 0:
                return u
            skip -= 1
    return 0


def observe(agent: Formula, x: int, u: int, y: int, r: float) -> None:
    """Let the models that are used learn."""
    for k in range(len(agent.used)):
        if agent.used[k]:
            learn_stacked(agent.models.belief, agent.models, k, x, u, y, r)


register(Formula, reset=reset, act=act, observe=observe)
