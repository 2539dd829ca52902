"""The distribution over two actions with the least squared regret relative to its gain."""

from typing import NamedTuple

import numpy as np

from ...kernels.choice import TIE, first_greedy
from ...kernels.jit import cold, inlined
from ...kernels.loop.trajectory import register
from ...kernels.random.rng import uniform
from ...kernels.solving.sampled_values import SampledValues, observe, reset, sample
from ...kernels.types import Floats, Integers, Words


class Ids(NamedTuple):
    """The agent's state."""

    rng: Words
    samples: SampledValues
    times_best: Integers  # [A]; drawn MDPs in which the action is the best
    mean_if_best: Floats  # [A, A]; row a: mean values of the actions in MDPs where a is the best
    regret: Floats  # [A]; expected
    gain: Floats  # [A]; variance of the rows of `mean_if_best`


@cold
def weigh(agent: Ids, scale: float) -> None:
    """Set the regrets and gains of all actions; those that are rounding errors are zero."""
    q, mean, number = agent.samples.q, agent.samples.mean, len(agent.samples.q)
    actions, highest = len(mean), 0.0
    agent.times_best[:] = 0
    agent.mean_if_best[:, :] = 0.0
    for i in range(number):
        a = first_greedy(q[i], 0, actions, scale)
        agent.times_best[a] += 1
        highest += (q[i, a] - highest) / (i + 1)
        for u in range(actions):
            change = q[i, u] - agent.mean_if_best[a, u]
            agent.mean_if_best[a, u] += change / agent.times_best[a]
    for u in range(actions):
        agent.regret[u] = highest - mean[u]
        if agent.regret[u] < TIE * scale:
            agent.regret[u] = 0.0
        agent.gain[u] = 0.0
        for a in range(actions):
            distance = agent.mean_if_best[a, u] - mean[u]
            if agent.times_best[a] > 0 and abs(distance) > TIE * scale:
                agent.gain[u] += agent.times_best[a] / number * distance * distance


@inlined
def best_share(agent: Ids, u: int, v: int) -> float:
    """The probability of u, beside v, for which the ratio is least; it is convex in it."""
    regret, gain = agent.regret[u] - agent.regret[v], agent.gain[u] - agent.gain[v]
    if regret == 0.0 or gain == 0.0:
        return 1.0 if regret < 0.0 or gain > 0.0 else 0.0
    share = agent.regret[v] / regret - 2 * agent.gain[v] / gain
    if not (share > 0.0 and share < 1.0):
        return 1.0 if ratio(agent, u, v, 1.0) < ratio(agent, u, v, 0.0) else 0.0
    return share


@inlined
def ratio(agent: Ids, u: int, v: int, share: float) -> float:
    """The squared regret relative to the gain, if u has this probability, and v the rest."""
    regret = share * agent.regret[u] + (1 - share) * agent.regret[v]
    gain = share * agent.gain[u] + (1 - share) * agent.gain[v]
    if regret == 0.0:
        return 0.0
    return regret * regret / gain if gain > 0.0 else np.inf


@cold
def best_pair(agent: Ids) -> tuple[int, int, float]:
    """Two actions and the probability of the first, with the least ratio."""
    first = 0
    for u in range(1, len(agent.regret)):
        if agent.regret[u] < agent.regret[first]:
            first = u
    second, chance, least = first, 1.0, ratio(agent, first, first, 1.0)
    for u in range(len(agent.regret)):
        for v in range(u):
            share = best_share(agent, u, v)
            value = ratio(agent, u, v, share)
            if value < least:
                first, second, chance, least = u, v, share, value
    return first, second, chance


def act(agent: Ids, x: int) -> int:
    """Sample MDPs, and draw an action from the best distribution."""
    weigh(agent, sample(agent.samples, x, agent.rng))
    first, second, chance = best_pair(agent)
    if chance < 1.0 and uniform(agent.rng) >= chance:
        return second
    return first


register(Ids, reset=reset, act=act, observe=observe)
