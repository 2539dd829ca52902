"""VDBE, value-difference-based epsilon-greedy (Tokic, 2010).

Each state has its own epsilon. After a transition from x, epsilon(x) moves by the rate delta
towards (1 - exp(-|d| / sigma)) / (1 + exp(-|d| / sigma)), where d is the change of Q(x, u).
Deviation: the Q-function is that of the posterior's mean MDP, as in this benchmark's other
agents, not one learned by temporal differences.

The benchmark's original library moves the epsilon of all states, not only of x, towards the same
number. So it has one epsilon for all of them: `scope = "all"`. The default is Tokic's rule.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...mdps.dirichlet import FlatDirichlet
from ..base import CompiledAgent, Task, new_rng
from ..parameters import Sweep, choice, number


@dataclass
class Vdbe(CompiledAgent):
    """Epsilon-greedy with an epsilon per state, which follows how much the Q-values change."""

    name: ClassVar[str] = "vdbe"
    reference: ClassVar[str] = "Tokic, 2010"
    sweeps: ClassVar[tuple[Sweep, ...]] = (
        Sweep("sigma", (0.01, 0.1, 1.0, 10.0, 100.0)),
        Sweep("delta", (0.01, 0.03, 0.1, 0.3, 1.0)),
        Sweep("initial_epsilon", (0.0, 0.25, 0.5, 0.75, 1.0)),
        Sweep("scope", ("state", "all")),
    )
    sigma: float = number(1.0, "change of Q that counts as large", above=0)
    delta: float | None = number(
        None, "rate of change of epsilon (default: 1 / actions)", above=0, most=1, optional=True
    )
    initial_epsilon: float = number(1.0, "epsilon of every state at first", least=0, most=1)
    scope: str = choice(
        "state", "whose epsilon moves: the visited state's or that of all states",
        ("state", "all"), added=True,
    )  # fmt: skip

    def prepare(self, prior: FlatDirichlet, task: Task, rng: np.random.Generator) -> Any:
        """Solve the prior's mean MDP."""
        from ..arrays.model import copy, solved_model
        from . import kernel as kernels

        model = solved_model(prior, task)
        delta = 1 / prior.num_actions if self.delta is None else self.delta
        epsilon = np.zeros(prior.num_states)
        return kernels.Vdbe(
            rng=new_rng(),
            model=copy(model),
            initial=model,
            epsilon=epsilon,
            initial_epsilon=self.initial_epsilon,
            sigma=self.sigma,
            delta=delta,
            moves_all=self.scope == "all",
        )
