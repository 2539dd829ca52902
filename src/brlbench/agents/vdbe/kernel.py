"""Epsilon-greedy with an epsilon per state, which follows the changes of the Q-values."""

import math
from typing import NamedTuple

from ...kernels.loop.trajectory import register
from ...kernels.random.rng import below, uniform
from ...kernels.solving import model as models
from ...kernels.solving.model import Model
from ...kernels.types import Floats, Words


class Vdbe(NamedTuple):
    """The agent's state."""

    rng: Words
    model: Model
    initial: Model
    epsilon: Floats  # [S]
    initial_epsilon: float
    sigma: float
    delta: float
    moves_all: bool  # whether the epsilon of all states moves, or of the visited state only


def reset(agent: Vdbe, x: int) -> None:
    """Back to the prior, and to the initial epsilon everywhere."""
    models.start(agent.model, agent.initial, x)
    agent.epsilon[:] = agent.initial_epsilon


def act(agent: Vdbe, x: int) -> int:
    """Epsilon-greedy with the state's own epsilon."""
    if uniform(agent.rng) < agent.epsilon[x]:
        return below(agent.rng, agent.model.counts.num_actions)
    return models.best_action(agent.model, x, agent.rng)


def observe(agent: Vdbe, x: int, u: int, y: int, r: float) -> None:
    """Learn, then move epsilon towards how much the Q-value has changed."""
    pair = x * agent.model.counts.num_actions + u
    before = agent.model.q[pair]
    models.learn(agent.model, x, u, y, r)
    change = abs(models.last_q(agent.model, pair) - before)
    # (1 - exp(-c / sigma)) / (1 + exp(-c / sigma)) is a hyperbolic tangent.
    wanted = math.tanh(change / (2 * agent.sigma))
    if agent.moves_all:
        for state in range(len(agent.epsilon)):
            agent.epsilon[state] += agent.delta * (wanted - agent.epsilon[state])
    else:
        agent.epsilon[x] += agent.delta * (wanted - agent.epsilon[x])


register(Vdbe, reset=reset, act=act, observe=observe)
