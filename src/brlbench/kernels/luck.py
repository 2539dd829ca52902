"""The part of a return that is luck: the environment's noise, and the MDP that was drawn.

A baseline is a policy. Its values V_n(x), with n decisions left, are computed exactly in the true
MDP. Whatever an agent does, the noise of a step, r + gamma V(y) - E[r + gamma V(y)], has mean zero,
and so has its discounted sum over a trajectory.

In episodes, values are those of the rest of the episode, because nothing that an agent does reaches
beyond it. The draw of a start state, V(x) - E V(x), is noise too. The value of a trajectory's start
is that of its first episode plus the means over start states of all others, discounted.

Notation: F baselines, S states, E possible transitions, L layers of decisions left. With more than
L decisions left, layer L stands in: the noise still has mean zero.
"""

from typing import NamedTuple

from .jit import inlined, kernel
from .loop.environment import Environment, Tables, enter
from .loop.trajectory import Record
from .types import Floats, Integers

OPTIMAL, RANDOM, GREEDY = 0, 1, 2  # the baselines; GREEDY is optimal in the prior's mean MDP
NUM_BASELINES = 3


class Baselines(NamedTuple):
    """The baselines' values in one MDP."""

    discount: float
    episode: int  # decisions in an episode; the horizon without episodes
    horizon: int
    greedy: Integers  # [S]; the actions of GREEDY
    value: Floats  # [F, L + 1, S]; layer 0 is zero


@kernel
def start_values(
    env: Environment,
    baselines: Baselines,
    tables: Tables,  # n MDPs
    out: Floats,  # [n, F]
) -> None:
    """Each baseline's value in each MDP, a mean over start states."""
    value = baselines.value
    for i in range(len(tables.probability)):
        enter(env, tables, i)
        _solve(env, baselines)
        for f in range(NUM_BASELINES):
            out[i, f] = _mean_start(env, value, f)
            out[i, f] += _later_starts(baselines) * out[i, f]


@kernel
def measure(
    env: Environment,
    baselines: Baselines,
    tables: Tables,
    mdps: Integers,  # [n]; the MDP of each trajectory in the tables; equal ones in a row
    record: Record,
) -> None:
    """Fill in each trajectory's noise and the values of its start."""
    value, last = baselines.value, -1
    for i in range(len(mdps)):
        if mdps[i] != last:
            last = mdps[i]
            enter(env, tables, last)
            _solve(env, baselines)
        for f in range(NUM_BASELINES):
            record.start_values[i, f] = value[f, value.shape[1] - 1, record.states[i, 0]]
            if baselines.episode < baselines.horizon:
                later = _later_starts(baselines) * _mean_start(env, value, f)
                record.start_values[i, f] += later
            record.noise[i, f] = _noise(env, baselines, f, record, i)


@inlined
def _mean_start(env: Environment, value: Floats, f: int) -> float:
    """The mean value of an episode's start states."""
    total = 0.0
    for x in range(value.shape[2]):
        total += env.start[x] * value[f, value.shape[1] - 1, x]
    return total


@inlined
def _later_starts(baselines: Baselines) -> float:
    """The sum of the discounts of the episodes after the first one."""
    total = 0.0
    for first in range(baselines.episode, baselines.horizon, baselines.episode):
        total += baselines.discount**first
    return total


@inlined
def _noise(env: Environment, baselines: Baselines, f: int, record: Record, i: int) -> float:
    """The discounted sum of the noise in one trajectory."""
    value, episode = baselines.value, baselines.episode
    layers, weight, total = value.shape[1] - 1, 1.0, 0.0
    for t in range(record.actions.shape[1]):
        if t > 0 and t % episode == 0:
            drawn = value[f, layers, record.states[i, t]]
            total += weight * (drawn - _mean_start(env, value, f))
        n = min(episode - t % episode, layers)
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
