"""Epsilon-greedy on the mean MDP of the posterior (algorithm 1 of the benchmark's paper).

The model is solved again, exactly, after every transition; ties are broken at random. Deviation:
the original does not solve in steps that explore; here solving costs less than the bookkeeping to
catch up later.
"""

from dataclasses import dataclass

from ...values import PROBABILITY
from ..base import (
    PLANS,
    Arrays,
    CompiledAgent,
    Family,
    Generator,
    Task,
    parameter,
    replan_parameter,
)


@dataclass
class EpsilonGreedy(CompiledAgent):
    """Takes the best action of the mean MDP, or with probability epsilon a random one."""

    name = "epsilon-greedy"
    needs = ("mean",)
    episodes = PLANS
    epsilon: float = parameter(0.1, "probability of a random action", PROBABILITY)
    replan: str = replan_parameter()

    def prepare(self, prior: Family, task: Task, rng: Generator) -> Arrays:
        """Solve the prior's mean MDP."""
        from ...builders.model import copy, solved_model
        from . import kernel as kernels

        model = solved_model(prior, task, replan=self.replan)
        return self.make_arrays(kernels.EpsilonGreedy, model=copy(model), initial=model)
