"""Problems at the edges of what is allowed, which every agent must be able to play."""

import numpy as np

from ..beliefs.flat import FlatDirichlet
from ..protocol.experiment import Experiment

_STATES, _ACTIONS = 4, 2


def odd_problems() -> dict[str, Experiment]:
    """Small experiments, by their oddity."""
    rng = np.random.default_rng(0)
    shape = (_STATES, _ACTIONS, _STATES)
    rewards = rng.uniform(size=shape)
    dense = np.ones(shape)
    unreachable = dense.copy()
    unreachable[:, :, 2:] = 0  # nothing leads to the last two states
    sure = np.zeros(shape)
    sure[range(_STATES), :, range(_STATES)] = 1  # no state is ever left
    variances = rng.uniform(0.5, 2, shape)
    priors = {
        "one state": FlatDirichlet(np.ones((1, 2, 1)), [[[1.0], [2.0]]]),
        "one action": FlatDirichlet(np.ones((3, 1, 3)), [0, 1, 2]),
        "one state and one action": FlatDirichlet(np.ones((1, 1, 1)), 1),
        "unreachable states": FlatDirichlet(unreachable, rewards),
        "states that are never left": FlatDirichlet(sure, rewards, "uniform"),
        "Gaussian rewards": FlatDirichlet(dense, rewards, 0, variances),
        "negative rewards": FlatDirichlet(dense, -rewards),
        "no rewards": FlatDirichlet(dense, 0),
        "all transitions possible": FlatDirichlet(np.ones((12, 3, 12)), np.arange(12)),
        "large counts": FlatDirichlet(1e6 * dense, rewards),
    }
    experiments = {
        name: Experiment(prior.named(name), num_mdps=2, discount=0.9, horizon=6)
        for name, prior in priors.items()
    }
    experiments["a single decision"] = Experiment("GC", num_mdps=2, horizon=1)
    return experiments
