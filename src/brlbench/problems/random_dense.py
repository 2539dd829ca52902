"""Random dense MDPs of any size: every transition is possible, and all are equally likely a priori.

Osband, Russo and Van Roy (2013) used such MDPs, with unknown rewards. Here each pair's reward is
known: it is drawn once, uniformly from 0 to 1, with `seed`.
"""

import numpy as np

from ..arguments import whole
from ..mdps.dirichlet import FlatDirichlet
from ..mdps.sparse import check_dense
from ..streams import generator


def random_dense(states: int = 10, actions: int = 5, seed: int = 0) -> FlatDirichlet:
    """Random dense MDPs."""
    states, actions = whole(states, "states", least=1), whole(actions, "actions", least=1)
    check_dense(states, actions)
    rng = generator("random dense", states, actions, whole(seed, "seed", least=0))
    return FlatDirichlet(
        np.ones((states, actions, states)),
        rng.random((states, actions, 1)),
        description="Random MDPs, every transition possible",
    )
