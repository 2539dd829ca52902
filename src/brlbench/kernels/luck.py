"""The part of a return that is luck: the environment's noise, and the MDP that was drawn.

A baseline is a policy. Its values V_n(x), with n decisions left, are computed exactly in the true
MDP. Whatever an agent does, the noise of a step, r + gamma V(y) - E[r + gamma V(y)], has mean zero,
and so has its discounted sum over a trajectory.

Notation: F baselines, S states, E possible transitions, L layers of decisions left. With more than
L decisions left, layer L stands in: the noise still has mean zero.
"""

from typing import NamedTuple

from .arrays import copy_vector
from .jit import inlined, kernel
from .loop.environment import Environment
from .loop.trajectory import Record
from .types import Floats, Integers

OPTIMAL, RANDOM, GREEDY = 0, 1, 2  # the baselines; GREEDY is optimal in the prior's mean MDP
NUM_BASELINES = 3


class Baselines(NamedTuple):
    """The baselines' values in one MDP."""

    discount: float
    greedy: Integers  # [S]; the actions of GREEDY
    value: Floats  # [F, L + 1, S]; layer 0 is zero


@kernel
def start_values(
    env: Environment,
    baselines: Baselines,
    probabilities: Floats,  # [n, E]; of n MDPs
    out: Floats,  # [n, F]
) -> None:
    """Each baseline's value in each MDP, a mean over start states."""
    value = baselines.value
    for i in range(len(probabilities)):
        copy_vector(env.probability, probabilities[i])
        _solve(env, baselines)
        for f in range(NUM_BASELINES):
            out[i, f] = 0.0
            for x in range(value.shape[2]):
                out[i, f] += env.start[x] * value[f, value.shape[1] - 1, x]


@kernel
def measure(
    env: Environment,
    baselines: Baselines,
    probabilities: Floats,  # [M, E]
    mdps: Integers,  # [n]; which of the M each trajectory was played in; equal ones in a row
    record: Record,
) -> None:
    """Fill in each trajectory's noise and the values of its start."""
    value, last = baselines.value, -1
    for i in range(len(mdps)):
        if mdps[i] != last:
            last = mdps[i]
            copy_vector(env.probability, probabilities[last])
            _solve(env, baselines)
        for f in range(NUM_BASELINES):
            record.start_values[i, f] = value[f, value.shape[1] - 1, record.states[i, 0]]
            record.noise[i, f] = _noise(env, baselines, f, record, i)


@inlined
def _noise(env: Environment, baselines: Baselines, f: int, record: Record, i: int) -> float:
    """The discounted sum of the noise in one trajectory."""
    value, horizon = baselines.value, record.actions.shape[1]
    layers, weight, total = value.shape[1] - 1, 1.0, 0.0
    for t in range(horizon):
        n = min(horizon - t, layers)
        pair = record.states[i, t] * env.num_actions + record.actions[i, t]
        following = baselines.discount * value[f, n - 1, record.states[i, t + 1]]
        total += weight * (record.rewards[i, t] + following - _expected(env, baselines, f, n, pair))
        weight *= baselines.discount
    return total


@inlined
def _solve(env: Environment, baselines: Baselines) -> None:
    """Compute all values by backward induction."""
    value = baselines.value
    for f in range(NUM_BASELINES):
        for n in range(1, value.shape[1]):
            for x in range(value.shape[2]):
                value[f, n, x] = _value(env, baselines, f, n, x)


@inlined
def _value(env: Environment, baselines: Baselines, f: int, n: int, x: int) -> float:
    first = x * env.num_actions
    if f == GREEDY:
        return _expected(env, baselines, f, n, first + baselines.greedy[x])
    best = total = _expected(env, baselines, f, n, first)
    for pair in range(first + 1, first + env.num_actions):
        expected = _expected(env, baselines, f, n, pair)
        best = max(best, expected)
        total += expected
    return best if f == OPTIMAL else total / env.num_actions


@inlined
def _expected(env: Environment, baselines: Baselines, f: int, n: int, pair: int) -> float:
    """The expected reward of a pair plus the value that follows, with n decisions left."""
    value, total = baselines.value, 0.0
    for entry in range(env.row_start[pair], env.row_start[pair + 1]):
        following = baselines.discount * value[f, n - 1, env.next_state[entry]]
        total += env.probability[entry] * (env.reward[entry] + following)
    return total
