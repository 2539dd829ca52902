"""The action with the largest index, a formula of Q-values in up to three models.

The models are stacked: a `Model` whose arrays have one more axis, the first one. Only those that
the formula uses are kept up to date.

Ties: a Q-value is known to within TIE of its model's scale, as everywhere, and each operation
carries this tolerance over to first order. Indices closer than that are equal, so that formulas
which rank alike also tie alike. An action whose index is undefined is ranked below all others; if
all are undefined, all are tied.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...kernels.choice import TIE
from ...kernels.counts import Counts
from ...kernels.jit import inlined, kernel
from ...kernels.loop.trajectory import register
from ...kernels.random.rng import below
from ...kernels.solving import model as models
from ...kernels.solving.model import Model
from ...kernels.types import Floats, Integers, Words
from ..formulas import opcodes

Flags = NDArray[np.bool_]


class Formula(NamedTuple):
    """The agent's state, with M models."""

    rng: Words
    models: Model  # each array [M, …], but for the reward table
    initial: Model  # the same, solved for the prior
    used: Flags  # [M]; the models to be kept up to date
    codes: Integers  # [tokens]; instructions, see `opcodes`
    numbers: Floats  # [tokens]; the number that a NUMBER pushes
    length: Integers  # [1]; how many of the instructions count
    stack: Floats  # [depth, 2]; work space: values and their tolerances
    indices: Floats  # [A, 2]; of the actions in the present state: values and tolerances
    undefined: Integers  # [1]; how many indices have been undefined since the start


@inlined
def pick(stacked: Model, k: int) -> Model:
    """One of the stacked models, as a view."""
    counts = stacked.counts
    return Model(
        Counts(
            counts.num_states,
            counts.num_actions,
            counts.has_background,
            counts.background[k],
            counts.total[k],
            counts.reward_sum[k],
            counts.row_start[k],
            counts.row_length[k],
            counts.row_room[k],
            counts.entry_next[k],
            counts.entry_count[k],
            counts.pool_end[k],
            counts.reward_start,
            counts.reward_next,
            counts.reward,
        ),
        stacked.discount,
        stacked.bonus[k],
        stacked.policy[k],
        stacked.pending[k],
        stacked.inverse[k],
        stacked.row[k],
        stacked.value[k],
        stacked.q[k],
        stacked.norms[k],
    )


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
def evaluate(agent: Formula, pair: int) -> tuple[float, float]:
    """The index of a pair and its tolerance; NaN if it is undefined."""
    stack, top = agent.stack, -1
    for i in range(agent.length[0]):
        code = agent.codes[i]
        if code == opcodes.NUMBER:
            top += 1
            value, tolerance = agent.numbers[i], 0.0
        elif code < opcodes.NUMBER:
            top += 1
            value, tolerance = agent.models.q[code, pair], TIE * agent.models.norms[code, 1]
        elif code <= opcodes.LAST_UNARY:
            value, tolerance = unary(code, stack[top, 0], stack[top, 1])
        else:
            top -= 1
            value, tolerance = binary(
                code, stack[top, 0], stack[top, 1], stack[top + 1, 0], stack[top + 1, 1]
            )
        if not math.isfinite(value):
            return np.nan, 0.0
        stack[top, 0], stack[top, 1] = value, tolerance
    return stack[0, 0], stack[0, 1]


@inlined
def tied(indices: Floats, u: int, best: int) -> bool:
    """Whether an action is as good as a best one; best < 0: none has an index."""
    if best < 0 or u == best:
        return True
    # Written so that NaN is not tied.
    return indices[best, 0] - indices[u, 0] <= max(indices[best, 1], indices[u, 1])


def reset(agent: Formula, x: int) -> None:
    """All models are those of the prior again."""
    agent.undefined[0] = 0
    for k in range(len(agent.used)):
        if agent.used[k]:
            models.reset(pick(agent.models, k), pick(agent.initial, k))


def act(agent: Formula, x: int) -> int:
    """Choose an action with the largest index; ties are broken at random."""
    actions = agent.models.counts.num_actions
    indices, best = agent.indices, -1
    for u in range(actions):
        indices[u, 0], indices[u, 1] = evaluate(agent, x * actions + u)
        if math.isnan(indices[u, 0]):
            agent.undefined[0] += 1
        elif best < 0 or indices[u, 0] > indices[best, 0]:
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
            models.learn(pick(agent.models, k), x, u, y)


register(Formula, reset=reset, act=act, observe=observe)


@kernel
def evaluate_once(agent: Formula, pair: int) -> tuple[float, float]:
    """`evaluate`, for callers in Python."""
    return evaluate(agent, pair)
