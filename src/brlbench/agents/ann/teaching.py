"""Samples from trajectories: the network's inputs and the teacher's labels."""

from typing import Any, NamedTuple

from ...kernels.arrays import copy_vector
from ...kernels.jit import kernel
from ...kernels.loop.environment import Environment, Tables, enter
from ...kernels.loop.trajectory import Record, act, observe, register, reset, reset_known
from ...kernels.random.rng import below, uniform
from ...kernels.types import Floats, Integers, Words
from ..optimal.kernel import Optimal
from .kernel import Ann, fill_inputs


class Guide(NamedTuple):
    """Plays optimally, but in MDP i takes a random action with probability i / last."""

    rng: Words
    optimal: Optimal
    num_begun: Integers  # [1]; number of MDPs begun
    last: int  # number of the last MDP


def _reset_known(agent: Guide, env: Environment, x: int) -> None:
    agent.num_begun[0] += 1
    reset_known(agent.optimal, env, x)


def _act(agent: Guide, x: int) -> int:
    if uniform(agent.rng) * agent.last < agent.num_begun[0] - 1:
        return below(agent.rng, agent.optimal.model.counts.num_actions)
    return act(agent.optimal, x)


def _observe(agent: Guide, x: int, u: int, y: int, r: float) -> None:
    pass


register(Guide, reset_known=_reset_known, act=_act, observe=_observe)


@kernel
def watch(agent: Ann, record: Record, inputs: Floats) -> None:
    """The network's inputs [n, T, I] in recorded trajectories."""
    for i in range(len(record.actions)):
        reset(agent, record.states[i, 0])
        for t in range(record.actions.shape[1]):
            x = record.states[i, t]
            fill_inputs(agent, x)
            for k in range(inputs.shape[2]):
                inputs[i, t, k] = agent.network.units[k]
            observe(agent, x, record.actions[i, t], record.states[i, t + 1], record.rewards[i, t])


@kernel
def teach_actions(
    teacher: Any,
    env: Environment,
    tables: Tables,  # n MDPs
    seeds: Words,  # [n, 4]
    record: Record,
    labels: Floats,  # [n, T, A]
) -> None:
    """Label recorded steps: 1 for the action that the teacher would take, -1 for the others."""
    labels[:] = -1.0
    for i in range(len(record.actions)):
        enter(env, tables, i)
        copy_vector(teacher.rng, seeds[i])
        reset_known(teacher, env, record.states[i, 0])
        for t in range(record.actions.shape[1]):
            x = record.states[i, t]
            labels[i, t, act(teacher, x)] = 1.0
            observe(teacher, x, record.actions[i, t], record.states[i, t + 1], record.rewards[i, t])


@kernel
def teach_advantages(
    teacher: Any,
    env: Environment,
    tables: Tables,  # n MDPs
    seeds: Words,  # [n, 4]
    record: Record,
    labels: Floats,  # [n, T, A]
) -> None:
    """Label recorded steps: the teacher's Q-value of each action, less that of the best."""
    for i in range(len(record.actions)):
        enter(env, tables, i)
        copy_vector(teacher.rng, seeds[i])
        reset_known(teacher, env, record.states[i, 0])
        for t in range(record.actions.shape[1]):
            x, actions = record.states[i, t], labels.shape[2]
            best = teacher.model.q[x * actions]
            for u in range(1, actions):
                best = max(best, teacher.model.q[x * actions + u])
            for u in range(actions):
                labels[i, t, u] = teacher.model.q[x * actions + u] - best
            observe(teacher, x, record.actions[i, t], record.states[i, t + 1], record.rewards[i, t])
