"""PSRL, posterior sampling (Strens, 2000, "A Bayesian framework for reinforcement learning").

An MDP is drawn from the posterior and solved exactly, and its optimal policy is followed for a
while. Strens draws anew at the start of each trial; here a trajectory is one trial without
an end, so a new MDP is drawn with a fixed probability at each step, or every n steps.
There is no other deviation. Of several best actions the lowest-numbered is taken.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...errors import InvalidInput
from ...mdps.dirichlet import FlatDirichlet
from ..base import CompiledAgent, Task, new_rng
from ..parameters import Sweep, number, whole


@dataclass
class Psrl(CompiledAgent):
    """Follows the optimal policy of an MDP drawn from the posterior; draws anew now and then."""

    name: ClassVar[str] = "psrl"
    reference: ClassVar[str] = "Strens, 2000"
    sweeps: ClassVar[tuple[Sweep, ...]] = (
        Sweep("resample", (0.01, 0.05, 0.2, 0.5, 1.0)),
        Sweep("every", (1, 3, 10, 30, 100)),
    )
    benchmark_mdps: ClassVar[int] = 50
    resample: float | None = number(
        None, "probability of a new draw at each step (default: 1 - discount)",
        least=0, most=1, optional=True,
    )  # fmt: skip
    every: int | None = whole(
        None, "instead of `resample`: steps between draws", least=1, optional=True
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.resample is not None and self.every is not None:
            raise InvalidInput(
                f"psrl: resample = {self.resample} and every = {self.every}: "
                "give one of them, not both"
            )

    def prepare(self, prior: FlatDirichlet, task: Task, rng: np.random.Generator) -> Any:
        """Make room for a sampled MDP."""
        from ..arrays.merged import build_merged
        from . import kernel as kernels

        one = np.ones(prior.counts.num_pairs, np.int64)
        merged, initial = build_merged(prior, task, one, one.astype(np.float64))
        chance = 1 - task.discount if self.resample is None else self.resample
        return kernels.Psrl(
            rng=new_rng(),
            merged=merged,
            initial=initial,
            chance=chance,
            every=self.every or kernels.BY_CHANCE,
            age=np.zeros(1, np.int64),
        )
