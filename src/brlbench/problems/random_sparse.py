"""Random sparse MDPs of any size, after Garnet (Archibald, McKinnon and Thomas, 1995).

Each pair has a few possible next states, drawn once without replacement. Their probabilities have a
uniform prior, and differ from MDP to MDP. Each pair's reward is known: it is drawn once, uniformly
from 0 to 1, and paid on the pair's possible transitions. `seed` decides what is drawn once.
"""

import numpy as np

from ..beliefs.flat import FlatDirichlet
from ..errors import InvalidInput, short
from ..mdps.sparse import Integers, SparseTable, check_entries
from ..streams import generator
from ..values import COUNT, INDEX, check


def random_sparse(
    states: int = 50, actions: int = 4, successors: int = 3, seed: int = 0
) -> FlatDirichlet:
    """Random sparse MDPs."""
    states, actions = check(states, "states", COUNT), check(actions, "actions", COUNT)
    successors = check(successors, "successors", COUNT)
    rng = generator("random sparse", states, actions, successors, check(seed, "seed", INDEX))
    places = random_places(states, actions, successors, "successors", rng)
    rewards = np.repeat(rng.random(states * actions), successors)
    return FlatDirichlet(
        SparseTable.from_places(states, actions, places, np.ones(len(places))),
        SparseTable.from_places(states, actions, places, rewards),
        description="Random MDPs, few transitions possible",
    )


def random_places(
    states: int, actions: int, successors: int, name: str, rng: np.random.Generator
) -> Integers:
    """The places of random next states, `successors` per pair; `name` is that parameter's."""
    if successors > states:
        raise InvalidInput(f"{name} = {short(successors)}: must be at most the {states} states")
    pairs = states * actions
    check_entries(pairs * successors, f"{short(states)} states and {short(actions)} actions")
    following = np.array([rng.choice(states, successors, replace=False) for _ in range(pairs)])
    return np.asarray(np.arange(pairs)[:, None] * states + following).ravel()
