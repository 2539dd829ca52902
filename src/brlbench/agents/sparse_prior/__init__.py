"""Sparse prior: learned supports for rows about which the prior says nothing. Our own.

A prior that allows every next state with equal counts is rarely meant: most pairs lead to few
states. This agent believes a row of the prior unless all states are possible with equal counts. It
models the others itself, from what it sees:

- A row has k possible next states and a Dirichlet(1, ..., 1) distribution on them, where k is
  unknown. After n transitions to m different states, the likelihood of k is proportional to
  k! / (k - m)! * Gamma(k) / Gamma(n + k) (Friedman and Singer, 1999; Strens, 2000, and Dearden et
  al., 1999, use similar priors in reinforcement learning).
- P(k) is shared by all rows. It begins proportional to 1/k, with the weight of one row. After each
  transition follows one step of EM over the rows with data.
- Given k, a next state that was seen c times has probability (c + 1) / (n + k). What remains goes
  to unseen states, by how they relate to the present state x: x itself, states that other actions
  in x led to, states that led to x, those that did both, and all others. How often a novelty comes
  from each of these five groups is learned, per state in the group.
- Each action may have habits of its own. Both hypotheses, shared and own habits, predict every
  novelty. Their mixture is weighted by how well they did, and begins with prior odds `odds`.

A modelled row enters as the Dirichlet distribution with the same mean and the same summed variance
of the probabilities. With these counts the agent plays as `spread` does. So it is `spread` where
the prior is informative. All of this is a modelling choice of the agent, not part of any prior; it
uses the given prior's support and what it sees.

Where rewards are unknown, no row is modelled.

Not exact: habits and P(k) are estimates that are treated as known; the likelihood of k ignores that
habits make some supports likelier than others, and moment matching replaces a mixture by one
distribution. The numbering of states is never used.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...values import NOT_NEGATIVE, number
from ..base import (
    PLANS,
    Arrays,
    CompiledAgent,
    Family,
    FlatDirichlet,
    Generator,
    Task,
    parameter,
    replan_parameter,
)
from ..spread import Spread, solved


@dataclass
class SparsePrior(CompiledAgent):
    """Plays as `spread`, but learns which next states are possible where the prior says nothing."""

    name = "sparse-prior"
    needs = ("counts",)
    episodes = PLANS
    kappa: float = parameter(
        0.45, "size of the bonus, in posterior standard deviations", NOT_NEGATIVE
    )
    odds: float = parameter(
        0.03, "prior odds that each action has habits of its own", number(least=0, most=1e6)
    )
    replan: str = replan_parameter()

    def prepare(self, prior: Family, task: Task, rng: Generator) -> Arrays:
        """Model the rows about which the prior says nothing, and solve the mean MDP."""
        from . import kernel as kernels
        from .novelty import build_novelty

        spread, states = (
            Spread(self.kappa, replan=self.replan).unsolved(prior, task),
            prior.num_states,
        )
        pairs, pool = len(spread.size), len(spread.model.entry_reward)
        rows = np.flatnonzero(_says_nothing(prior))
        shares = 1 / np.arange(1.0, states + 1)
        agent = self.make_arrays(
            kernels.SparsePrior,
            spread=spread,
            supports=kernels.Supports(
                rows=rows,
                is_modelled=np.isin(np.arange(pairs), rows),
                seen=np.zeros(pool),
                tries=np.zeros(pairs),
                distinct=np.zeros(pairs),
                likelihood=np.ones(pool),
                share=shares / shares.sum(),
                initial_share=shares / shares.sum(),
                responsibility=np.zeros(states),
            ),
            novelty=build_novelty(states, prior.num_actions, self.odds),
        )
        kernels.begin(agent)
        return agent._replace(spread=solved(spread))


def _says_nothing(prior: Family) -> NDArray[np.bool_]:
    """Whether the prior says nothing about the row of a pair [P], not even that others share it."""
    from ...builders.counts import Counting, has_equal_counts

    if not isinstance(prior, Counting) or prior.reward_prior is not None:
        return np.zeros(prior.num_states * prior.num_actions, np.bool_)
    if isinstance(prior, FlatDirichlet):
        return has_equal_counts(prior)
    group = prior.group.ravel()
    return np.asarray(has_equal_counts(prior) & (np.bincount(group)[group] == 1))
