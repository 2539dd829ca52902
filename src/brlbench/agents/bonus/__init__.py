"""A family of bonuses with free exponents, on the mean MDP of the posterior.

The bonus of a pair is beta * s^spread / (n + shift)^decay. Here n is the posterior's count of the
pair, and s is one minus the sum of its squared mean probabilities, 0 if the next state is certain.
Members are BEB (spread 0, decay 1, shift 1), VBRB (spread 1/2, decay 1/2, shift 1) and MBIE-EB
(spread 0, decay 1/2, shift 0). The family is this library's own; OPPS-CS can search it.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...mdps.dirichlet import FlatDirichlet
from ..base import CompiledAgent, Task, new_rng
from ..parameters import Sweep, number


@dataclass
class Bonus(CompiledAgent):
    """Takes the best action of the mean MDP, with a bonus whose exponents can be chosen."""

    name: ClassVar[str] = "bonus"
    sweeps: ClassVar[tuple[Sweep, ...]] = (
        Sweep("beta", (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)),
        Sweep("spread", (0.0, 0.25, 0.5, 1.0, 2.0)),
        Sweep("decay", (0.0, 0.25, 0.5, 1.0, 2.0)),
        Sweep("shift", (0.0, 0.5, 1.0, 2.0, 4.0)),
    )
    beta: float = number(1.0, "size of the bonus", least=0)
    spread: float = number(0.5, "exponent of the spread of the next states", least=0)
    decay: float = number(1.0, "exponent of the count, by which the bonus shrinks", least=0)
    shift: float = number(1.0, "added to the count", least=0)

    def prepare(self, prior: FlatDirichlet, task: Task, rng: np.random.Generator) -> Any:
        """Solve the prior's mean MDP with its bonuses."""
        from ...kernels.solving.model import solve
        from ..arrays.model import build_model, copy
        from . import kernel as kernels

        model = build_model(prior, task)
        agent = kernels.Bonus(
            rng=new_rng(),
            model=model,
            initial=model,
            beta=self.beta,
            spread=self.spread,
            decay=self.decay,
            shift=self.shift,
        )
        kernels.set_all_bonuses(agent)
        solve(model)
        return agent._replace(model=copy(model))
