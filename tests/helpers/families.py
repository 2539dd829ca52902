"""Small priors of all families, and what is true of them by definition."""

import numpy as np

from brlbench.beliefs.base import Family
from brlbench.beliefs.flat import FlatDirichlet
from brlbench.beliefs.hypotheses import Hypotheses
from brlbench.beliefs.rewards import BernoulliRewards, NormalRewards
from brlbench.beliefs.tied import TiedDirichlet
from brlbench.mdps.mdp import MDP
from brlbench.streams import generator


def slippery_chain(states: int = 5) -> TiedDirichlet:
    """A chain with one unknown probability of slipping: all pairs share a row."""
    up = np.minimum(np.arange(states) + 1, states - 1)
    next_state = np.zeros((states, 2, 2), np.int64)
    next_state[:, 0, 0] = next_state[:, 1, 1] = up
    rewards = np.zeros((states, 2, states))
    rewards[:, :, 0], rewards[-1, :, -1] = 2.0, 10.0
    return TiedDirichlet([[4.0, 1.0]], np.zeros((states, 2), np.int64), next_state, rewards)


def two_groups() -> TiedDirichlet:
    """Random rows of three outcomes, the same for some pairs, in another order."""
    rng = generator("test families", "two groups")
    next_state = np.array([[rng.permutation(4)[:3] for _ in range(2)] for _ in range(4)])
    counts = [[0.5, 1.5, 0.0], [1.0, 0.3, 2.0]]
    group = rng.integers(0, 2, (4, 2))
    return TiedDirichlet(counts, group, next_state, rng.normal(size=(4, 2, 4)), "uniform")


def goal_grid(side: int = 3) -> Hypotheses:
    """A grid with an unknown goal: a reward of 1 for each step to it."""
    states = side * side
    transitions = np.zeros((states, 4, states))
    for x in range(states):
        i, j = divmod(x, side)
        for u, (a, b) in enumerate([(-1, 0), (1, 0), (0, -1), (0, 1)]):
            row, column = np.clip([i + a, j + b], 0, side - 1)
            transitions[x, u, row * side + column] = 1
    goals = np.eye(states)[1:, None, None, :] * np.ones((states, 4, 1))
    return Hypotheses([MDP(transitions, rewards, 0) for rewards in goals])


def random_hypotheses(kind: str, number: int = 5) -> Hypotheses:
    """Hypotheses with rewards that are "known", "constant" but unknown, or "gaussian"."""
    rng = generator("test families", kind)
    shared, mdps = rng.normal(size=(3, 2, 3)).round(1), []
    for _ in range(number):
        transitions = rng.gamma(0.5, size=(3, 2, 3)) * (rng.random((3, 2, 3)) < 0.8) + 1e-9
        transitions /= transitions.sum(axis=2, keepdims=True)
        rewards = shared if kind == "known" else rng.integers(0, 2, (3, 2, 3)).astype(float)
        variances = rng.uniform(0.5, 2, (3, 2, 3)) if kind == "gaussian" else None
        mdps.append(MDP(transitions, rewards, 0, variances))
    return Hypotheses(mdps, rng.uniform(0.2, 1, number))


def binary_rewards() -> FlatDirichlet:
    """Random flat rows, with unknown binary rewards."""
    rng = generator("test families", "binary")
    counts = rng.gamma(0.8, size=(3, 2, 3)) + 0.1
    return FlatDirichlet(counts, BernoulliRewards(rng.uniform(0.5, 2, (3, 2)), 1.5))


def normal_rewards() -> TiedDirichlet:
    """Rows that are shared, with unknown Gaussian rewards."""
    rng = generator("test families", "normal")
    return two_groups().with_rewards(NormalRewards(rng.normal(size=(4, 2)), 2.0, 0.7))


FAMILIES: dict[str, Family] = {
    "chain": slippery_chain(),
    "two groups": two_groups(),
    "goal": goal_grid(),
    **{kind: random_hypotheses(kind) for kind in ("known", "constant", "gaussian")},
    "binary": binary_rewards(),
    "normal": normal_rewards(),
}
