"""A table of Q-values, learned from transitions one by one."""

from typing import NamedTuple

from ...kernels.arrays import at
from ...kernels.choice import greedy, soft_max
from ...kernels.jit import inlined
from ...kernels.loop.trajectory import register
from ...kernels.random.rng import below, uniform
from ...kernels.types import Floats, Integers, Words

_EXACT = 0.0  # values are tied if they are equal


class QLearning(NamedTuple):
    """The agent's state. Without episodes there is one stage, which follows itself."""

    rng: Words
    q: Floats  # [L * P]; by the decisions that were made in the episode
    visits: Integers  # [L * P]
    stage: Integers  # [1]; the present one
    stages: int  # L
    pairs: int  # P
    num_actions: int
    discount: float
    in_episodes: bool
    boltzmann: bool
    rate: float
    decay: float
    epsilon: float
    tau: float
    initial: float


def reset(agent: QLearning, x: int) -> None:
    """Forget all that was learned."""
    agent.q[:] = agent.initial
    agent.visits[:] = 0
    agent.stage[0] = 0


@inlined
def first_of(agent: QLearning, stage: int, x: int) -> int:
    """The place of a state's first action."""
    return stage * agent.pairs + x * agent.num_actions


def act(agent: QLearning, x: int) -> int:
    """Explore as the rule says."""
    first = first_of(agent, agent.stage[0], x)
    if agent.boltzmann:
        return soft_max(agent.q, first, agent.num_actions, agent.tau, agent.rng)
    if uniform(agent.rng) < agent.epsilon:
        return below(agent.rng, agent.num_actions)
    return greedy(agent.q, first, agent.num_actions, _EXACT, agent.rng)


def observe(agent: QLearning, x: int, u: int, y: int, r: float) -> None:
    """Move the pair's value towards the reward and the best value that follows."""
    place = first_of(agent, agent.stage[0], x) + u
    following = agent.stage[0]
    if agent.in_episodes:
        following = (following + 1) % agent.stages
    target = r
    if following > 0 or not agent.in_episodes:  # else the episode is over
        first = first_of(agent, following, y)
        best = agent.q[first]
        for other in range(first + 1, first + agent.num_actions):
            best = max(best, agent.q[at(other)])
        target += agent.discount * best
    agent.visits[place] += 1
    step = agent.rate / agent.visits[place] ** agent.decay
    agent.q[place] += step * (target - agent.q[place])
    agent.stage[0] = following


register(QLearning, reset=reset, act=act, observe=observe)
