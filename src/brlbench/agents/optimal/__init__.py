"""The agent that is told the MDP, the upper end of every comparison."""

from dataclasses import dataclass

from ...errors import AgentError
from ...mdps.mdp import MDP
from ..base import Arrays, CompiledAgent, FlatDirichlet, Generator, Task


@dataclass
class Optimal(CompiledAgent):
    """Knows the MDP it plays and follows its optimal policy: an upper bound, not a competitor."""

    name = "optimal"

    def prepare(self, prior: FlatDirichlet, task: Task, rng: Generator) -> Arrays:
        """Make room for a solution."""
        from ...builders.model import build_model
        from . import kernel as kernels

        return self.make_arrays(kernels.Optimal, model=build_model(prior, task))

    def start(self, state: int, rng: Generator) -> None:
        """Refuse: this agent must be told the MDP."""
        raise AgentError("optimal must be told the MDP: call start_known(mdp, state, rng)")

    def start_known(self, mdp: MDP, state: int, rng: Generator) -> None:
        """A new MDP begins, and here it is."""
        self._start_known(mdp, state, rng)
