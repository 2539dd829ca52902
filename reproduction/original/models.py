"""Models that learn and are solved again by value iteration from zero, as the original does it.

x, u, y are a state, an action and the next state; k is a model. Sums run over the next states in
ascending order, with the original's order of operations, so that they round alike.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from brlbench.agents.formula.kernel import binary, unary
from brlbench.formulas import opcodes
from brlbench.kernels.jit import cold, inlined
from brlbench.kernels.loop.trajectory import register
from brlbench.kernels.random.rng import below, uniform
from brlbench.kernels.types import Floats, Integers, Words

from .choosing import first_best, highest, random_best


class Models(NamedTuple):
    """M models of the MDP, their mean transition probabilities and their solutions."""

    prior: Floats  # [M, S, A, S]; the counts at the start
    counts: Floats  # [M, S, A, S]
    next_states: Integers  # [M, S, A, S]; the possible ones of each pair, in ascending order
    mean: Floats  # [M, S, A, S]; their probabilities
    reward: Floats  # [M, S, A, S]; their rewards
    num_next: Integers  # [M, S, A]
    total: Floats  # [M, S, A]; sums of counts
    rewards: Floats  # [S, A, S]; of all next states
    q: Floats  # [M, S, A]
    value: Floats  # [S]; work space
    discount: float
    accuracy: float  # value iteration stops when a sweep changes values by less


@inlined
def reset_models(models: Models) -> None:
    """Back to the prior, not solved yet."""
    num_models, states, actions, _ = models.prior.shape
    for k in range(num_models):
        for x in range(states):
            for u in range(actions):
                for y in range(states):
                    models.counts[k, x, u, y] = models.prior[k, x, u, y]
                set_mean(models, k, x, u)


@inlined
def count(models: Models, x: int, u: int, y: int) -> None:
    """Let all models learn from a transition; they are not solved."""
    for k in range(len(models.prior)):
        models.counts[k, x, u, y] += 1
        set_mean(models, k, x, u)


@cold
def set_mean(models: Models, k: int, x: int, u: int) -> None:
    """Set a pair's mean probabilities and its possible next states from its counts."""
    total, number = 0.0, 0
    for y in range(models.counts.shape[3]):
        total += models.counts[k, x, u, y]
        if models.counts[k, x, u, y] > 0:
            models.next_states[k, x, u, number] = y
            number += 1
    for i in range(number):
        y = models.next_states[k, x, u, i]
        models.mean[k, x, u, i] = models.counts[k, x, u, y] / total
        models.reward[k, x, u, i] = models.rewards[x, u, y]
    models.total[k, x, u], models.num_next[k, x, u] = total, number


@inlined
def backed_up(models: Models, k: int, x: int, u: int, bonus: float) -> float:
    """Bellman's equation: the value of a pair from the values of its next states."""
    next_states, mean, reward = (
        models.next_states[k, x, u],
        models.mean[k, x, u],
        models.reward[k, x, u],
    )
    total = 0.0
    for i in range(models.num_next[k, x, u]):
        later = models.discount * models.value[next_states[i]]
        total += mean[i] * ((reward[i] + bonus) + later)
    return total


@cold
def iterate_q(models: Models, k: int) -> None:
    """Iterate Q from zero until no value changes by more than the accuracy."""
    _, states, actions = models.q.shape
    for x in range(states):
        for u in range(actions):
            models.q[k, x, u] = 0.0
    change = math.inf
    while change > models.accuracy:
        for x in range(states):
            models.value[x] = highest(models.q[k, x])
        change = 0.0
        for x in range(states):
            for u in range(actions):
                value = backed_up(models, k, x, u, 0.0)
                change = max(change, abs(value - models.q[k, x, u]))
                models.q[k, x, u] = value


class Program(NamedTuple):
    """A formula's instructions, in reverse Polish order."""

    codes: Integers  # [tokens]; see `brlbench.formulas.opcodes`
    numbers: Floats  # [tokens]
    stack: Floats  # [tokens]; work space


