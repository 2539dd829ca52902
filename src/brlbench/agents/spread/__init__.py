"""Spread, a bonus that knows what is at stake. This library's own.

The bonus of a pair is kappa * s * (n + 1)^-decay. Here n is the posterior's count of the pair, and
s is the standard deviation, over the pair's mean probabilities p, of what a transition is worth:
x = r + discount * V(y). Values include the bonuses of what follows, so both are solved together.

At a decay of 1/2, s / sqrt(n + 1) is the posterior standard deviation of the pair's expected worth:
its mean probabilities are uncertain, and only as much as it matters. So an action whose outcomes
are all worth the same gets no bonus, however seldom it was taken. The bonus is also the most that
replacing p by q can add if the chi-square distance, the sum of (q - p)^2 / p, is at most
kappa^2 / (n + 1).

Where rewards are unknown, their variance is part of that of the worth: of binary ones by their
outcomes, of Gaussian ones by their noise.

Guarantee: for a decay of 1/2 or more, if no positive count is below kappa^2, a larger V(y)
never makes a pair worth less. Adding a constant to all values adds discount times as much to every
pair. So the equation is a contraction, and values and bonuses have exactly one solution. It is
computed by policy iteration and, if that does not converge, by sweeps, which then do. For other
parameters the sweeps end after a fixed number of rounds, and their last values are used.

Tried and left out: a factor, the relative expected improvement, for actions far below the best. It
made scores on GC no higher.

The nearest relatives are VBRB, whose bonus is the same for all values (see `vbrb`), and the
uncertainty Bellman equation (O'Donoghue et al., 2018), which adds variances along the way.
"""

from dataclasses import dataclass

import numpy as np

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
class Spread(CompiledAgent):
    """Takes the best action of the mean MDP, with a bonus where outcomes differ in value."""

    name = "spread"
    needs = ("counts",)
    episodes = PLANS
    kappa: float = parameter(
        0.6, "size of the bonus, in posterior standard deviations", NOT_NEGATIVE
    )
    decay: float = parameter(0.5, "exponent of the count, by which the bonus shrinks", NOT_NEGATIVE)
    replan: str = replan_parameter()

    def prepare(self, prior: Family, task: Task, rng: Generator) -> Arrays:
        """Solve the prior's mean MDP with its bonuses."""
        return solved(self.unsolved(prior, task))

    def unsolved(self, prior: Family, task: Task) -> Arrays:
        """The arrays with the prior's mean MDP, neither solved nor copied yet."""
        from ...builders.model import build_model
        from . import kernel as kernels

        model = build_model(prior, task, by_entry=True, replan=self.replan)
        size = np.zeros(len(model.q))
        return self.make_arrays(
            kernels.Spread,
            model=model,
            initial=model,
            size=size,
            initial_size=size,
        )


def solved(agent: Arrays) -> Arrays:
    """The same agent, solved, with arrays of its own apart from those it goes back to."""
    from ...builders.model import copy, solve
    from . import kernel as kernels

    solve(agent.model)
    kernels.add_bonuses(agent)
    return agent._replace(model=copy(agent.model), size=agent.size.copy())
