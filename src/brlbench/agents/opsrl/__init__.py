"""OPSRL, optimistic posterior sampling (Osband and Van Roy, 2017).

K MDPs are drawn from the posterior, and each is solved exactly. A pair is worth the largest of its
K Q-values; with as many decisions left, in episodes. The best actions by these values are followed
until new MDPs are drawn, which happens as in PSRL: with one MDP the agent is PSRL.

This is `OptimisticPSRL` of the authors' program, TabulaRL. Unknown rewards are drawn with the MDPs.
With `largest = "backup"`, the largest Q-value is taken at each backup, so that optimism accumulates
from step to step (Tiapkin et al., 2022, "Optimistic posterior sampling with few samples and tight
guarantees"). That is BOSS's merged MDP, drawn anew by the clock rather than by visits.

Deviations: of several best actions the lowest-numbered is taken, not a random one. The authors play
episodes; without them, new MDPs are drawn with a fixed probability at each step, or every n steps.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...values import whole, words
from ..base import Arrays, Family, Generator, Task, parameter
from ..psrl import Resampling


@dataclass
class Opsrl(Resampling):
    """Follows the largest Q-values of MDPs drawn from the posterior; draws anew now and then."""

    name = "opsrl"
    reference = "Osband and Van Roy, 2017"
    needs = ("sample",)
    episodes = (
        "Draws MDPs at the start of each episode, unless `resample` or `every` is given, and "
        "solves each exactly to the end of the episode."
    )
    quick = {"samples": 2}
    samples: int = parameter(10, "MDPs drawn from the posterior (K)", whole(1, 10**6))
    largest: str = parameter(
        "solution",
        "takes the largest Q-values of K solutions, or of K models at each backup",
        words("solution", "backup"),
        variant=True,
    )

    def prepare(self, prior: Family, task: Task, rng: Generator) -> Arrays:
        """Make room for the draws."""
        from ...builders.merged import build_merged_models
        from ...builders.sampled import build_sampled, check_size
        from . import kernel as kernels

        most_rows = np.full(prior.num_states * prior.num_actions, float(self.samples))
        check_size(prior, most_rows, f"opsrl: samples = {self.samples}", "use fewer samples")
        draws: Any
        if self.largest == "backup":
            draws, initial = build_merged_models(prior, task, self.samples)
        else:
            mdp, initial = build_sampled(prior, task)
            room = np.zeros(((task.episode or 0) + 1, len(mdp.optimum.q)))
            draws = kernels.Envelope(mdp=mdp, number=self.samples, q=room)
        return self.make_arrays(kernels.Opsrl, draws=draws, initial=initial, **self.schedule(task))