@inlined
def evaluate(program: Program, q: Floats, x: int, u: int) -> float:
    """The formula's value at a pair, from the Q-functions [M, S, A] of the models."""
    stack, top = program.stack, -1
    for i in range(len(program.codes)):
        code = program.codes[i]
        if code <= opcodes.NUMBER:
            top += 1
            stack[top] = program.numbers[i] if code == opcodes.NUMBER else q[code, x, u]
        elif code <= opcodes.LAST_UNARY:
            stack[top] = unary(code, stack[top], 0.0)[0]
        else:
            top -= 1
            stack[top] = binary(code, stack[top], 0.0, stack[top + 1], 0.0)[0]
    return stack[0]


class Index(NamedTuple):
    """The action with the highest index or, with probability epsilon, a random one."""

    rng: Words
    models: Models
    program: Program
    indices: Floats  # [A]; of the actions in the present state
    epsilon: float
    tolerance: float  # relative to the largest index


def reset_index(agent: Index, x: int) -> None:
    """Back to the prior."""
    reset_models(agent.models)
    for k in range(len(agent.models.q)):
        iterate_q(agent.models, k)


def act_by_index(agent: Index, x: int) -> int:
    """Take a random action with probability epsilon, and else a best one."""
    indices, scale = agent.indices, 0.0
    if uniform(agent.rng) < agent.epsilon:
        return below(agent.rng, len(indices))
    for u in range(len(indices)):
        indices[u] = evaluate(agent.program, agent.models.q, x, u)
        scale = max(scale, abs(indices[u]))
    return random_best(indices, agent.tolerance * scale, agent.rng)


def observe_index(agent: Index, x: int, u: int, y: int, r: float) -> None:
    """Count the transition and solve again."""
    count(agent.models, x, u, y)
    for k in range(len(agent.models.q)):
        iterate_q(agent.models, k)


register(Index, reset=reset_index, act=act_by_index, observe=observe_index)


class Beb(NamedTuple):
    """BEB on one model. It stops by the Euclidean norm, and takes the first of the best actions."""

    rng: Words
    models: Models
    beta: float
    tolerance: float  # relative to the largest value


@cold
def iterate_with_bonus(agent: Beb) -> None:
    """Iterate from zero until the values change by no more than the accuracy, in norm."""
    models = agent.models
    _, states, actions = models.q.shape
    for x in range(states):
        models.value[x] = 0.0
    squares = math.inf
    while squares > models.accuracy**2:
        for x in range(states):
            for u in range(actions):
                bonus = agent.beta / (1 + models.total[0, x, u])
                models.q[0, x, u] = backed_up(models, 0, x, u, bonus)
        squares = 0.0
        for x in range(states):
            best = highest(models.q[0, x])
            squares += (best - models.value[x]) ** 2
            models.value[x] = best


def reset_beb(agent: Beb, x: int) -> None:
    """Back to the prior."""
    reset_models(agent.models)
    iterate_with_bonus(agent)


def act_beb(agent: Beb, x: int) -> int:
    """The first of the best actions."""
    q = agent.models.q[0, x]
    return first_best(q, agent.tolerance * abs(highest(q)))


def observe_beb(agent: Beb, x: int, u: int, y: int, r: float) -> None:
    """Count the transition and solve again."""
    count(agent.models, x, u, y)
    iterate_with_bonus(agent)


register(Beb, reset=reset_beb, act=act_beb, observe=observe_beb)


def build_models(prior: Any, rewards: Floats, discount: float, accuracy: float) -> Models:
    """Models that start from counts `prior` [M, S, A, S]."""
    num_models, states, actions, _ = prior.shape
    return Models(
        prior=prior,
        counts=prior.copy(),
        next_states=np.zeros(prior.shape, np.int64),
        mean=np.zeros(prior.shape),
        reward=np.zeros(prior.shape),
        num_next=np.zeros((num_models, states, actions), np.int64),
        total=np.zeros((num_models, states, actions)),
        rewards=rewards,
        q=np.zeros((num_models, states, actions)),
        value=np.zeros(states),
        discount=discount,
        accuracy=accuracy,
    )
