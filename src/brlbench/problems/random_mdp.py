"""Random MDPs with unknown rewards, of any size, as in RL² (Duan et al., 2016).

Every transition is possible, and rows have Dirichlet distributions with `count` for each next
state. The mean reward of each pair of a state and an action is Normal with `mean` and `precision`,
one over its variance; rewards have Gaussian noise of standard deviation `noise` about it. All MDPs
start in state 0. The defaults are those of RL²'s tabular experiments, which play in episodes of ten
decisions. Other papers have a mean of 0: TabulaRL's agents believe in it.
"""

import numpy as np

from ..beliefs.flat import FlatDirichlet
from ..beliefs.rewards import NormalRewards
from ..mdps.sparse import check_dense
from ..values import COUNT, POSITIVE, check


def random_mdp(
    states: int = 10,
    actions: int = 5,
    count: float = 1.0,
    mean: float = 1.0,
    precision: float = 1.0,
    noise: float = 1.0,
) -> FlatDirichlet:
    """Random MDPs with unknown rewards."""
    states, actions = check(states, "states", COUNT), check(actions, "actions", COUNT)
    check(count, "count", POSITIVE)
    check_dense(states, actions)
    counts = np.full((states, actions, states), float(count))
    rewards = NormalRewards(mean, precision, noise)
    return FlatDirichlet(counts, rewards, description="Random MDPs with unknown rewards")
