"""SBOSS, the smarter best of sampled set (Castro and Precup, 2010).

As in the pseudo-code of the benchmark's paper: for each pair K rows of transition probabilities are
drawn from the posterior, K = max over y of ceil(sigma^2(x, u, y) / epsilon), where sigma^2 is the
posterior's variance of P(x, u, y). The MDP in which each row is an action is solved, and its
optimal policy followed. All rows are drawn anew once the posterior's mean has moved far enough: if
for some pair the sum over y of |P(x, u, y) - P_last(x, u, y)| / sigma(x, u, y) exceeds delta.

The pseudo-code is undefined without two corrections. sigma in the test is that of the last
sampling, and terms where it is zero count as zero. K is at least 1, so that actions with one
possible outcome can be chosen. The implementation behind the paper's tables had three defects: such
terms were 0/0, which never exceeds delta, so on sparse priors nothing was ever drawn again; it
remembered only half of the counts of a sampling; and it lost actions with one possible outcome. Its
rows for this agent are therefore not those of the algorithm.

Where binary rewards are unknown, y is a next state with its reward.

Deviation: the merged MDP is solved exactly, not by value iteration to a tolerance. The paper takes
the lowest-numbered of several best actions; `ties` offers a random one.
"""

from dataclasses import dataclass

import numpy as np

from ...values import NOT_NEGATIVE, POSITIVE, words
from ..base import Arrays, CompiledAgent, Family, Generator, Task, parameter


@dataclass
class Sboss(CompiledAgent):
    """Follows the best of sampled transition rows, with more rows where the posterior is wide."""

    name = "sboss"
    reference = "Castro and Precup, 2010"
    needs = ("counts", "outcomes")
    episodes = "Solves the merged MDP of sampled rows exactly to the end of the episode."
    quick = {"epsilon": 0.01}
    epsilon: float = parameter(0.01, "posterior variance per sampled row", POSITIVE)
    delta: float = parameter(
        1.0, "move of the mean that redraws rows, in standard deviations", NOT_NEGATIVE
    )
    ties: str = parameter(
        "first", "which of several best actions to take", words("first", "random")
    )

    def prepare(self, prior: Family, task: Task, rng: Generator) -> Arrays:
        """Make room for the merged MDP."""
        from ...builders.counts import Counting
        from ...builders.merged import build_merged
        from ...builders.sampled import check_size
        from . import kernel as kernels

        # A variance is at most 1/4 of 1 / (n + 1), and n only grows, unless counts are effective.
        if isinstance(prior, Counting):
            totals = prior.counts.row_sums()
        else:
            totals = np.zeros(prior.num_states * prior.num_actions)
        with np.errstate(over="ignore", divide="ignore"):
            most_rows = np.ceil(1 / (4 * (totals + 1) * self.epsilon))
        check_size(prior, most_rows, f"sboss: epsilon = {self.epsilon:g}", "use a larger epsilon")
        merged, initial = build_merged(prior, task, np.zeros(len(totals), np.int64), most_rows)
        kernels.set_rows(initial.counts, self.epsilon, merged.num_rows)
        return self.make_arrays(
            kernels.Sboss,
            merged=merged,
            initial=initial,
            initial_rows=merged.num_rows.copy(),
            last_count=np.zeros(len(merged.mdp.entry_reward)),
            last_total=np.zeros(len(totals)),
            random_ties=self.ties == "random",
            due=np.zeros(1, np.bool_),
        )
