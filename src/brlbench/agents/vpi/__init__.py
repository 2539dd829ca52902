"""VPI, the myopic value of perfect information (Dearden, Friedman and Andre, 1999).

MDPs are drawn from the posterior and solved exactly, so that each action has a distribution of
values. Suppose that the true value of one action became known. If this is not the best action by
its mean and its value turns out to be above the best mean, the gain is the difference; if it is the
best action and its value turns out to be below the second best mean, the gain is that difference;
otherwise nothing is gained. The mean gain over the draws is added to the action's mean value.

This is the paper's "naive global sampling": MDPs are drawn anew for each decision. The paper also
reweighs or repairs MDPs that were drawn earlier, to save time; here a draw and its solution cost
microseconds. Deviations: the drawn values are taken as they are, where the paper may smooth them by
a kernel; MDPs are solved exactly, where it stops prioritised sweeping early. Ties are broken at
random.
"""

from dataclasses import dataclass

import numpy as np

from ...values import whole
from ..base import Arrays, CompiledAgent, Family, Generator, Task, parameter


@dataclass
class Vpi(CompiledAgent):
    """Takes the action with the best mean value plus the value of learning its true value."""

    name = "vpi"
    reference = "Dearden, Friedman and Andre, 1999"
    needs = ("sample",)
    episodes = "Solves each drawn MDP exactly to the end of the episode."
    quick = {"samples": 3}
    samples: int = parameter(10, "MDPs drawn for each decision", whole(1, 10**6))

    def prepare(self, prior: Family, task: Task, rng: Generator) -> Arrays:
        """Make room for the draws."""
        from ...builders.sampled import build_samples
        from . import kernel as kernels

        return self.make_arrays(
            kernels.Vpi,
            samples=build_samples(prior, task, self.samples, self.name),
            ranking=np.zeros(prior.num_actions),
        )
