"""Where decisions lose: the expected regret of each decision of a result.

A decision's regret is V*(x) - Q*(x, u) in the true MDP, so discounted regrets add up to the value
that knowledge of the MDP would have been worth, apart from luck. Its expected value under the
belief b of the moment, c(x, b, u) of the upper bound (see docs/bounds.md), has two parts. They are
estimated from MDPs drawn from b:

- ignorance, E[max_u Q*(x, u)] - max_u E[Q*(x, u)]: the least that any action has to expect. It
  falls as the agent learns.
- exploring, max_u E[Q*(x, u)] - E[Q*(x, u)] for the action u that was taken: the price of not
  taking the action that seems best, paid to learn, or by mistake.

Beliefs are the exact posteriors of the experiment's prior, whatever the agent itself believes. If
the prior is wrong, so are the estimates. Their sum is unbiased. The split is not: the best of means
over few MDPs is too high, which moves regret from ignorance to exploring.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..agents.base import Family, Task
from ..agents.hindsight import Hindsight
from ..errors import InvalidInput
from ..mdps.sparse import Floats
from ..problems import distribution
from ..results.result import Result
from ..results.score import Score
from ..streams import generator


@dataclass(frozen=True, eq=False)
class Autopsy:
    """Expected regrets of decisions [N, T], the means of an MDP's trajectories."""

    result: Result
    exploring: Floats  # of not taking the action that seems best
    ignorance: Floats  # of taking it

    @property
    def cost(self) -> Score:
        """The discounted sum of exploring, per MDP, with its 95% interval."""
        return self._discounted(self.exploring)

    @property
    def unknown(self) -> Score:
        """The discounted sum of ignorance, per MDP, with its 95% interval."""
        return self._discounted(self.ignorance)

    def _discounted(self, regrets: Floats) -> Score:
        return Score.of(regrets @ self.result.settings["discount"] ** np.arange(regrets.shape[1]))

    def __repr__(self) -> str:
        return (
            f"Autopsy({self.result.label} on {self.result.settings['name']}: expected regret "
            f"{self.cost} by exploring, {self.unknown} by ignorance, {len(self.exploring)} MDPs)"
        )


def autopsy(
    result: Result, samples: int = 50, num_mdps: int | None = None, seed: int = 0, prior: Any = None
) -> Autopsy:
    """Estimate where the decisions of a result lose: by exploring, or by ignorance.

    Args:
        result: a result with states and actions.
        samples: MDPs drawn from the posterior before each decision.
        num_mdps: the number of MDPs, the first ones; all by default.
        seed: of the draws. Results on the same MDPs use the same ones.
        prior: the experiment's prior, if it was given as an object.
    """
    if result.states is None or result.actions is None:
        raise InvalidInput(f"{result.label} has no states and actions: play with keep_paths=True")
    if result.settings.get("episode") is not None:
        raise InvalidInput(
            f"episode = {result.settings['episode']}: autopsies need every next state, and results "
            "with episodes lack those after which an episode ends"
        )
    belief = _prior(result, prior)
    number = result.num_mdps if num_mdps is None else min(num_mdps, result.num_mdps)
    task = Task(result.settings["discount"], result.settings["horizon"])
    examiner = Hindsight(samples)
    examiner.train(belief, task, generator("autopsy", seed))
    return _examine(result.first(number), examiner, seed)


def _prior(result: Result, prior: Any) -> Family:
    """The prior that was told; an InvalidInput if it is another one."""
    belief: Family = distribution(result.settings["prior"] if prior is None else prior).as_prior()
    if belief.digest != result.settings["prior_digest"]:
        raise InvalidInput(
            f'prior = "{belief.name}": {result.label} played with another prior, '
            f'"{result.settings["prior"]}": give it as `prior`'
        )
    return belief


def _examine(result: Result, examiner: Hindsight, seed: int) -> Autopsy:
    from ..kernels.solving.regret import expected_regrets

    states, actions, rewards = result.states, result.actions, result.rewards
    assert states is not None
    assert actions is not None
    number, copies, horizon = actions.shape
    exploring, ignorance = (np.zeros((number * copies, horizon)) for _ in range(2))
    rngs = (generator("autopsy", seed, i) for i in range(number * copies))
    expected_regrets(
        examiner.arrays,
        np.array([rng.integers(0, 2**64, size=4, dtype=np.uint64) for rng in rngs]),
        np.ascontiguousarray(states.reshape(-1, horizon + 1), np.int64),
        np.ascontiguousarray(actions.reshape(-1, horizon), np.int64),
        np.ascontiguousarray(rewards.reshape(-1, horizon)),
        exploring,
        ignorance,
    )
    by_mdp = [each.reshape(number, copies, horizon).mean(axis=1) for each in (exploring, ignorance)]
    return Autopsy(result, *by_mdp)
