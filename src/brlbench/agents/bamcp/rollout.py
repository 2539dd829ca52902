"""BAMCP's roll-out policy: greedy in a Q-function learned from real transitions, or random."""

from typing import NamedTuple

import numpy as np

from ...builders.planning import build_alias
from ...kernels.jit import cold, inlined
from ...kernels.random.alias import Alias, build
from ...kernels.types import Floats, Integers
from ...mdps.dirichlet import FlatDirichlet

_LEARNING_RATE = 0.2


class RolloutPolicy(NamedTuple):
    """A Q-function, and tables that draw actions by it."""

    num_actions: int
    q: Floats  # [P]
    weight: Floats  # [P]; probability of the action
    table: Alias  # [P]; draws an action
    action_of: Integers  # [P]
    epsilon: float  # probability of a random action


def build_policy(prior: FlatDirichlet, epsilon: float) -> RolloutPolicy:
    """Room for a policy."""
    pairs = prior.counts.num_pairs
    return RolloutPolicy(
        num_actions=prior.num_actions,
        q=np.zeros(pairs),
        weight=np.zeros(pairs),
        table=build_alias(pairs),
        action_of=np.tile(np.arange(prior.num_actions), prior.num_states),
        epsilon=epsilon,
    )


@inlined
def reset_policy(policy: RolloutPolicy) -> None:
    """Forget all Q-values: all actions are equally likely."""
    policy.q[:] = 0.0
    for x in range(len(policy.q) // policy.num_actions):
        set_table(policy, x)


@inlined
def learn_policy(policy: RolloutPolicy, discount: float, x: int, u: int, y: int, r: float) -> None:
    """Q-learning from one real transition."""
    q, actions = policy.q, policy.num_actions
    pair = x * actions + u
    best = q[y * actions]
    for v in range(1, actions):
        best = max(best, q[y * actions + v])
    error = r + discount * best - q[pair]
    q[pair] += _LEARNING_RATE * error
    set_table(policy, x)


@cold
def set_table(policy: RolloutPolicy, x: int) -> None:
    """Make a state's table: random with probability epsilon, and otherwise greedy."""
    actions, q, weight = policy.num_actions, policy.q, policy.weight
    first, end = x * actions, (x + 1) * actions
    best, tied = -np.inf, 0
    for pair in range(first, end):
        if q[pair] > best:
            best, tied = q[pair], 0
        tied += q[pair] == best
    for pair in range(first, end):
        weight[pair] = policy.epsilon / actions
        if q[pair] == best:
            weight[pair] += (1 - policy.epsilon) / tied
    build(policy.table, policy.action_of, weight, first, actions)
