"""Soft-max on the mean MDP of the posterior (algorithm 2 of the benchmark's paper).

The probabilities are normalised, as in the paper's pseudo-code. The implementation behind its
published figures did not normalise them: its scores are those of always taking the first action.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...mdps.dirichlet import FlatDirichlet
from ..base import CompiledAgent, Task, new_rng
from ..parameters import Sweep, number


@dataclass
class SoftMax(CompiledAgent):
    """Takes each action with probability proportional to exp(Q / tau), Q of the mean MDP."""

    name: ClassVar[str] = "soft-max"
    sweeps: ClassVar[tuple[Sweep, ...]] = (Sweep("tau", (0.01, 0.05, 0.2, 0.5, 1.0, 5.0, 25.0)),)
    tau: float = number(0.5, "temperature: small is greedy, large is random", above=0)

    def prepare(self, prior: FlatDirichlet, task: Task, rng: np.random.Generator) -> Any:
        """Solve the prior's mean MDP."""
        from ..arrays.model import copy, solved_model
        from . import kernel as kernels

        model = solved_model(prior, task)
        return kernels.SoftMax(rng=new_rng(), model=copy(model), initial=model, tau=self.tau)
