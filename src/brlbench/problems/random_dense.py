"""Random dense MDPs of any size: every transition is possible, and all are equally likely a priori.

Osband, Russo and Van Roy (2013) used such MDPs, with unknown rewards. Here each pair's reward is
known: it is drawn once, uniformly from 0 to 1, with `seed`. The action that pays most at once is
then almost optimal, because no action leads anywhere in particular. With `goals`, arriving in one
of that many last states pays 1 instead, and nothing else does. All there is to learn is then which
actions lead there.
"""

import numpy as np

from ..beliefs.flat import FlatDirichlet
from ..errors import InvalidInput, short
from ..mdps.sparse import check_dense
from ..streams import generator
from ..values import COUNT, INDEX, check


def random_dense(
    states: int = 10, actions: int = 5, seed: int = 0, goals: int = 0
) -> FlatDirichlet:
    """Random dense MDPs."""
    states, actions = check(states, "states", COUNT), check(actions, "actions", COUNT)
    if check(goals, "goals", INDEX) > states:
        raise InvalidInput(f"goals = {short(goals)}: must be at most the {states} states")
    check_dense(states, actions)
    rng = generator("random dense", states, actions, check(seed, "seed", INDEX))
    arriving = np.arange(states) >= states - goals
    return FlatDirichlet(
        np.ones((states, actions, states)),
        arriving if goals else rng.random((states, actions, 1)),
        description="Random MDPs, every transition possible",
    )
