"""Races: agents stop playing once they are surely not the best of their class.

All agents of a race play the same MDPs and are looked at after fixed numbers of them. At each look,
every agent gets a rival: the agent of its class that has been most clearly better so far. The rival
stays until the next look. An agent is tested by its differences to its rivals, on MDPs that were
played after each rival was chosen. Choosing from earlier MDPs alone makes this one test per agent,
however many others it could have been compared with.

The class of an agent holds all agents whose bounds on offline and online time are no wider.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..mdps.sparse import Floats, Integers
from ..results.summary import RACE
from ..values import Index, Number, Text
from .significance import cautious_p_value, z_against

ERROR = 0.05
"""The chance that a study stops any class's best agent."""

OFFLINE_BOUNDS = tuple(10.0**power for power in range(7))
"""Seconds; within the first, training takes next to no time."""

ONLINE_BOUNDS = tuple(10.0**power for power in range(-6, 3))

_FIRST_LOOKS = (10, 25, 50, 75, 100, 150)


def looks_before(num_mdps: int) -> list[int]:
    """The numbers of MDPs after which a race is looked at."""
    looks = list(_FIRST_LOOKS)
    while looks[-1] < num_mdps:
        looks.append(2 * looks[-2])  # 200, 300, 400, 600, 800, 1200 …
    return [look for look in looks if look < num_mdps]


def classes_within(
    offline: Sequence[float],
    online: Sequence[float],
    offline_bounds: Sequence[float] = OFFLINE_BOUNDS,
    online_bounds: Sequence[float] = ONLINE_BOUNDS,
) -> Integers:
    """The numbers [n, 2] of the least bounds that each agent's times are within."""
    return np.column_stack(
        [
            np.searchsorted(np.sort(np.asarray(bounds, dtype=np.float64)), seconds)
            for seconds, bounds in ((offline, offline_bounds), (online, online_bounds))
        ]
    )


class Drop(NamedTuple):
    """An agent that stops early, by a race or by halving."""

    agent: Index
    at: Index  # after this number of MDPs
    rival: Index  # the last one
    difference: Number  # mean of the rivals' scores minus its own
    p_value: Number  # 1 if nothing was tested
    rule: Text = RACE


@dataclass
class Race:
    """A race of n agents, numbered from 0."""

    classes: Integers  # [n, 2]; the numbers of each agent's bounds, offline and online
    error: float  # the chance that this race stops any class's best agent
    num_mdps: int  # at most
    rivals: dict[int, list[int]] = field(default_factory=dict)  # by look; -1: none
    dropped: dict[int, Drop] = field(default_factory=dict)  # by agent

    @cached_property
    def looks(self) -> list[int]:
        """Numbers of MDPs after which the race is checked."""
        return looks_before(self.num_mdps)

    @cached_property
    def limit(self) -> float:
        """P-values below this stop an agent: one test per class and look, by Bonferroni."""
        num_tests = len(np.unique(self.classes, axis=0)) * max(1, len(self.looks) - 1)
        return self.error / num_tests

    def look(self, at: int, scores: Sequence[Floats], playing: NDArray[np.bool_]) -> list[Drop]:
        """Look at the race after `at` MDPs, then choose rivals; returns who is dropped now.

        Args:
            at: the number of MDPs; looks come in order.
            scores: the returns of each agent in its first MDPs, `at` or, if it stopped, fewer.
            playing: which agents [n] go on if they are not dropped now.
        """
        taking_part = playing & [len(each) >= at for each in scores]
        agents = np.flatnonzero(taking_part).tolist()
        means = np.array([each[:at].mean() if len(each) else -math.inf for each in scores])
        drops = []
        for agent in agents:
            leads = means[agent] >= max(means[i] for i in self._class_of(agent, agents))
            if not leads and (drop := self._test(agent, at, scores)):
                drops.append(drop)
        for drop in drops:
            self.dropped[drop.agent] = drop
        left = [agent for agent in agents if agent not in self.dropped]
        self.rivals[at] = [
            self._rival(agent, at, scores, left) if agent in left else -1
            for agent in range(len(scores))
        ]
        return drops

    def _class_of(self, agent: int, agents: list[int]) -> list[int]:
        """The given agents that are within the bounds of an agent's class."""
        return [i for i in agents if (self.classes[i] <= self.classes[agent]).all()]

    def _rival(self, agent: int, at: int, scores: Sequence[Floats], agents: list[int]) -> int:
        """The agent of its class that has been most clearly better, or -1 if it is alone."""
        others = [i for i in self._class_of(agent, agents) if i != agent]
        if not others:
            return -1
        z = z_against(scores[agent][:at], np.array([scores[i][:at] for i in others]))
        return others[int(z.argmin())]

    def _test(self, agent: int, at: int, scores: Sequence[Floats]) -> Drop | None:
        """Test an agent against its rivals so far."""
        differences, rival = [np.zeros(0)], -1
        for first, end in pairwise([*self.rivals, at]):
            known = self.rivals[first][agent]
            if known >= 0 and len(scores[known]) >= end:
                rival = known
                differences.append(scores[rival][first:end] - scores[agent][first:end])
        difference = np.concatenate(differences)
        p_value = cautious_p_value(difference) if len(difference) else 1.0
        if p_value >= self.limit:
            return None
        return Drop(agent, at, rival, float(difference.mean()), p_value)


def run_race(returns: Floats, classes: Integers, error: float = ERROR) -> Integers:
    """The number of MDPs [n] that each agent plays, if agents with returns [n, N] race."""
    num_agents, num_mdps = returns.shape
    race = Race(classes, error, num_mdps)
    played = np.full(num_agents, num_mdps)
    for at in race.looks:
        scores = [row[: min(at, end)] for row, end in zip(returns, played, strict=True)]
        for drop in race.look(at, scores, played == num_mdps):
            played[drop.agent] = at
    return played
