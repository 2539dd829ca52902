"""Hindsight: what actions are worth if the MDP becomes known right after them.

MDPs are drawn from the posterior and solved exactly. The agent takes an action with the highest
mean of Q*(x, u) over them. This is hindsight optimisation (Chong, Givan and Chang, 2000; Yoon et
al., 2008, for MDPs) where the future that is revealed is the MDP. It is also QMDP (Littman,
Cassandra and Kaelbling, 1995) where the hidden state is the MDP. The mean is an upper bound of what
an action is worth to an agent that has to learn. Exploring gains nothing, as all is known then.

Deviations: hindsight optimisation also reveals the outcomes of later transitions, so that each
future is deterministic; here they stay random. MDPs are drawn anew for each decision. Ties are
broken at random.
"""

from dataclasses import dataclass

from ...values import whole
from ..base import Arrays, CompiledAgent, Family, Generator, Task, parameter


@dataclass
class Hindsight(CompiledAgent):
    """Takes the action with the best mean of optimal values over MDPs drawn from the posterior."""

    name = "hindsight"
    reference = "Chong, Givan and Chang, 2000"
    needs = ("sample",)
    episodes = "Solves each drawn MDP exactly to the end of the episode."
    quick = {"samples": 3}
    samples: int = parameter(10, "MDPs drawn for each decision", whole(1, 10**6))

    def prepare(self, prior: Family, task: Task, rng: Generator) -> Arrays:
        """Make room for the draws."""
        from ...builders.sampled import build_samples
        from . import kernel as kernels

        samples = build_samples(prior, task, self.samples, self.name)
        return self.make_arrays(kernels.Hindsight, samples=samples)
