"""The policy that always takes the first action, evaluated exactly."""

import numpy as np

from brlbench.experiment import Experiment
from brlbench.sparse import Floats

FIRST = 0


def first_action_values(experiment: Experiment) -> Floats:
    """The expected discounted return [N] of always taking the first action."""
    values = np.empty(experiment.num_mdps)
    for index in range(experiment.num_mdps):
        mdp = experiment.mdp(index)
        probabilities = mdp.transitions.to_dense()[:, FIRST]
        rewards = (probabilities * mdp.rewards.mean.to_dense()[:, FIRST]).sum(axis=1)
        value = np.zeros(mdp.num_states)
        for _ in range(experiment.horizon):
            value = rewards + experiment.discount * probabilities @ value
        values[index] = mdp.start @ value
    return values
