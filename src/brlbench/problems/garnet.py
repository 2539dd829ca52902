"""Garnet: generic random MDPs (Archibald, McKinnon and Thomas, 1995; Bhatnagar et al., 2009).

Each pair of a state and an action can lead to `branching` states, drawn at random without
replacement. A share of the states, `rewarded`, pays for arriving there: amounts are drawn uniformly
from 0 to 1. All this is known, and the same in all MDPs: the parameters and `seed` decide it.

The probabilities of the branches are unknown, and differ from MDP to MDP. They are the parts into
which random points cut the interval from 0 to 1, as in the papers. So their prior is a Dirichlet
distribution with one count per branch.

Deviations: Bhatnagar et al. draw the expected reward of each pair from a normal distribution, and
add noise. With few states that pay, as is usual since, agents have to plan. `Sparse` has a reward
per pair. Rewards have no noise here, and MDPs do not change with time.
"""

import numpy as np

from ..beliefs.flat import FlatDirichlet
from ..errors import short
from ..mdps.sparse import SparseTable, check_entries
from ..streams import generator
from ..values import COUNT, INDEX, check, number
from .random_sparse import random_places


def garnet(
    states: int = 30, actions: int = 4, branching: int = 2, rewarded: float = 0.1, seed: int = 0
) -> FlatDirichlet:
    """Garnet's MDPs of one structure."""
    states, actions = check(states, "states", COUNT), check(actions, "actions", COUNT)
    branching = check(branching, "branching", COUNT)
    share = check(rewarded, "rewarded", number(above=0, most=1))
    rng = generator("garnet", states, actions, branching, check(seed, "seed", INDEX))
    places = random_places(states, actions, branching, "branching", rng)
    order, amounts = rng.permutation(states), rng.random(states)
    paying = order[: max(1, round(share * states))]
    pairs = states * actions
    check_entries(pairs * len(paying), f"rewarded = {short(rewarded)}")
    arriving = (np.arange(pairs)[:, None] * states + paying).ravel()
    rewards = np.tile(amounts[: len(paying)], pairs)
    return FlatDirichlet(
        SparseTable.from_places(states, actions, places, np.ones(len(places))),
        SparseTable.from_places(states, actions, arriving, rewards),
        description="Garnet, random MDPs in which few states pay",
    )
