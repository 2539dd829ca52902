"""Epsilon-greedy on the mean MDP of the posterior (algorithm 1 of the benchmark's paper).

The model is solved again, exactly, after every transition; ties are broken at random. Deviation:
the original does not solve in steps that explore; here solving costs less than the bookkeeping to
catch up later.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...mdps.dirichlet import FlatDirichlet
from ..base import CompiledAgent, Task, new_rng
from ..parameters import Sweep, number


@dataclass
class EpsilonGreedy(CompiledAgent):
    """Takes the best action of the mean MDP, or with probability epsilon a random one."""

    name: ClassVar[str] = "epsilon-greedy"
    sweeps: ClassVar[tuple[Sweep, ...]] = (Sweep("epsilon", (0.0, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0)),)
    epsilon: float = number(0.1, "probability of a random action", least=0, most=1)

    def prepare(self, prior: FlatDirichlet, task: Task, rng: np.random.Generator) -> Any:
        """Solve the prior's mean MDP."""
        from ..arrays.model import copy, solved_model
        from . import kernel as kernels

        model = solved_model(prior, task)
        return kernels.EpsilonGreedy(
            rng=new_rng(), model=copy(model), initial=model, epsilon=self.epsilon
        )
