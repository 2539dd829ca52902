"""MC-BRL, Monte-Carlo Bayesian reinforcement learning (Wang, Won, Hsu and Lee, 2012).

Offline, K hypotheses are drawn from the prior. With them for the unknown MDP, the problem is a
discrete POMDP over states, which are seen, and hypotheses, which are not. Point-based value
iteration plans in it: a value function per state, the maximum of vectors over the hypotheses, each
with an action. Online, weights of the hypotheses are multiplied by the likelihoods of transitions,
and the action of the best vector is looked up. A prior that is itself a set of at most K hypotheses
is planned for as it is, with its weights.

The vectors bound the Bayes-optimal value of the K hypotheses from below, over infinitely many
decisions. The search keeps an upper bound too, and goes where the bounds are far apart.

Deviations: the paper leaves the planner open, as long as it is point-based; this one is HSVI (Smith
and Simmons, 2004), without pruning. It makes a fixed number of backups, so that plans do not depend
on time, and stops before that if the bounds meet. The first vectors are those of the optimal
policies of the hypotheses and of the mean MDP. The paper also plans where states are not seen.
"""

from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...beliefs.hypotheses import Hypotheses
from ...errors import InvalidInput
from ...kernels.types import Floats
from ...mdps.batch import MDPs
from ...values import whole
from ..base import Arrays, CompiledAgent, Family, Generator, Task, parameter


class ValueBounds(NamedTuple):
    """Bounds on the Bayes-optimal value of a set of hypotheses, exact up to rounding.

    It is the expected discounted sum of infinitely many rewards.
    """

    lower: float
    """The plan is worth at least this."""
    upper: float
    """No agent's value is above this."""
    clairvoyant: float
    """The expected value of an agent that knows the MDP."""
    hypotheses: int
    """The number of hypotheses."""
    is_complete: bool
    """Whether the bounds met, to within a millionth of the largest value."""


@dataclass
class McBrl(CompiledAgent):
    """Plans offline for MDPs drawn from the prior, as for a POMDP, and weighs them online."""

    name = "mc-brl"
    reference = "Wang et al., 2012"
    needs = ("draws", "predictive")
    quick = {"hypotheses": 3, "backups": 20}
    hypotheses: int = parameter(50, "MDPs drawn from the prior (K)", whole(1, 10**5))
    backups: int = parameter(1000, "improvements of the plan, offline", whole(0, 10**7))

    @property
    def bounds(self) -> ValueBounds:
        """Bounds on the Bayes-optimal value of the trained agent's hypotheses."""
        if self.arrays is None:
            raise InvalidInput("mc-brl has no bounds before its training: call train first")
        from .planning import ENOUGH, bounds_at_start

        bounds, roots = self.arrays.bounds, self.arrays.roots
        lower, upper = bounds_at_start(bounds, roots)
        return ValueBounds(
            lower=lower,
            upper=upper,
            clairvoyant=float((roots * bounds.corner).sum()),
            hypotheses=roots.shape[1],
            is_complete=bool(upper - lower <= ENOUGH * np.abs(bounds.corner).max()),
        )

    def prepare(self, prior: Family, task: Task, rng: Generator) -> Arrays:
        """Draw hypotheses and plan for them."""
        from . import kernel as kernels
        from .planning import check_size, plan

        number = len(prior) if isinstance(prior, Hypotheses) else self.hypotheses
        check_size(prior, min(number, self.hypotheses), self.backups)
        mdps, weights = self._draw(prior, rng)
        pomdp, bounds, roots = plan(mdps, weights, prior.mean(), task.discount, self.backups)
        return self.make_arrays(
            kernels.McBrl,
            pomdp=pomdp,
            bounds=bounds,
            prior=weights,
            roots=roots,
            weight=weights.copy(),
            following=np.zeros(len(weights)),
        )

    def _draw(self, prior: Family, rng: Generator) -> tuple[MDPs, Floats]:
        """The hypotheses and their weights; those that are drawn twice count twice."""
        rngs = [rng] * self.hypotheses
        if not isinstance(prior, Hypotheses):
            return prior.draw(rngs), np.full(self.hypotheses, 1 / self.hypotheses)
        left = np.flatnonzero(prior.weights)
        if len(left) <= self.hypotheses:
            return prior.mdps[left], prior.weights[left]
        drawn = Counter(prior.draw_indices(rngs))
        return prior.mdps[sorted(drawn)], np.array([drawn[i] for i in sorted(drawn)]) / len(rngs)
