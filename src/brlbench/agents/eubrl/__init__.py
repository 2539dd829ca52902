"""EUBRL, epistemic uncertainty directed Bayesian reinforcement learning (Ma and Lee, 2025).

The uncertainty E(x, u) of a pair is the square root of the summed posterior variances of its
transition probabilities. A pair counts as unknown with probability P(x, u) = E(x, u) / E_max, where
E_max is the largest uncertainty of any pair since the trajectory began. The agent is greedy in the
mean MDP with rewards (1 - P) * reward + P * eta * E: unknown pairs are explored for their own sake,
not for their rewards.

The definition is that of the authors' published code, in its default form ("one-hot"). Deviations:
known rewards add no uncertainty, and unknown ones make outcomes of next states with rewards. The
code plans every tenth step; here the model is solved exactly after every transition. Ties are
broken at random, as there.
"""

from dataclasses import dataclass

import numpy as np

from ...values import NOT_NEGATIVE
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
class Eubrl(CompiledAgent):
    """Takes the best action of the mean MDP, where uncertainty takes the place of rewards."""

    name = "eubrl"
    reference = "Ma and Lee, 2025"
    needs = ("counts",)
    episodes = PLANS
    eta: float = parameter(1.0, "reward of uncertainty", NOT_NEGATIVE)
    replan: str = replan_parameter()

    def prepare(self, prior: Family, task: Task, rng: Generator) -> Arrays:
        """Solve the prior's mean MDP with its rewards of uncertainty."""
        from ...builders.model import build_model, copy, solve
        from . import kernel as kernels

        model = build_model(prior, task, replan=self.replan)
        largest = np.zeros(1)
        agent = self.make_arrays(
            kernels.Eubrl,
            model=model,
            initial=model,
            largest=largest,
            initial_largest=largest,
        )
        kernels.measure(agent)
        solve(model)
        return agent._replace(model=copy(model), largest=largest.copy())
