"""VDBE, value-difference-based epsilon-greedy (Tokic, 2010).

Each state has its own epsilon. After a transition from x, epsilon(x) moves by the rate delta
towards (1 - exp(-|d| / sigma)) / (1 + exp(-|d| / sigma)), where d is the change of Q(x, u).
Deviation: the Q-function is that of the posterior's mean MDP, as in this benchmark's other
agents, not one learned by temporal differences.

The benchmark's original library moves the epsilon of all states, not only of x, towards the same
number. So it has one epsilon for all of them: `scope = "all"`. The default is Tokic's rule.
"""

from dataclasses import dataclass

import numpy as np

from ...values import POSITIVE, PROBABILITY, number, words
from ..base import Arrays, CompiledAgent, Family, Generator, Task, parameter


@dataclass
class Vdbe(CompiledAgent):
    """Epsilon-greedy with an epsilon per state, which follows how much the Q-values change."""

    name = "vdbe"
    reference = "Tokic, 2010"
    needs = ("mean",)
    episodes = (
        "Plans exactly to the end of the episode at each step; compared are Q-values with the same "
        "number of decisions left."
    )
    sigma: float = parameter(1.0, "change of Q that counts as large", POSITIVE)
    delta: float | None = parameter(
        None, "rate of change of epsilon (default: 1 / actions)", number(above=0, most=1)
    )
    initial_epsilon: float = parameter(1.0, "epsilon of every state at first", PROBABILITY)
    scope: str = parameter(
        "state", "states whose epsilon moves", words("state", "all"), variant=True
    )

    def prepare(self, prior: Family, task: Task, rng: Generator) -> Arrays:
        """Solve the prior's mean MDP."""
        from ...builders.model import copy, solved_model
        from . import kernel as kernels

        model = solved_model(prior, task)
        delta = 1 / prior.num_actions if self.delta is None else self.delta
        epsilon = np.zeros(prior.num_states)
        return self.make_arrays(
            kernels.Vdbe,
            model=copy(model),
            initial=model,
            epsilon=epsilon,
            delta=delta,
            moves_all=self.scope == "all",
        )
