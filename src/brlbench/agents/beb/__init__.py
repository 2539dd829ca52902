"""BEB, the Bayesian exploration bonus (Kolter and Ng, 2009).

Deviation: the benchmark's paper prints a bonus per transition, beta / c(x, u, y), but its figures
were made with Kolter and Ng's bonus per pair, beta / (1 + c(x, u)), where c is the posterior's
count. The bonus per pair is the default; `bonus` chooses. Kolter and Ng solve for a finite horizon
and stop updating counts that are large; like the benchmark's paper, this agent does neither.
"""

from dataclasses import dataclass

from ...values import NOT_NEGATIVE, words
from ..base import (
    PLANS,
    Arrays,
    CompiledAgent,
    Family,
    Generator,
    Task,
    parameter,
    replan_parameter,
)


@dataclass
class Beb(CompiledAgent):
    """Takes the best action of the mean MDP, with a bonus for pairs that are little known."""

    name = "beb"
    reference = "Kolter and Ng, 2009"
    needs = ("counts",)
    episodes = PLANS
    beta: float = parameter(1.0, "size of the bonus", NOT_NEGATIVE)
    bonus: str = parameter(
        "pair", "beta / (1 + c(x,u)) or beta / c(x,u,y)", words("pair", "transition")
    )
    ties: str = parameter(
        "first", "which of several best actions to take", words("first", "random")
    )
    replan: str = replan_parameter()

    def prepare(self, prior: Family, task: Task, rng: Generator) -> Arrays:
        """Solve the prior's mean MDP with its bonuses."""
        from ...builders.model import build_model, copy, solve
        from . import kernel as kernels

        model = build_model(prior, task, replan=self.replan)
        agent = self.make_arrays(
            kernels.Beb,
            model=model,
            initial=model,
            by_transition=self.bonus == "transition",
            random_ties=self.ties == "random",
        )
        kernels.set_bonuses(agent)
        solve(model)
        return agent._replace(model=copy(model))
