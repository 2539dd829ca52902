"""Q-learning (Watkins, 1989; Watkins and Dayan, 1992), the baseline without model and prior.

It keeps a table of Q-values. A transition moves that of its pair towards the reward plus the
discounted best value of the next state, by `rate` times the pair's visits to the power of minus
`decay`. It knows nothing: neither the prior, nor rewards, nor which transitions are possible.

In episodes, optimal actions depend on the decisions that are left. So there is a table for each of
them, and after the last decision nothing follows.

Watkins leaves exploration open. Here it is epsilon-greedy, with ties broken at random, or
Boltzmann's, as in `soft-max`. There is no deviation.
"""

from dataclasses import dataclass

import numpy as np

from ...memory import check_memory
from ...values import NOT_NEGATIVE, POSITIVE, PROBABILITY, number, words
from ..base import Arrays, CompiledAgent, Family, Generator, Task, parameter

_EPSILON, _BOLTZMANN = "epsilon-greedy", "boltzmann"


@dataclass
class QLearning(CompiledAgent):
    """Learns Q-values from transitions alone, without any model, and explores at random."""

    name = "q-learning"
    reference = "Watkins, 1989"
    episodes = "Learns a table of Q-values for each number of decisions left."
    rate: float = parameter(0.2, "learning rate at the first visit", number(above=0, most=1))
    decay: float = parameter(
        0.0, "exponent of a pair's visits, by which the learning rate falls", NOT_NEGATIVE
    )
    exploration: str = parameter(_EPSILON, "how it explores", words(_EPSILON, _BOLTZMANN))
    epsilon: float = parameter(
        0.1, "probability of a random action, if epsilon-greedy", PROBABILITY
    )
    tau: float = parameter(0.5, "temperature, if boltzmann", POSITIVE)
    initial: float = parameter(0.0, "initial Q-values; large ones are optimistic", number())

    def prepare(self, prior: Family, task: Task, rng: Generator) -> Arrays:
        """Make room for the tables."""
        from . import kernel as kernels

        pairs, stages = prior.num_states * prior.num_actions, task.episode or 1
        check_memory(16 * pairs * stages, f"q-learning: episode = {stages}", "shorten it")
        return self.make_arrays(
            kernels.QLearning,
            q=np.zeros(stages * pairs),
            visits=np.zeros(stages * pairs, np.int64),
            stage=np.zeros(1, np.int64),
            stages=stages,
            pairs=pairs,
            num_actions=prior.num_actions,
            discount=task.discount,
            in_episodes=task.episode is not None,
            boltzmann=self.exploration == _BOLTZMANN,
        )
