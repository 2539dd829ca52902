"""R-max (Brafman and Tennenholtz, 2002): what is unknown is worth the most that can be had.

A pair is known once it was taken `visits` times; its observed frequencies and mean reward are then
its row and its reward, for ever. Each unknown pair leads to a fictitious state that pays the
largest reward at every step. The agent follows the optimal policy of this model, which is solved
exactly whenever another pair becomes known.

Of the prior it uses known rewards and, for the largest one, which transitions are possible. The
largest reward of binary ones is 1. That of Gaussian ones with unknown means is the largest prior
mean plus three of the prior's standard deviations.

In episodes the fictitious state pays to the end of the episode, and a new plan is made at the next
step, or at the start of the next episode.

Deviations: the paper computes `visits` from the accuracy that it guarantees; the number is far too
large for practice, so it is a parameter. The paper's games are zero-sum, and average rewards count;
here there is no opponent, and rewards are discounted or those of episodes. Ties are broken at
random.
"""

from dataclasses import dataclass

import numpy as np

from ...values import COUNT
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
class RMax(CompiledAgent):
    """Follows the best policy if all that is little known were worth the most that can be had."""

    name = "r-max"
    reference = "Brafman and Tennenholtz, 2002"
    needs = ("mean",)
    episodes = PLANS
    visits: int = parameter(5, "visits after which a pair is known", COUNT)
    replan: str = replan_parameter()

    def prepare(self, prior: Family, task: Task, rng: Generator) -> Arrays:
        """Solve the model without known pairs."""
        from ...builders.model import build_model, copy
        from ...builders.visits import WEIGHT, from_visits, reward_limits
        from . import kernel as kernels

        model = build_model(from_visits(prior), task, replan=self.replan)
        agent = self.make_arrays(
            kernels.RMax,
            model=model,
            initial=model,
            seen=np.zeros(len(model.q), np.int64),
            is_stale=np.zeros(1, np.int64),
            threshold=self.visits,
            largest_reward=reward_limits(prior)[1],
            weight=WEIGHT,
        )
        kernels.solve(agent)
        return agent._replace(model=copy(model))
