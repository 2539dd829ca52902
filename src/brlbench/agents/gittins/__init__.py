"""Gittins indices of Bernoulli bandits (Gittins, 1979, "Bandit processes and dynamic allocation").

In a discounted bandit whose arms are independent, pulling an arm of the highest index is
Bayes-optimal over infinitely many decisions. The index of an arm is the sure reward per decision
for which one is indifferent between taking it for ever and pulling the arm at least once more, with
the right to stop at any time. It depends on the arm's Beta distribution alone: on the successes and
the failures, those of the prior included.

All indices that a trajectory can need are computed in training. For each sure reward of a grid, the
value of an arm is computed by recursion over successes and failures, from a depth at which
the rest is worth less than the accuracy; there, the arm is taken for known. So an index lies
between two neighbours in the grid, and is interpolated. Ties are broken at random.
"""

import math
from dataclasses import dataclass

import numpy as np

from ...errors import InvalidInput
from ...memory import check_memory
from ...values import number
from ..base import Arrays, CompiledAgent, Family, FlatDirichlet, Generator, Task, parameter

_MOST_WORK = 2e11  # steps of the recursion, some minutes


@dataclass
class Gittins(CompiledAgent):
    """Pulls the arm with the highest Gittins index: Bayes-optimal in discounted bandits."""

    name = "gittins"
    reference = "Gittins, 1979"
    needs = ("bandit",)
    example = "Bandit"
    quick = {"accuracy": 0.01}
    accuracy: float = parameter(1e-4, "largest error of an index", number(above=0, most=0.1))

    def prepare(self, prior: Family, task: Task, rng: Generator) -> Arrays:
        """Compute the indices of all numbers of successes and failures."""
        from . import kernel as kernels

        assert isinstance(prior, FlatDirichlet)  # see `needs`
        assert prior.reward_prior is not None
        parameters = np.stack([array.ravel() for array in prior.reward_prior.parameters().values()])
        distinct, table = np.unique(parameters, axis=1, return_inverse=True)
        # From here on, the rest is worth at most half the accuracy.
        rest = math.log(self.accuracy * (1 - task.discount) / 2) / math.log(task.discount)
        depth, steps = task.horizon + math.ceil(rest), math.ceil(2 / self.accuracy)
        self._check_work(distinct.shape[1] * steps * depth**2 / 2)
        entries = (task.horizon + 1) * (task.horizon + 2) // 2
        check_memory(16 * entries * distinct.shape[1], f"gittins: horizon = {task.horizon}", "less")
        indices = np.zeros((distinct.shape[1], entries))
        for i, (alpha, beta) in enumerate(distinct.T):
            room = np.zeros(entries), np.zeros(depth + 1)
            kernels.set_indices(alpha, beta, task.discount, steps, indices[i], *room)
        return self.make_arrays(
            kernels.Gittins,
            indices=indices,
            table=table.ravel(),
            pulls=np.zeros(prior.num_actions, np.int64),
            wins=np.zeros(prior.num_actions, np.int64),
            ranking=np.zeros(prior.num_actions),
            horizon=task.horizon,
        )

    def _check_work(self, work: float) -> None:
        if work > _MOST_WORK:
            raise InvalidInput(
                f"gittins: accuracy = {self.accuracy:g}: {work:.1g} steps of the recursion, at "
                f"most {_MOST_WORK:.0g} are made: allow a larger error, or fewer decisions"
            )
