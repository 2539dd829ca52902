"""Soft-max on the mean MDP of the posterior (algorithm 2 of the benchmark's paper).

The probabilities are normalised, as in the paper's pseudo-code. The implementation behind its
published figures did not normalise them: its scores are those of always taking the first action.
"""

from dataclasses import dataclass

from ...values import POSITIVE
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
class SoftMax(CompiledAgent):
    """Takes each action with probability proportional to exp(Q / tau), Q of the mean MDP."""

    name = "soft-max"
    needs = ("mean",)
    episodes = PLANS
    tau: float = parameter(0.5, "temperature: small is greedy, large is random", POSITIVE)
    replan: str = replan_parameter()

    def prepare(self, prior: Family, task: Task, rng: Generator) -> Arrays:
        """Solve the prior's mean MDP."""
        from ...builders.model import copy, solved_model
        from . import kernel as kernels

        model = solved_model(prior, task, replan=self.replan)
        return self.make_arrays(kernels.SoftMax, model=copy(model), initial=model)
