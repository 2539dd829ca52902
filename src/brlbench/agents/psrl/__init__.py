"""PSRL, posterior sampling (Strens, 2000, "A Bayesian framework for reinforcement learning").

An MDP is drawn from the posterior and solved exactly, and its optimal policy is followed for a
while. Strens draws anew at the start of each trial; here a trajectory without episodes is one trial
without an end, so a new MDP is drawn with a fixed probability at each step, or every n steps.
Unknown rewards are drawn with the MDP. There is no other deviation. Of several best actions the
lowest-numbered is taken.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import InvalidInput
from ...values import COUNT, PROBABILITY
from ..base import Arrays, CompiledAgent, Family, Generator, Task, parameter


@dataclass
class Resampling(CompiledAgent):
    """The base of agents that draw something at random and follow it until they draw anew."""

    resample: float | None = parameter(
        None,
        "probability of a new draw at each step (default: 1 - discount; in episodes, one draw)",
        PROBABILITY,
    )
    every: int | None = parameter(None, "instead of `resample`: steps between draws", COUNT)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.resample is not None and self.every is not None:
            raise InvalidInput(
                f"{self.name}: resample = {self.resample} and every = {self.every}: "
                "give one of them, not both"
            )

    def schedule(self, task: Task) -> dict[str, Any]:
        """The fields that `kernel.is_due` needs."""
        from . import kernel as kernels

        chance = 1 - task.discount if self.resample is None else self.resample
        every = self.every or (task.episode if self.resample is None else None)
        return {
            "chance": chance,
            "every": every or kernels.BY_CHANCE,
            "age": np.zeros(1, np.int64),
        }


@dataclass
class Psrl(Resampling):
    """Follows the optimal policy of an MDP drawn from the posterior; draws anew now and then."""

    name = "psrl"
    reference = "Strens, 2000"
    needs = ("sample",)
    episodes = (
        "Draws an MDP at the start of each episode, unless `resample` or `every` is given, and "
        "solves it exactly to the end of the episode."
    )

    def prepare(self, prior: Family, task: Task, rng: Generator) -> Arrays:
        """Make room for a sampled MDP."""
        from ...builders.sampled import build_sampled
        from . import kernel as kernels

        mdp, initial = build_sampled(prior, task)
        return self.make_arrays(kernels.Psrl, mdp=mdp, initial=initial, **self.schedule(task))
