"""Summaries: results aggregated to one return per MDP, and to one number per agent."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..agents import AGENTS
from ..agents.labels import label_of
from ..arguments import counted
from ..mdps.sparse import Floats
from .adjusted import Adjusted
from .learning import Learning, learning_of
from .result import Result, Stopped, least_ci95
from .schema import EFFECTIVE_HYPOTHESES
from .score import Score, named
from .times import Feature, all_features, time_of

ORIGINAL = "BBRL:"
"""Prefix of algorithms whose results were imported from the original library."""


def is_own(algorithm: str) -> bool:
    """Whether an algorithm is neither built in nor imported: a user wrote it."""
    return algorithm not in AGENTS and not algorithm.startswith(ORIGINAL)


REFERENCE = "optimal"
"""The built-in algorithm that knows the MDP: a bound to compare with, never a competitor."""

RACE = "race"
"""The rule by which agents leave a race."""

HALVED = "halving"
"""The rule by which another agent of the same algorithm and level of time goes on instead."""

BEATEN = "beaten"
"""The rule by which the best agent of a level stops: it is worse than the best cheap agent."""


_ERRORS = 4.0  # standard errors above a bound, from which on a score is marked
_ENOUGH = 20  # MDPs, from which on standard errors are known well enough

NO_FEATURES: Mapping[str, Feature] = {}


@dataclass(frozen=True, eq=False, repr=False)
class Summary:
    """One agent in one experiment."""

    algorithm: str
    parameters: dict[str, Any]
    label: str  # with the parameters that differ from their defaults
    returns: Floats  # [N]
    seconds: dict[str, float]  # by time feature; "offline" is one of them
    machine: dict[str, Any]
    quantities: Mapping[str, Any] = field(default_factory=dict)  # those of the schema, by name
    adjusted: Adjusted | None = None  # None if the experiment is too small or too large
    deadline: float | None = None  # seconds that a decision was allowed to take
    learning: Learning | None = None  # if it was asked for and rewards are known
    stopped: Stopped | None = None  # None if it played all MDPs
    is_told: bool = False  # whether it is told the MDP

    @cached_property
    def full_label(self) -> str:
        """The agent with all its parameters; no two agents of an experiment share it."""
        return label_of(self.algorithm, self.parameters, self.deadline, defaults={})

    @property
    def marked_label(self) -> str:
        """The label, with the number of MDPs if it is smaller than that of others."""
        number = counted(len(self.returns), "MDP")
        return self.label if self.stopped is None else f"{self.label} [{number}]"

    @property
    def is_dropped(self) -> bool:
        """Whether others were better on what it played: it ranks below all that went on."""
        return self.stopped is not None and self.stopped.rule in (RACE, HALVED)

    @property
    def is_candidate(self) -> bool:
        """Whether it may represent its algorithm: it has not left by halving."""
        return self.stopped is None or self.stopped.rule != HALVED

    @property
    def sets_choosing(self) -> bool:
        """Whether only MDPs that it played may choose agents; halving's have all played these."""
        return not self.is_dropped and (self.stopped is None or self.stopped.rule != BEATEN)

    def scored_mdps(self, num_choosing: int) -> slice:
        """The MDPs of its score if the first ones choose agents: the others, if there are any.

        Those that were dropped are scored on all MDPs that they played.
        """
        all_of_them = self.is_dropped or len(self.returns) <= num_choosing
        return slice(0 if all_of_them else num_choosing, None)

    @property
    def is_reference(self) -> bool:
        """Whether it knows the MDP, and so does not compete."""
        return self.is_told or REFERENCE in (self.algorithm, self.parameters.get("base"))

    def passes(self, bound: float, errors: float) -> bool:
        """Whether its score is more standard errors above a bound, which holds for learners."""
        return not self.is_reference and self.score.mean - bound > errors * self.score.ci95 / 2

    def is_above(self, bound: float | None) -> bool:
        """Whether its score is marked: it is more than chance above a bound."""
        return bound is not None and len(self.returns) >= _ENOUGH and self.passes(bound, _ERRORS)

    @property
    def is_own(self) -> bool:
        """Whether a user wrote the agent."""
        return is_own(self.algorithm)

    @property
    def is_timed(self) -> bool:
        """Whether single decisions were timed; if not, only their mean and total are known."""
        return "max" in self.seconds

    @property
    def overruns(self) -> float | None:
        """The share of decisions past the deadline; None if there was none."""
        return self.quantities.get("overruns")

    @property
    def effective_hypotheses(self) -> float | None:
        """The mean effective number of hypotheses that trajectories leave; None without any."""
        return self.quantities.get(EFFECTIVE_HYPOTHESES)

    @property
    def peak_bytes(self) -> int | None:
        """Peak memory of the agent; None if it is unknown."""
        return self.quantities.get("peak_bytes")

    @property
    def processor_interval(self) -> tuple[float, float] | None:
        """The 95% interval of the processor time per decision; None if it is unknown."""
        low, high = (self.quantities.get(f"processor_{end}_seconds") for end in ("low", "high"))
        return None if low is None or high is None else (low, high)

    @property
    def score(self) -> Score:
        """The adjusted mean if there is one, else the mean return, with its 95% interval."""
        return self.unadjusted if self.adjusted is None else self.adjusted.score

    @property
    def order(self) -> tuple[bool, float]:
        """Sort key: the best score first, but agents that left by halving last."""
        return not self.is_candidate, -self.score.mean

    @property
    def unadjusted(self) -> Score:
        """The mean return and its 95% interval."""
        return Score.of(self.returns).no_narrower(least_ci95(self.stopped))

    @property
    def scores(self) -> tuple[Score, Score | None]:
        """The score, and the mean return if the score is adjusted."""
        return self.score, None if self.adjusted is None else self.unadjusted

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
        return f"Summary({self.label}: {named(*self.scores)})"


def summarise(
    result: Result, own_features: Mapping[str, Feature] = NO_FEATURES, learning: bool = False
) -> Summary:
    """The summary of a result, with features of a user's own, and a learning curve if wanted."""
    return Summary(
        algorithm=result.algorithm,
        parameters=result.parameters,
        label=result.label,
        returns=result.returns,
        seconds=_times(result, own_features),
        machine=result.machine,
        quantities=result.summarised(),
        adjusted=result.adjusted if result.can_be_adjusted else None,
        deadline=result.deadline,
        learning=learning_of(result) if learning else None,
        stopped=result.stopped,
        is_told=result.is_told,
    )


def _times(result: Result, own_features: Mapping[str, Feature]) -> dict[str, float]:
    """Seconds by feature; those of the package are left out where they are not known."""
    known = all_features({"offline": result.offline_seconds, **result.online_seconds})
    for name, feature in own_features.items():
        rows = result.nanoseconds.reshape(-1, result.nanoseconds.shape[2])
        decisions = rows.astype(np.float64) * 1e-9
        known[name] = time_of(feature, name, result.offline_seconds, decisions)
    return known
