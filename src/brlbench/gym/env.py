"""One environment; each trajectory plays a new MDP of a distribution."""

from bisect import bisect_right
from pathlib import Path
from typing import Any

import gymnasium

from ..beliefs.base import Distribution
from ..errors import InvalidInput
from ..protocol.experiment import DEFAULT_HORIZON
from .world import Drawn, World


class MdpEnv(gymnasium.Env[Any, Any]):
    """MDPs of a distribution. Episodes are truncated and never terminate.

    They end at the horizon. With `episode` they end earlier, and a reset draws a start state in the
    same MDP, until the horizon is reached.

    The `info` of a reset holds the mean rewards, a table [state, action, next state]; None if they
    differ between MDPs.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012

    def __init__(
        self,
        distribution: str | Path | Distribution,
        horizon: int = DEFAULT_HORIZON,
        mdp: int | None = None,
        mdp_seed: int = 0,
        keep: bool = False,
        episode: int | None = None,
        render_mode: str | None = None,
    ) -> None:
        """Validate; `reset` draws the MDPs.

        Args:
            distribution: what MDPs are drawn from: a problem's name, a file, or a distribution.
            horizon: decisions in an MDP; they are one episode, unless `episode` is given.
            mdp: index of the MDP that all episodes play, as in experiments; None draws new ones.
            mdp_seed: the seed of those experiments.
            keep: keep the first MDP until a reset with a seed draws another one.
            episode: decisions per episode; resets keep the MDP until the horizon is reached.
            render_mode: None; there is nothing to render.
        """
        self._world = world = World(distribution, horizon, episode)
        self._keep = keep
        # Lists are quicker than arrays for looking up single numbers.
        fixed = world.fixed(mdp, mdp_seed, 1)
        self._is_fixed = fixed is not None
        self._sums: list[float] | None = None  # [E]; cumulative probabilities of the MDP
        self._others: list[list[float]] = []  # rewards, their deviations, start states
        if fixed is not None:
            self._enter(fixed)
        self._first, self._last = world.first.tolist(), world.last.tolist()
        self._next_state = world.next_state.tolist()
        self._state, self._elapsed, self._end = 0, 0, 0
        self.render_mode = render_mode
        self.observation_space = gymnasium.spaces.Discrete(world.num_states)
        self.action_space = gymnasium.spaces.Discrete(world.num_actions)

    def _enter(self, drawn: Drawn) -> None:
        """Play the only MDP that was drawn."""
        self._sums = drawn.sums[0].tolist()
        if not (self._others and self._world.shares_all):
            self._others = [rows[0].tolist() for rows in drawn[1:]]
            self._reward, self._deviation, self._start = self._others

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[int, dict[str, Any]]:
        """Begin an episode, in a new MDP unless it is kept or fixed, or has decisions left."""
        super().reset(seed=seed)
        if seed is not None or not self._world.goes_on(self._elapsed):
            self._elapsed = 0
            is_new = self._sums is None or not self._keep or seed is not None
            if is_new and not self._is_fixed:
                self._enter(self._world.draw([self.np_random]))
        self._state = bisect_right(self._start, self.np_random.random())
        self._end = self._world.end(self._elapsed)
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
        if world.is_binary:
            reward = float(self._noise[time] < reward)
        elif world.has_noise:
            reward += self._deviation[entry] * self._noise[time]
        self._state = self._next_state[entry]
        self._elapsed += 1
        return self._state, reward, False, self._elapsed >= self._end, {}
