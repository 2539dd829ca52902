"""IDS, information-directed sampling (Russo and Van Roy, 2014, "Learning to optimize via IDS").

An action has an expected regret: the mean value of the best action, less its own mean value. And
it has a gain: the variance of its mean value once the best action is known, over what the best
action may be, which is a lower bound of what the action tells about that. The agent randomises so
that the square of the expected regret is smallest relative to the expected gain. A distribution
over at most two actions does that, so all pairs of actions are compared. If nothing is left to
learn, regret is least.

This is the paper's variance-based form, with means over MDPs drawn from the posterior. In MDPs
the value of an action is its optimal Q-value in the drawn MDP, in the manner of Lu et al. (2023,
"Reinforcement learning, bit by bit"). In a bandit whose episodes have one decision, Q-values are
the means of arms, and the agent is the paper's. With more decisions, what an arm tells about all
that follows is part of its gain.

Deviations: MDPs are drawn anew for each decision, where Lu et al. keep an ensemble. If several
actions are best in a drawn MDP, the lowest-numbered counts as the best. Of several distributions
that are equally good, the first is taken, in the order of the actions.
"""

from dataclasses import dataclass

import numpy as np

from ...values import whole
from ..base import Arrays, CompiledAgent, Family, Generator, Task, parameter


@dataclass
class Ids(CompiledAgent):
    """Randomises so that squared regret is smallest relative to what is learned."""

    name = "ids"
    reference = "Russo and Van Roy, 2014"
    needs = ("sample",)
    episodes = "Solves each drawn MDP exactly to the end of the episode."
    quick = {"samples": 3}
    samples: int = parameter(30, "MDPs drawn for each decision", whole(1, 10**6))

    def prepare(self, prior: Family, task: Task, rng: Generator) -> Arrays:
        """Make room for the draws."""
        from ...builders.sampled import build_samples
        from . import kernel as kernels

        actions = prior.num_actions
        return self.make_arrays(
            kernels.Ids,
            samples=build_samples(prior, task, self.samples, self.name),
            times_best=np.zeros(actions, np.int64),
            mean_if_best=np.zeros((actions, actions)),
            regret=np.zeros(actions),
            gain=np.zeros(actions),
        )
