"""The action with the largest output of a network whose inputs describe the present state.

The models are stacked as in `formula.kernel`.
"""

import math
from typing import NamedTuple

from ...kernels.choice import greedy
from ...kernels.jit import inlined
from ...kernels.loop.trajectory import register
from ...kernels.solving.model import Model
from ...kernels.types import Floats, Integers, Words
from ..formula.kernel import learn_stacked, reset_stacked
from .network import Network, first_output, forward

# Kinds of features; from 0 on, a kind is the number of a model, for its Q-values.
VISITS, TIME = -1, -2


class Ann(NamedTuple):
    """The agent's state, with M models and I inputs."""

    rng: Words
    models: Model  # each array [M, …], except the reward table
    initial: Model  # the same, solved for the prior
    visits: Integers  # [P]; observations of a pair
    steps: Integers  # [1]; decisions made
    horizon: int
    features: Integers  # [F]; their kinds, in the order of the inputs
    center: Floats  # [I]; subtracted from an input
    gain: Floats  # [I]; an input's factor then; 0 if the input never varied
    network: Network


@inlined
def fill_inputs(agent: Ann, x: int) -> None:
    """Set the network's inputs to the features of the present state, standardised."""
    inputs, actions = agent.network.units, agent.models.counts.num_actions
    i = 0
    for kind in agent.features:
        if kind == TIME:
            inputs[i] = max(0.0, 1 - agent.steps[0] / agent.horizon)
            i += 1
            continue
        for pair in range(x * actions, (x + 1) * actions):
            if kind == VISITS:
                inputs[i] = math.log(1.0 + agent.visits[pair])
            else:
                inputs[i] = agent.models.q[kind, pair]
            i += 1
    for i in range(len(agent.center)):
        inputs[i] = (inputs[i] - agent.center[i]) * agent.gain[i]


def reset(agent: Ann, x: int) -> None:
    """Back to the prior."""
    agent.visits[:] = 0
    agent.steps[0] = 0
    for k in range(len(agent.models.q)):
        reset_stacked(agent.models.belief, agent.models, agent.initial, k, x)


def act(agent: Ann, x: int) -> int:
    """Choose an action with the largest output; ties are broken at random."""
    network = agent.network
    fill_inputs(agent, x)
    forward(network)
    actions = agent.models.counts.num_actions
    return greedy(network.units, first_output(network), actions, 1.0, agent.rng)


def observe(agent: Ann, x: int, u: int, y: int, r: float) -> None:
    """Let the models learn."""
    agent.visits[x * agent.models.counts.num_actions + u] += 1
    agent.steps[0] += 1
    for k in range(len(agent.models.q)):
        learn_stacked(agent.models.belief, agent.models, k, x, u, y, r)


register(Ann, reset=reset, act=act, observe=observe)
