"""The agent that is told the MDP, the upper end of every comparison."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import AgentError
from ...mdps.dirichlet import FlatDirichlet
from ...mdps.mdp import MDP
from ..base import CompiledAgent, Task, new_rng


@dataclass
class Optimal(CompiledAgent):
    """Knows the MDP it plays and follows its optimal policy: an upper bound, not a competitor."""

    name = "optimal"

    def prepare(self, prior: FlatDirichlet, task: Task, rng: np.random.Generator) -> Any:
        """Make room for a solution."""
        from ...builders.model import build_model
        from . import kernel as kernels

        return kernels.Optimal(rng=new_rng(), model=build_model(prior, task))

    def start(self, state: int, rng: np.random.Generator) -> None:
        """Refuse: this agent must be told the MDP."""
        raise AgentError("optimal must be told the MDP: call start_known(mdp, state, rng)")

    def start_known(self, mdp: MDP, state: int, rng: np.random.Generator) -> None:
        """A new MDP begins, and here it is."""
        self._start_known(mdp, state, rng)
