"""One environment; each episode plays a new MDP of a distribution."""

from bisect import bisect_right
from pathlib import Path
from typing import Any

import gymnasium

from ..errors import InvalidInput
from ..mdps.dirichlet import FlatDirichlet
from ..protocol.experiment import DEFAULT_HORIZON
from .world import World


class MdpEnv(gymnasium.Env[Any, Any]):
    """MDPs of a distribution. Episodes are truncated at the horizon and never terminate.

    The `info` of a reset holds the known mean rewards, a table [state, action, next state].
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012

    def __init__(
        self,
        distribution: str | Path | FlatDirichlet,
        horizon: int = DEFAULT_HORIZON,
        mdp: int | None = None,
        mdp_seed: int = 0,
        keep: bool = False,
        render_mode: str | None = None,
    ) -> None:
        """Validate; `reset` draws the MDPs.

        Args:
            distribution: what MDPs are drawn from: a problem's name, a file, or a distribution.
            horizon: decisions per episode.
            mdp: index of the MDP that all episodes play, as in experiments; None draws new ones.
            mdp_seed: the seed of those experiments.
            keep: keep the MDP of the first episode until a reset with a seed draws another one.
            render_mode: None; there is nothing to render.
        """
        self._world = world = World(distribution, horizon)
        self._keep = keep
        # Lists are quicker than arrays for looking up single numbers.
        fixed = world.fixed(mdp, mdp_seed, 1)
        self._is_fixed = fixed is not None
        # [E]; cumulative probabilities of the MDP
        self._sums: list[float] | None = None if fixed is None else fixed[0].tolist()
        self._first, self._last = world.first.tolist(), world.last.tolist()
        self._next_state, self._start = world.next_state.tolist(), world.start.tolist()
        self._reward, self._deviation = world.reward.tolist(), world.deviation.tolist()
        self._state, self._elapsed = 0, 0
        self.render_mode = render_mode
        self.observation_space = gymnasium.spaces.Discrete(world.num_states)
        self.action_space = gymnasium.spaces.Discrete(world.num_actions)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[int, dict[str, Any]]:
        """Begin an episode, in a new MDP unless it is kept or fixed."""
        super().reset(seed=seed)
        is_new = self._sums is None or not self._keep or seed is not None
        if is_new and not self._is_fixed:
            self._sums = self._world.draw([self.np_random])[0].tolist()
        self._state = bisect_right(self._start, self.np_random.random())
        self._elapsed = 0
        return self._state, {"rewards": self._world.known_rewards}

    def step(self, action: Any) -> tuple[int, float, bool, bool, dict[str, Any]]:
        """Take an action."""
        world = self._world
        if not 0 <= action < world.num_actions:
            raise InvalidInput(f"action {action!r}: must be from 0 to {world.num_actions - 1}")
        if self._sums is None:
            raise InvalidInput("step before the first reset: call reset")
        time = self._elapsed % world.block
        if time == 0:
            uniform, normal = world.chances([self.np_random])
            self._chances, self._noise = uniform[0].tolist(), normal[0].tolist()
        pair = self._state * world.num_actions + int(action)
        chance = self._chances[time]
        entry = bisect_right(self._sums, chance, self._first[pair], self._last[pair])
        reward = self._reward[entry]
        if world.has_noise:
            reward += self._deviation[entry] * self._noise[time]
        self._state = self._next_state[entry]
        self._elapsed += 1
        return self._state, reward, False, self._elapsed >= world.horizon, {}
