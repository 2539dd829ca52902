"""Halving: of each expensive algorithm, the best agent per level of time plays all MDPs.

The agents of a level share the value of the parameter that sets their time, and differ in others.
All of a level play the MDPs of the first rung. After each rung the best third goes on to the next,
and after the last rung the best agent alone. Above some level, the ladder begins: only the best
settings of the level below play at all.

Rungs lie among the MDPs that choose agents; all later ones score and test. On these, the agent that
is left is tested against the champion: the best of the cheap agents, which play all MDPs. It stops
once it is surely worse.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ..mdps.sparse import Floats, Integers
from ..results.summary import BEATEN, HALVED
from .bounds import num_choosing
from .racing import Drop, looks_before
from .significance import student_p_values, z_against

RUNGS = (10, 25, 75)
LADDER = 2500.0
CARRIED = 3
"""The number of settings that the ladder carries to the next level."""

ERROR_PER_LOOK = 0.01
"""The chance that a look stops an agent that is as good as the champion; z > 2.33."""


def rungs_within(num_mdps: int, rungs: Sequence[int] = RUNGS) -> list[int]:
    """The rungs that lie among the MDPs that choose agents."""
    return [rung for rung in rungs if rung <= num_choosing(num_mdps)]


def going_on(number: int, is_last: bool) -> int:
    """The number of agents that go on after a rung."""
    return min(number, 1 if is_last else math.ceil(number / 3))


class Level(NamedTuple):
    """Agents of one algorithm that need about the same time."""

    agents: list[int]
    settings: list[str]  # of each agent: its other parameters
    below: int | None = None  # the next cheaper level of the algorithm
    on_ladder: bool = False  # whether only the best settings of the level below play


@dataclass
class Halving:
    """The levels of an experiment; its agents are numbered from 0."""

    levels: list[Level]
    num_mdps: int
    rungs: Sequence[int]
    ranking: dict[int, list[int]] = field(default_factory=dict)  # by level, best first
    looked: dict[int, list[int]] = field(default_factory=dict)  # by level
    champion: int | None = None  # chosen when it is first needed
    dropped: dict[int, Drop] = field(default_factory=dict)  # by agent

    @property
    def looks(self) -> list[int]:
        """Numbers of MDPs after which a level is looked at; at 0 it begins."""
        later = [at for at in looks_before(self.num_mdps) if at > self.num_choosing]
        return [0, *self.rungs, *later]

    @property
    def num_choosing(self) -> int:
        """The number of MDPs that choose agents."""
        return num_choosing(self.num_mdps)

    def begin(self, number: int) -> None:
        """Begin a level: leave out the settings that the ladder does not carry to it."""
        level = self.levels[number]
        self.looked[number] = [0]
        if not level.on_ladder or level.below is None or not self.ranking.get(level.below):
            return
        below, ranking = self.levels[level.below], self.ranking[level.below]
        setting_of = dict(zip(below.agents, below.settings, strict=True))
        carried = {setting_of[agent] for agent in ranking[:CARRIED]}
        for agent, setting in zip(level.agents, level.settings, strict=True):
            if setting in below.settings and setting not in carried:
                self.dropped[agent] = Drop(agent, 0, ranking[0], 0.0, 1.0, HALVED)

    def choose(self, number: int, at: int, agents: Sequence[int], scores: Sequence[Floats]) -> None:
        """Look at a level after a rung: the best of the agents that are left go on."""
        self.looked[number].append(at)
        means = [float(each.mean()) for each in scores]
        order = sorted(range(len(agents)), key=lambda i: -means[i])  # stable: ties keep their order
        best_first = [agents[i] for i in order]
        earlier = [each for each in self.ranking.get(number, []) if each not in agents]
        self.ranking[number] = best_first + earlier
        for i in order[going_on(len(agents), at == self.rungs[-1]) :]:
            lead = means[order[0]] - means[i]
            self.dropped[agents[i]] = Drop(agents[i], at, best_first[0], lead, 1.0, HALVED)

    def test(
        self,
        number: int,
        at: int,
        agents: Sequence[int],
        scores: Sequence[Floats],
        champion: Floats | None,
    ) -> None:
        """Look at a level later: test the agents that are left against the champion, if any."""
        self.looked[number].append(at)
        if champion is None or self.champion is None:
            return
        for agent, own in zip(agents, scores, strict=True):
            lead = (champion - own)[self.num_choosing : at]
            z = z_against(lead, np.zeros((1, len(lead))))
            p_value = float(student_p_values(z, len(lead))[0])
            if len(lead) > 1 and p_value < ERROR_PER_LOOK:
                drop = Drop(agent, at, self.champion, float(lead.mean()), p_value, BEATEN)
                self.dropped[agent] = drop

    def expected_mdps(self) -> dict[int, float]:
        """The MDPs that each agent plays on average over its level, if the champion stops none."""
        expected: dict[int, float] = {}
        for level in self.levels:
            size = len(level.agents)
            left = min(size, CARRIED) if level.on_ladder else size
            played, before = 0, 0
            for rung in self.rungs:
                played += left * (rung - before)
                left, before = going_on(left, rung == self.rungs[-1]), rung
            played += left * (self.num_mdps - before)
            expected |= dict.fromkeys(level.agents, played / size)
        return expected


def best_of(scores: Sequence[Floats]) -> int:
    """The index of the highest mean; the first of several."""
    return int(np.argmax([each.mean() for each in scores]))


def run_halving(
    returns: Floats, levels: list[Level], cheap: Sequence[int], rungs: Sequence[int] = RUNGS
) -> tuple[Integers, Halving]:
    """The number of MDPs [n] that each agent with returns [n, N] plays, and all decisions."""
    num_agents, num_mdps = returns.shape
    halving = Halving(levels, num_mdps, rungs_within(num_mdps, rungs))
    if cheap:
        halving.champion = cheap[best_of([returns[i, : halving.num_choosing] for i in cheap])]
    for number, level in enumerate(levels):
        for at in halving.looks:
            agents = [agent for agent in level.agents if agent not in halving.dropped]
            scores = [returns[agent, :at] for agent in agents]
            if at == 0:
                halving.begin(number)
            elif at in halving.rungs:
                halving.choose(number, at, agents, scores)
            else:
                champion = None if halving.champion is None else returns[halving.champion, :at]
                halving.test(number, at, agents, scores, champion)
    played = np.full(num_agents, num_mdps)
    for agent, drop in halving.dropped.items():
        played[agent] = drop.at
    return played, halving
