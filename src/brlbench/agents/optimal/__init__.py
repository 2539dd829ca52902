"""The agent that is told the MDP, the upper end of every comparison."""

from dataclasses import dataclass

from ...errors import AgentError
from ...mdps.mdp import MDP
from ...mdps.task import EPISODE
from ..base import Arrays, CompiledAgent, Family, FlatDirichlet, Generator, Task, has_known_rows


@dataclass
class Optimal(CompiledAgent):
    """Knows the MDP it plays and follows its optimal policy: an upper bound, not a competitor."""

    name = "optimal"
    episodes = (
        "Follows the optimal policy of the episode: its actions depend on the decisions left."
    )

    def prepare(self, prior: Family, task: Task, rng: Generator) -> Arrays:
        """Make room for a solution; of the prior, only the sizes matter."""
        from ...builders.model import build_model
        from . import kernel as kernels

        if not has_known_rows(prior):
            mean = prior.mean()
            prior = FlatDirichlet(mean.transitions, mean.rewards, mean.start)
        model = build_model(prior, task, replan=EPISODE)
        return self.make_arrays(kernels.Optimal, model=model)

    def start(self, state: int, rng: Generator) -> None:
        """Refuse: this agent must be told the MDP."""
        raise AgentError("optimal must be told the MDP: call start_known(mdp, state, rng)")

    def start_known(self, mdp: MDP, state: int, rng: Generator) -> None:
        """A new MDP begins, and here it is."""
        self._start_known(mdp, state, rng)
