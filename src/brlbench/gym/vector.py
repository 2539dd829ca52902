"""Thousands of environments in one; a step of all takes a few array operations."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium.utils.seeding import np_random
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike

from ..beliefs.base import Distribution
from ..errors import InvalidInput
from ..kernels.types import Booleans
from ..mdps.sparse import Floats, Integers
from ..protocol.experiment import DEFAULT_HORIZON
from ..values import COUNT, check
from .world import World


class MdpVectorEnv(gymnasium.vector.VectorEnv[Any, Any, Any]):
    """n environments; each behaves like an `MdpEnv` with the same seed.

    All episodes have the same length, so all environments are reset together. As in Gymnasium's
    own, the step after the last one of an episode resets them and ignores its actions.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012
        "render_modes": [],
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(
        self,
        num_envs: int,
        distribution: str | Path | Distribution,
        horizon: int = DEFAULT_HORIZON,
        mdp: int | Sequence[int] | None = None,
        mdp_seed: int = 0,
        keep: bool = False,
        episode: int | None = None,
        render_mode: str | None = None,
    ) -> None:
        """Validate; see `MdpEnv`. `mdp` may also be a list with one index per environment."""
        self._world = world = World(distribution, horizon, episode)
        self.num_envs = check(num_envs, "num_envs", COUNT)
        entries = len(world.next_state)
        fixed = world.fixed(mdp, mdp_seed, self.num_envs)
        self._is_fixed, self._keep = fixed is not None, keep
        self._mdps = world.empty(self.num_envs) if fixed is None else fixed
        self._offset = entries * np.arange(self.num_envs)
        # Bisections that single out one of a pair's transitions.
        self._halvings = int((world.last - world.first).max()).bit_length()
        self._rngs: list[np.random.Generator] = []
        self._states = np.zeros(self.num_envs, np.int64)
        self._elapsed = self._end = 0
        self.render_mode = render_mode
        self.single_observation_space = gymnasium.spaces.Discrete(world.num_states)
        self.single_action_space = gymnasium.spaces.Discrete(world.num_actions)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Integers, dict[str, Any]]:
        """Begin an episode in every environment; one seed stands for seed, seed + 1 and so on."""
        if options and "reset_mask" in options:
            raise InvalidInput("reset_mask: all environments are reset together, leave it out")
        if seed is None or isinstance(seed, int | np.integer):
            seeds = [None if seed is None else int(seed) + i for i in range(self.num_envs)]
        else:
            seeds = list(seed)
        if len(seeds) != self.num_envs:
            raise InvalidInput(f"{len(seeds)} seeds: must be one, or {self.num_envs}")
        is_new = [not self._rngs or own is not None for own in seeds]
        self._rngs = [
            np_random(own)[0] if is_new[i] else self._rngs[i] for i, own in enumerate(seeds)
        ]
        goes_on = not any(is_new) and self._world.goes_on(self._elapsed)
        self._elapsed = self._elapsed if goes_on else 0
        self._end = self._world.end(self._elapsed)
        if not self._is_fixed and not goes_on:
            due = [i for i in range(self.num_envs) if is_new[i] or not self._keep]
            if due:
                self._draw(due)
        starts = np.array([rng.random() for rng in self._rngs])
        self._states = (self._mdps.start <= starts[:, None]).sum(axis=1)
        known = np.full(self.num_envs, self._world.known_rewards, dtype=object)
        return self._states.copy(), {"rewards": known, "_rewards": np.ones(self.num_envs, np.bool_)}

    def _draw(self, due: list[int]) -> None:
        """Draw new MDPs for some of the environments."""
        drawn = self._world.draw([self._rngs[i] for i in due])
        for mine, new in zip(self._mdps, drawn, strict=True):
            mine[due if len(mine) == self.num_envs else slice(None)] = new

    def step(
        self, actions: ArrayLike
    ) -> tuple[Integers, Floats, Booleans, Booleans, dict[str, Any]]:
        """Take an action in every environment."""
        if not self._rngs:
            raise InvalidInput("step before the first reset: call reset")
        world = self._world
        over = np.zeros(self.num_envs, np.bool_)
        if self._elapsed == self._end:
            states, info = self.reset()
            return states, np.zeros(self.num_envs), over, over.copy(), info
        chosen = np.asarray(actions)
        if chosen.shape != (self.num_envs,) or not np.issubdtype(chosen.dtype, np.integer):
            raise InvalidInput(f"actions must be {self.num_envs} whole numbers, one for each")
        if chosen.min() < 0 or chosen.max() >= world.num_actions:
            raise InvalidInput(f"actions must be from 0 to {world.num_actions - 1}")
        time = self._elapsed % world.block
        if time == 0:
            self._chances, self._noise = world.chances(self._rngs)
        entry = self._find(self._states * world.num_actions + chosen, self._chances[:, time])
        rewards = self._of(self._mdps.reward, entry)
        if world.is_binary:
            rewards = (self._noise[:, time] < rewards).astype(np.float64)
        elif world.has_noise:
            rewards += self._of(self._mdps.deviation, entry) * self._noise[:, time]
        self._states = world.next_state.take(entry)
        self._elapsed += 1
        truncated = np.full(self.num_envs, self._elapsed == self._end)
        return self._states.copy(), rewards, over, truncated, {}

    def _of(self, rows: Floats, entry: Integers) -> Floats:
        """The number at an entry of each MDP."""
        if len(rows) == 1:
            return np.asarray(rows[0].take(entry))
        return np.asarray(rows.ravel().take(self._offset + entry))

    def _find(self, pairs: Integers, chances: Floats) -> Integers:
        """The entries that the chances select, by bisection."""
        first, last = self._world.first.take(pairs), self._world.last.take(pairs)
        sums = self._mdps.sums.ravel()
        for _ in range(self._halvings):
            middle = (first + last) >> 1
            is_past = sums.take(self._offset + middle) <= chances
            first = np.where(is_past, middle + 1, first)
            last = np.where(is_past, last, middle)
        return first
