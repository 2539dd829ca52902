"""BOLT, Bayesian optimistic local transitions (Araya-López, Thomas and Buffet, 2012).

Each pair gets eta artificial counts for its best next state: its value is that of the mean MDP with
these counts, and an agent could choose both the action and where they go. The MDP with these larger
actions is solved exactly, by policy iteration over actions and next states.

Deviations: the paper lets the counts go to any state; here they go to a state that can follow, by
the prior or because it was seen. The two agree where everything can follow. Unknown rewards are
outcomes with the state if they are binary; of Gaussian ones the expected reward counts. The paper
plans for a finite horizon; here, but in episodes, values are discounted without end. The model is
solved after every transition; ties are broken at random.
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
class Bolt(CompiledAgent):
    """Takes the best action of the mean MDP with artificial counts for the best next states."""

    name = "bolt"
    reference = "Araya-López et al., 2012"
    needs = ("counts",)
    episodes = PLANS
    eta: float = parameter(1.0, "artificial counts per pair", NOT_NEGATIVE)
    replan: str = replan_parameter()

    def prepare(self, prior: Family, task: Task, rng: Generator) -> Arrays:
        """Solve the prior's optimistic MDP."""
        from ...builders.model import build_model, copy
        from . import kernel as kernels

        model = build_model(prior, task, by_entry=True, replan=self.replan)
        target = np.zeros(len(model.q), np.int64)
        agent = self.make_arrays(
            kernels.Bolt,
            model=model,
            initial=model,
            target=target,
            initial_target=target,
        )
        kernels.solve(agent)
        return agent._replace(model=copy(model), target=target.copy())
