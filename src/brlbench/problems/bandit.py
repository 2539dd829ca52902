"""Bandits: one state, and an unknown reward per action.

With binary rewards, the probability of a 1 has a Beta distribution for each arm; `alpha` and `beta`
are its parameters. With `rewards=normal`, the mean of each arm is Normal with `mean` and
`precision`, one over its variance, and rewards have Gaussian noise of standard deviation `noise`
about it. In a discounted bandit with independent arms, Gittins indices are Bayes-optimal.
"""

import numpy as np

from ..beliefs.flat import FlatDirichlet
from ..beliefs.rewards import BernoulliRewards, NormalRewards, RewardPrior
from ..mdps.sparse import check_dense
from ..values import COUNT, check, words

_KINDS = ("binary", "normal")


def bandit(
    arms: int = 5,
    rewards: str = "binary",
    alpha: float = 1.0,
    beta: float = 1.0,
    mean: float = 0.0,
    precision: float = 1.0,
    noise: float = 1.0,
) -> FlatDirichlet:
    """Bandits with independent arms."""
    check(arms, "arms", COUNT)
    check(rewards, "rewards", words(*_KINDS))
    check_dense(1, arms)
    prior: RewardPrior = BernoulliRewards(alpha, beta)
    if rewards == "normal":
        prior = NormalRewards(mean, precision, noise)
    return FlatDirichlet(np.ones((1, arms, 1)), prior, description="A bandit with unknown arms")
