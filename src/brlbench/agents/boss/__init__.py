"""BOSS, the best of sampled set (Asmuth, Li, Littman, Nouri and Wingate, 2009).

K models are drawn from the posterior and merged into one MDP, in which each state has all actions
of all models. Its optimal policy is followed: to take action u of any model is to take action u.
New models are drawn whenever a pair becomes "known", with its B-th visit. As in the paper's
algorithm 1, only visits in the present MDP count, not those behind the prior's counts.

Under a flat prior the rows of a model are independent, so K models are K rows per pair; in episodes
models are drawn as a whole all the same.
Deviation: the merged MDP is solved exactly. Of several best actions the lowest-numbered is taken.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...values import COUNT
from ..base import Arrays, CompiledAgent, Family, Generator, Task, has_known_rows, parameter


@dataclass
class Boss(CompiledAgent):
    """Follows the optimal policy of a merger of sampled MDPs, which has the best of each."""

    name = "boss"
    reference = "Asmuth et al., 2009"
    needs = ("sample",)
    episodes = "Solves the merged MDP of whole models exactly to the end of the episode."
    quick = {"samples": 2}
    samples: int = parameter(5, "models drawn from the posterior (K)", COUNT)
    visits: int = parameter(10, "visits to a pair after which models are drawn anew (B)", COUNT)

    def prepare(self, prior: Family, task: Task, rng: Generator) -> Arrays:
        """Make room for the merged MDP."""
        from ...builders.merged import build_merged, build_merged_models
        from ...builders.sampled import check_size
        from . import kernel as kernels

        pairs = prior.num_states * prior.num_actions
        most_rows = np.full(pairs, float(self.samples))
        check_size(prior, most_rows, f"boss: samples = {self.samples}", "use fewer samples")
        if has_known_rows(prior) and task.episode is None:
            built: Any = build_merged(prior, task, np.full(pairs, self.samples), most_rows)
        else:
            built = build_merged_models(prior, task, self.samples)
        return self.make_arrays(
            kernels.Boss,
            merged=built[0],
            initial=built[1],
            known=self.visits,
            visits=np.zeros(pairs, np.int64),
            due=np.zeros(1, np.bool_),
        )
