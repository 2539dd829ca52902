"""How many hypotheses are left after trajectories: 1 over the sum of their squared weights.

None are left if all of them exclude something that was observed.
"""

import numpy as np

from ...mdps.sparse import Floats, Integers
from . import Hypotheses
from .rewards import log_likelihoods


def effective_sizes(
    hypotheses: Hypotheses,
    states: Integers,  # [n, T]
    actions: Integers,  # [n, T]
    following: Integers,  # [n, T]; next states
    rewards: Floats,  # [n, T]
) -> Floats:
    """The effective number [n] of hypotheses at the end of each trajectory."""
    rows = zip(states, actions, following, rewards, strict=True)
    return np.array([_effective_size(hypotheses, *row) for row in rows])


def _effective_size(
    hypotheses: Hypotheses,
    states: Integers,
    actions: Integers,
    following: Integers,
    rewards: Floats,
) -> float:
    places = hypotheses.mdps.places
    pairs = states * hypotheses.num_actions + actions
    place = pairs * hypotheses.num_states + following
    entry = np.searchsorted(places.place, place)
    entry[entry == len(places.place)] = 0
    if (places.place[entry] != place).any():
        return 0.0
    numbers = np.stack([entry, rewards], axis=1)
    if hypotheses.mdps.share_rewards:
        numbers[:, 1] = 0.0  # which all of them allow
    distinct, times = np.unique(numbers, axis=0, return_counts=True)
    with np.errstate(divide="ignore"):
        logs = np.log(hypotheses.weights)
        if len(hypotheses.mdps.start) > 1:
            logs = logs + np.log(hypotheses.mdps.start[:, states[0]])
        for (column, reward), number in zip(distinct, times, strict=True):
            logs = logs + number * _log_likelihoods(hypotheses, int(column), reward)
    largest = logs.max(initial=-np.inf)
    if largest == -np.inf:
        return 0.0
    weights = np.exp(logs - largest)
    return float(weights.sum() ** 2 / (weights**2).sum())


def _log_likelihoods(hypotheses: Hypotheses, entry: int, reward: float) -> Floats:
    """The logarithm of the likelihood [K] of a possible transition and its reward."""
    mdps = hypotheses.mdps
    logs = np.log(mdps.probability[:, entry])
    if not mdps.share_rewards:
        logs = logs + log_likelihoods(reward, mdps.reward[:, entry], mdps.variance[:, entry])
    return np.asarray(logs)
