"""The optimal policy of an MDP that is told."""

from typing import NamedTuple

from ...kernels.counts import Counts
from ...kernels.loop.environment import Environment
from ...kernels.loop.trajectory import register
from ...kernels.solving.model import Model, skip, solve, with_counts
from ...kernels.types import Words


class Optimal(NamedTuple):
    """The agent's state."""

    rng: Words
    model: Model


def reset_known(agent: Optimal, env: Environment, x: int) -> None:
    """Solve the MDP, with its probabilities as counts."""
    spare = agent.model.counts
    counts = Counts(
        num_states=spare.num_states,
        num_actions=spare.num_actions,
        has_background=False,
        background=spare.background,
        total=spare.total,
        reward_sum=spare.reward_sum,
        row_start=env.row_start[:-1],
        row_length=spare.row_length,
        row_room=spare.row_room,
        entry_next=env.next_state,
        entry_count=env.probability,
        pool_end=spare.pool_end,
        reward_start=spare.reward_start,
        reward_next=spare.reward_next,
        reward=spare.reward,
    )
    counts.background[:] = 0.0
    counts.total[:] = 1.0
    counts.reward_sum[:] = 0.0
    for pair in range(len(counts.total)):
        counts.row_length[pair] = env.row_start[pair + 1] - env.row_start[pair]
        for entry in range(env.row_start[pair], env.row_start[pair + 1]):
            counts.reward_sum[pair] += env.probability[entry] * env.reward[entry]
    solve(with_counts(agent.model, counts))


def act(agent: Optimal, x: int) -> int:
    """Follow the policy."""
    return agent.model.policy[x]


def observe(agent: Optimal, x: int, u: int, y: int, r: float) -> None:
    """Nothing to learn."""
    skip(agent.model)


register(Optimal, reset_known=reset_known, act=act, observe=observe)
