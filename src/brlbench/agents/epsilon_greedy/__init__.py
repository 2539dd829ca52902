"""Epsilon-greedy on the mean MDP of the posterior (algorithm 1 of the benchmark's paper).

The model is solved again, exactly, after every transition; ties are broken at random. Deviation:
the original skips solving where it explores; here a solution costs less than the bookkeeping that
would be needed to catch up later.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...mdps.dirichlet import FlatDirichlet
from ..base import CompiledAgent, Task, new_rng
from ..parameters import number


@dataclass
class EpsilonGreedy(CompiledAgent):
    """Takes the best action of the posterior's mean MDP, or with probability epsilon any."""

    name: ClassVar[str] = "epsilon-greedy"
    epsilon: float = number(0.1, "probability of a random action", least=0, most=1)

    def prepare(self, prior: FlatDirichlet, task: Task, rng: np.random.Generator) -> Any:
        """Solve the prior's mean MDP."""
        from ..arrays.model import copy, solved_model
        from . import kernel as kernels

        model = solved_model(prior, task)
        return kernels.EpsilonGreedy(
            rng=new_rng(), model=copy(model), initial=model, epsilon=self.epsilon
        )
