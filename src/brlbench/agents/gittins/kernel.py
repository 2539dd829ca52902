"""Gittins indices, and the arm that has the highest one.

After n pulls of an arm, s of them successes, its index is at `place(n, s)`.
"""

from typing import NamedTuple

from ...kernels.arrays import at
from ...kernels.choice import greedy
from ...kernels.jit import inlined, kernel
from ...kernels.loop.trajectory import register
from ...kernels.types import Floats, Integers, Words


class Gittins(NamedTuple):
    """The agent's state; A arms, of K kinds."""

    rng: Words
    indices: Floats  # [K, places]
    table: Integers  # [A]; its kind
    pulls: Integers  # [A]
    wins: Integers  # [A]
    ranking: Floats  # [A]; work space
    horizon: int  # most pulls of an arm


@inlined
def place(pulls: int, wins: int) -> int:
    """The place of an arm's index."""
    return pulls * (pulls + 1) // 2 + wins


@kernel
def set_indices(
    alpha: float,
    beta: float,
    discount: float,
    steps: int,
    index: Floats,  # [places]
    lead: Floats,  # [places], of zeros
    value: Floats,  # [depth + 1]
) -> None:
    """Set the indices of an arm with a Beta distribution, from sure rewards 0, 1 / steps, …, 1.

    `value` is work space: the values after some pulls, by successes. While the arm is worth more
    than a sure reward, `lead` has its advantage, and is zero once the index is known.
    """
    for step in range(steps + 1):
        sure = step / steps
        retired = sure / (1 - discount)
        for wins in range(len(value)):
            mean = (alpha + wins) / (alpha + beta + len(value) - 1)
            value[wins] = max(sure, mean) / (1 - discount)
        for pulls in range(len(value) - 2, -1, -1):
            total = alpha + beta + pulls
            first = place(pulls, 0)
            for wins in range(pulls + 1):
                mean = (alpha + wins) / total
                pulled = mean * (1 + discount * value[at(wins + 1)])
                pulled += (1 - mean) * discount * value[at(wins)]
                value[at(wins)] = max(pulled, retired)
                if first + pulls < len(index):
                    learn_index(index, lead, first + wins, pulled - retired, sure, 1 / steps)


@inlined
def learn_index(
    index: Floats, lead: Floats, entry: int, advantage: float, sure: float, width: float
) -> None:
    """Learn an arm's advantage over a sure reward; it falls, and is zero at the index."""
    if advantage > 0:
        index[entry], lead[entry] = sure, advantage
    elif lead[entry] > 0:
        index[entry] += width * lead[entry] / (lead[entry] - advantage)
        lead[entry] = 0.0


def reset(agent: Gittins, x: int) -> None:
    """Forget all pulls."""
    agent.pulls[:] = 0
    agent.wins[:] = 0


def act(agent: Gittins, x: int) -> int:
    """Pull an arm with the highest index; ties are broken at random."""
    for u in range(len(agent.pulls)):
        agent.ranking[u] = agent.indices[agent.table[u], place(agent.pulls[u], agent.wins[u])]
    return greedy(agent.ranking, 0, len(agent.ranking), 1.0, agent.rng)


def observe(agent: Gittins, x: int, u: int, y: int, r: float) -> None:
    """Count the pull, and its success."""
    if agent.pulls[u] == agent.horizon:
        raise IndexError("more decisions than the agent was trained for (task.horizon)")
    agent.pulls[u] += 1
    agent.wins[u] += r > 0.5


register(Gittins, reset=reset, act=act, observe=observe)
