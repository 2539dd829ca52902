"""What reports need from a result: returns per MDP and time features, no single decisions."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ..agents import AGENTS
from ..mdps.sparse import Floats, Integers
from .adjusted import Adjusted
from .labels import label_of
from .score import Score

ORIGINAL = "BBRL:"
"""The algorithms of the original library begin like this, where its results were imported."""


class Learning(NamedTuple):
    """The mean discounted reward so far after some decisions, with its 95% intervals."""

    decisions: Integers  # [P], increasing; the last one is the horizon
    mean: Floats  # [P]
    ci95: Floats  # [P]; NaN for a single MDP

    def at(self, decisions: Integers) -> "Learning":
        """The curve at other decisions: between its points it is straight."""
        numbers = (np.interp(decisions, self.decisions, each) for each in (self.mean, self.ci95))
        return Learning(decisions, *numbers)


REFERENCE = "optimal"
"""The algorithm that knows the MDP: a bound to compare with, never a competitor."""

RACE = "race"
"""The rule by which agents leave a race."""


class Stopped(NamedTuple):
    """Why an agent played fewer MDPs than its experiment has."""

    rule: str  # RACE, or `until` with its number
    reason: str


@dataclass(frozen=True, eq=False, repr=False)
class Summary:
    """One agent in one experiment."""

    algorithm: str
    parameters: dict[str, Any]
    label: str  # with the parameters that differ from their defaults
    returns: Floats  # [N]
    seconds: dict[str, float]  # by time feature; "offline" is one of them
    machine: dict[str, Any]
    overruns: float | None = None  # share of decisions past the deadline, if there was one
    adjusted: Adjusted | None = None  # with the luck taken out
    deadline: float | None = None  # seconds that a decision was allowed to take
    learning: Learning | None = None  # if it was asked for and rewards are known
    stopped: Stopped | None = None  # None if it played all MDPs
    peak_bytes: int | None = None  # memory of the agent at its peak; None: not known

    @property
    def full_label(self) -> str:
        """The agent with all its parameters; no two agents of an experiment share it."""
        return label_of(self.algorithm, self.parameters, self.deadline, defaults={})

    @property
    def marked_label(self) -> str:
        """The label, with the number of MDPs if it is smaller than that of others."""
        return self.label if self.stopped is None else f"{self.label} [{len(self.returns)} MDPs]"

    @property
    def is_dropped(self) -> bool:
        """Whether it left a race: within its bounds on time, another agent is better."""
        return self.stopped is not None and self.stopped.rule == RACE

    @property
    def is_own(self) -> bool:
        """Whether a user wrote the agent."""
        return self.algorithm not in AGENTS and not self.algorithm.startswith(ORIGINAL)

    @property
    def is_timed(self) -> bool:
        """Whether single decisions were timed; if not, only their mean and total are known."""
        return "max" in self.seconds

    @property
    def score(self) -> Score:
        """The adjusted score if there is one, else the mean return, with its 95% interval."""
        return self.unadjusted if self.adjusted is None else self.adjusted.score

    @property
    def unadjusted(self) -> Score:
        """The mean return and its 95% interval."""
        return Score.of(self.returns)

    def first(self, num_mdps: int) -> "Summary":
        """The summary on the first MDPs only; times stay those of all."""
        if num_mdps >= len(self.returns):
            return self
        adjusted = self.adjusted and self.adjusted.first(num_mdps)
        return replace(self, returns=self.returns[:num_mdps], adjusted=adjusted, learning=None)

    @property
    def can_be_adjusted(self) -> bool:
        """Whether there is an adjusted score."""
        return self.adjusted is not None

    @property
    def scored_returns(self) -> Floats:
        """The returns [N] that the score is the mean of; paired tests use them."""
        return self.returns if self.adjusted is None else self.adjusted.returns

    def __repr__(self) -> str:
        return f"Summary({self.label}: {self.score})"
