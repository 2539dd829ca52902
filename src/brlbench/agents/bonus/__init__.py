"""A family of bonuses with free exponents, on the mean MDP of the posterior.

The bonus of a pair is beta * s^spread / (n + shift)^decay. Here n is the posterior's count of the
pair, and s is one minus the sum of its squared mean probabilities, 0 if the next state is certain.
Members are BEB (spread 0, decay 1, shift 1), VBRB (spread 1/2, decay 1/2, shift 1) and MBIE-EB
(spread 0, decay 1/2, shift 0). The family is this library's own; OPPS-CS can search it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from ...values import NOT_NEGATIVE
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
class Bonus(CompiledAgent):
    """Takes the best action of the mean MDP, with a bonus whose exponents can be chosen."""

    name = "bonus"
    needs = ("counts",)
    episodes = PLANS
    beta: float = parameter(1.0, "size of the bonus", NOT_NEGATIVE)
    spread: float = parameter(0.5, "exponent of the spread of the next states", NOT_NEGATIVE)
    decay: float = parameter(1.0, "exponent of the count, by which the bonus shrinks", NOT_NEGATIVE)
    shift: float = parameter(1.0, "added to the count", NOT_NEGATIVE)
    replan: str = replan_parameter()

    def prepare(self, prior: Family, task: Task, rng: Generator) -> Arrays:
        """Solve the prior's mean MDP with its bonuses."""
        from ...builders.model import build_model, copy, solve
        from . import kernel as kernels

        model = build_model(prior, task, replan=self.replan)
        agent = self.make_arrays(kernels.Bonus, model=model, initial=model)
        kernels.set_bonuses(agent)
        solve(model)
        return agent._replace(model=copy(model))


@dataclass
class BonusMember(CompiledAgent):
    """The base of agents whose bonus is a member of the family, with fixed exponents."""

    needs = ("counts",)
    episodes = PLANS
    exponents: ClassVar[Mapping[str, float]]
    beta: float = parameter(1.0, "size of the bonus", NOT_NEGATIVE)
    replan: str = replan_parameter()

    def prepare(self, prior: Family, task: Task, rng: Generator) -> Arrays:
        """Solve the prior's mean MDP with its bonuses."""
        member = Bonus(self.beta, **self.exponents, replan=self.replan)
        return member.prepare(prior, task, rng)

    def code(self) -> object:
        """The family's code."""
        return Bonus
