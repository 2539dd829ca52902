"""BOSS, the best of sampled set (Asmuth, Li, Littman, Nouri and Wingate, 2009).

K models are drawn from the posterior and merged into one MDP, in which each state has all actions
of all models. Its optimal policy is followed: to take action u of any model is to take action u.
New models are drawn whenever a pair becomes "known", with its B-th visit. As in the paper's
algorithm 1, only visits in the present MDP count, not those behind the prior's counts.

Under this benchmark's prior the rows of a model are independent, so K models are K rows per pair.
Deviation: the merged MDP is solved exactly. Of several best actions the lowest-numbered is taken.
"""

from dataclasses import dataclass

import numpy as np

from ...values import COUNT
from ..base import Arrays, CompiledAgent, FlatDirichlet, Generator, Task, parameter


@dataclass
class Boss(CompiledAgent):
    """Follows the optimal policy of a merger of sampled MDPs, which has the best of each."""

    name = "boss"
    reference = "Asmuth et al., 2009"
    quick = {"samples": 2}
    samples: int = parameter(5, "models drawn from the posterior (K)", COUNT)
    visits: int = parameter(10, "visits to a pair after which models are drawn anew (B)", COUNT)

    def prepare(self, prior: FlatDirichlet, task: Task, rng: Generator) -> Arrays:
        """Make room for the merged MDP."""
        from ...builders.merged import build_merged
        from ...builders.sampled import check_size
        from . import kernel as kernels

        pairs = prior.counts.num_pairs
        most_rows = np.full(pairs, float(self.samples))
        check_size(prior, most_rows, f"boss: samples = {self.samples}", "use fewer samples")
        merged, initial = build_merged(prior, task, np.full(pairs, self.samples), most_rows)
        return self.make_arrays(
            kernels.Boss,
            merged=merged,
            initial=initial,
            known=self.visits,
            visits=np.zeros(pairs, np.int64),
            due=np.zeros(1, np.bool_),
        )
