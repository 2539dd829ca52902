"""MBIE-EB, model-based interval estimation with exploration bonus (Strehl and Littman, 2008).

The bonus of a pair is beta / sqrt(n), a member of the family `bonus`.

Deviations: the paper estimates the model from visits alone, n counts them, and pairs without any
have the largest possible value. Here the model is the posterior's mean, as in this benchmark's
other agents, and n is the posterior's count, so that the prior takes the place of that optimism.
The model is solved exactly after every transition; ties are broken at random.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...mdps.dirichlet import FlatDirichlet
from ..base import CompiledAgent, Task
from ..bonus import Bonus
from ..parameters import Sweep, number


@dataclass
class MbieEb(CompiledAgent):
    """Takes the best action of the mean MDP, with a bonus that falls with the root of the count."""

    name: ClassVar[str] = "mbie-eb"
    reference: ClassVar[str] = "Strehl and Littman, 2008"
    sweeps: ClassVar[tuple[Sweep, ...]] = (
        Sweep("beta", (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)),
    )
    beta: float = number(1.0, "size of the bonus", least=0)

    def prepare(self, prior: FlatDirichlet, task: Task, rng: np.random.Generator) -> Any:
        """Solve the prior's mean MDP with its bonuses."""
        return Bonus(self.beta, spread=0.0, decay=0.5, shift=0.0).prepare(prior, task, rng)

    def code(self) -> object:
        """That of the family."""
        return Bonus
