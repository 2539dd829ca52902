"""A policy with a `predict` like Stable-Baselines3's, as an agent."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..agents.base import Task
from ..beliefs.flat import FlatDirichlet

Observation = Callable[[int, int | None, float], Any]
"""An observation from the state, the last action (None at the start) and the last reward."""


class PolicyAgent:
    """Lets a trained policy play.

    The policy has `predict(observation, state, episode_start, deterministic)`, which returns an
    action and the policy's own next state. All trajectories share the policy, so it must keep
    everything it remembers in that state. A subclass may train it in `train`.
    """

    def __init__(
        self,
        policy: Any = None,
        name: str = "policy",
        deterministic: bool = True,
        observation: Observation = lambda state, action, reward: state,
        parameters: dict[str, Any] | None = None,
    ) -> None:
        """Store the policy.

        Args:
            policy: an object with `predict`.
            name: the agent's name in tables.
            deterministic: whether the policy takes its likeliest action. If not, it is seeded at
                the start of each trajectory, provided it has `set_random_seed`.
            observation: what the policy sees; the state by default.
            parameters: what tables show beside the name.
        """
        self.policy, self.name, self.parameters = policy, name, parameters or {}
        self.deterministic, self.observation = deterministic, observation

    def __deepcopy__(self, memo: dict[int, Any]) -> "PolicyAgent":
        other = type(self).__new__(type(self))
        other.__dict__.update(self.__dict__)
        return other

    def train(self, prior: FlatDirichlet, task: Task, rng: np.random.Generator) -> None:
        """Nothing: the policy comes trained."""

    def start(self, state: int, rng: np.random.Generator) -> None:
        """A new MDP begins."""
        self._memory: Any = None
        self._last: tuple[int | None, float] = (None, 0.0)
        if not self.deterministic and hasattr(self.policy, "set_random_seed"):
            self.policy.set_random_seed(int(rng.integers(2**31)))

    def act(self, state: int) -> Any:
        """Ask the policy."""
        action, self._memory = self.policy.predict(
            self.observation(state, *self._last),
            state=self._memory,
            episode_start=np.array([self._last[0] is None]),
            deterministic=self.deterministic,
        )
        return np.asarray(action).item()

    def observe(self, state: int, action: int, next_state: int, reward: float) -> None:
        """Remember what a policy may see next."""
        self._last = (action, reward)
