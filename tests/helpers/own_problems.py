"""Distributions as users write them: a river in which swimming up slips, nobody knows how often."""

from typing import Any

import numpy as np

import brlbench as bb
from brlbench.mdps.sparse import Floats

STATES, ACTIONS = 3, 2


def river(slip: float, reward: float = 1.0) -> bb.MDP:
    """Action 0 drifts down; action 1 swims up, or slips back to the first state."""
    table = np.zeros((STATES, ACTIONS, STATES))
    for x in range(STATES):
        table[x, 0, max(x - 1, 0)] = 1
        table[x, 1, min(x + 1, STATES - 1)] += 1 - slip
        table[x, 1, 0] += slip
    return bb.MDP(table, [0, 0, reward])


class River:
    """Draws only."""

    num_states, num_actions = STATES, ACTIONS

    def __init__(self, slips: float = 2.0, swims: float = 8.0) -> None:
        self.slips, self.swims = slips, swims

    def sample(self, rng: np.random.Generator) -> bb.MDP:
        return river(rng.beta(self.slips, self.swims))


class KnownRiver(River):
    """Has an exact belief."""

    def belief(self) -> Any:
        return RiverBelief(self.slips, self.swims)


class RiverBelief:
    """A Beta distribution over the probability of slipping."""

    def __init__(self, slips: float, swims: float) -> None:
        self.slips, self.swims = slips, swims

    def observe(self, state: int, action: int, next_state: int, reward: float) -> None:
        if action == 1:
            self.slips += next_state == 0
            self.swims += next_state != 0

    def sample(self, rng: np.random.Generator) -> bb.MDP:
        return river(rng.beta(self.slips, self.swims))

    def mean(self) -> bb.MDP:
        return river(self.slips / (self.slips + self.swims))

    def predictive(self, state: int, action: int) -> tuple[Floats, float]:
        row = self.mean().transitions.to_dense()[state, action]
        return row, float(row[STATES - 1])

    def mark(self) -> tuple[float, float]:
        return self.slips, self.swims

    def undo(self, mark: tuple[float, float]) -> None:
        self.slips, self.swims = mark


def tied_river() -> bb.TiedDirichlet:
    """The same distribution as a tied prior; drifting is sure."""
    group = np.array([[0, 1]] * STATES)
    outcomes = [[[max(x - 1, 0), 0], [0, min(x + 1, STATES - 1)]] for x in range(STATES)]
    following = np.array(outcomes)
    following[0, 0, 1] = 1  # outcomes of a pair must differ, even impossible ones
    return bb.TiedDirichlet([[1.0, 0.0], [2.0, 8.0]], group, following, [0, 0, 1])
