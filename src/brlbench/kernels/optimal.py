"""The optimal policy of an MDP that is told."""

from typing import NamedTuple

import numpy as np

from .counts import Counts
from .environment import Environment
from .model import Model, solve, with_counts
from .rng import Words
from .trajectory import register


class Optimal(NamedTuple):
    """The agent's state."""

    rng: Words
    model: Model


def start_known(agent: Optimal, env: Environment, x: int) -> None:
    """Solve the MDP: its probabilities serve as counts."""
    model, prior = agent.model, agent.model.counts
    pairs = len(prior.total)
    counts = Counts(
        prior.num_states,
        prior.num_actions,
        False,
        np.zeros(pairs),
        np.ones(pairs),
        np.zeros(pairs),
        env.row_start[:-1],
        env.row_start[1:] - env.row_start[:-1],
        prior.row_room,
        env.next_state,
        env.probability,
        prior.pool_end,
        prior.reward_start,
        prior.reward_next,
        prior.reward,
    )
    for pair in range(pairs):
        for entry in range(env.row_start[pair], env.row_start[pair + 1]):
            counts.reward_sum[pair] += env.probability[entry] * env.reward[entry]
    solve(with_counts(model, counts))


def act(agent: Optimal, x: int) -> int:
    """Follow the policy."""
    return agent.model.policy[x]


def observe(agent: Optimal, x: int, u: int, y: int, r: float) -> None:
    """Nothing to learn."""


register(Optimal, start_known=start_known, act=act, observe=observe)
