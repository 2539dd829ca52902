"""BOSS, the best of sampled set (Asmuth, Li, Littman, Nouri and Wingate, 2009).

K models are drawn from the posterior and merged into one MDP, whose actions in a state are all
actions of all models; its optimal policy is followed, action u of any model being action u. New
models are drawn whenever a pair's number of visits reaches B, where it becomes "known". As in the
paper's algorithm 1, visits are those of the present MDP, and the prior's counts are none of them.

Under this benchmark's prior the rows of a model are independent, so that K models are K rows for
each pair. Deviation: the merged MDP is solved exactly. Of several best actions the lowest-numbered
is taken.
"""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ...mdps.dirichlet import FlatDirichlet
from ..base import CompiledAgent, Task, new_rng
from ..parameters import whole


@dataclass
class Boss(CompiledAgent):
    """Follows the optimal policy of an MDP that has the best of several sampled models."""

    name: ClassVar[str] = "boss"
    samples: int = whole(5, "number of models drawn from the posterior, K", least=1)
    visits: int = whole(10, "visits to a pair after which models are drawn anew, B", least=1)

    def prepare(self, prior: FlatDirichlet, task: Task, rng: np.random.Generator) -> Any:
        """Make room for the merged MDP."""
        from ..arrays.merged import build_merged, check_size
        from . import kernel as kernels

        pairs = prior.counts.num_pairs
        most_rows = np.full(pairs, float(self.samples))
        check_size(prior, most_rows, f"boss: samples = {self.samples}", "use fewer samples")
        merged, initial = build_merged(prior, task, np.full(pairs, self.samples), most_rows)
        return kernels.Boss(
            rng=new_rng(),
            merged=merged,
            initial=initial,
            known=self.visits,
            visits=np.zeros(pairs, np.int64),
            due=np.zeros(1, np.bool_),
        )

    def small(self) -> "Boss":
        """An agent that draws few rows."""
        return replace(self, samples=1)
