"""VBRB, the variance-based reward bonus (Sorg, Singh and Lewis, 2010).

The bonus of a pair is beta times the square root of the summed posterior variances of its
transition probabilities. For mean probabilities p and a count of n, this is
beta * sqrt((1 - sum of p^2) / (n + 1)), a member of the family `bonus`.

Deviations: the paper has a second term for the reward's posterior deviation; rewards are known
here, so it is zero. The paper proves its bounds for a beta that depends on the problem; here it is
a parameter. The model is solved exactly after every transition; ties are broken at random.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...mdps.dirichlet import FlatDirichlet
from ..base import CompiledAgent, Task
from ..bonus import Bonus
from ..parameters import Sweep, number


@dataclass
class Vbrb(CompiledAgent):
    """Takes the best action of the mean MDP, with a bonus for uncertain transitions."""

    name: ClassVar[str] = "vbrb"
    reference: ClassVar[str] = "Sorg et al., 2010"
    sweeps: ClassVar[tuple[Sweep, ...]] = (
        Sweep("beta", (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)),
    )
    beta: float = number(1.0, "size of the bonus", least=0)

    def prepare(self, prior: FlatDirichlet, task: Task, rng: np.random.Generator) -> Any:
        """Solve the prior's mean MDP with its bonuses."""
        return Bonus(self.beta, spread=0.5, decay=0.5, shift=1.0).prepare(prior, task, rng)

    def code(self) -> object:
        """That of the family."""
        return Bonus
