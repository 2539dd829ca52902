"""Expected regrets of decisions that were made, under the beliefs of a learner that sees them."""

from typing import Any

from ..arrays import copy_vector
from ..jit import inlined, kernel
from ..loop.trajectory import observe, reset
from ..types import Floats, Integers, Words
from .sampled_values import sample


@inlined
def largest(values: Floats) -> float:
    """The largest value."""
    most = values[0]
    for value in values:
        most = max(most, value)
    return most


@kernel
def expected_regrets(
    agent: Any,  # has `samples` and `rng`
    seeds: Words,  # [n, 4]
    states: Integers,  # [n, T + 1]
    actions: Integers,  # [n, T]
    rewards: Floats,  # [n, T]
    exploring: Floats,  # [n, T]
    ignorance: Floats,  # [n, T]
) -> None:
    """Set the regret that any action has to expect, and how much more the one taken has."""
    q, mean = agent.samples.q, agent.samples.mean
    for i in range(len(seeds)):
        copy_vector(agent.rng, seeds[i])
        reset(agent, states[i, 0])
        for t in range(actions.shape[1]):
            x, u = states[i, t], actions[i, t]
            sample(agent.samples, x, agent.rng)
            known = 0.0  # the mean value if the MDP were known
            for k in range(len(q)):
                known += largest(q[k]) / len(q)
            exploring[i, t] = largest(mean) - mean[u]
            ignorance[i, t] = known - largest(mean)
            observe(agent, x, u, states[i, t + 1], rewards[i, t])
