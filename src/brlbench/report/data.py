"""What reports are made from: for each agent in each experiment, its returns and its times."""

from dataclasses import dataclass
from typing import Any

from ..analysis.bounds import Contender
from ..analysis.statistics import normalised
from ..mdps.sparse import Floats
from ..protocol.score import ci95

ONLINE = "mean"  # the online feature that is used unless another is asked for
REFERENCE = "optimal"  # knows the MDP: a bound to compare with, never a competitor


@dataclass(frozen=True, eq=False)
class Entry:
    """One agent in one experiment."""

    algorithm: str
    parameters: dict[str, Any]
    label: str
    returns: Floats  # [N]
    features: dict[str, float]  # seconds by feature, "offline" among them
    machine: dict[str, Any]
    overruns: float | None = None  # the share of decisions after the deadline, if there was one

    @property
    def mean(self) -> float:
        """The score."""
        return float(self.returns.mean())

    @property
    def ci95(self) -> float:
        """The half-width of its 95% interval."""
        return ci95(self.returns)

    def contender(self, feature: str = ONLINE) -> Contender:
        """The entry as the analysis of bounds wants it."""
        times = self.features
        return Contender(self.label, self.algorithm, times["offline"], times[feature], self.returns)


@dataclass(frozen=True, eq=False)
class ExperimentData:
    """All agents of one experiment, that is, on the same MDPs."""

    name: str
    hash: str
    settings: dict[str, Any]
    entries: list[Entry]

    @property
    def accurate(self) -> bool:
        """Whether the prior is the test distribution."""
        return bool(self.settings["prior_digest"] == self.settings["test_digest"])

    @property
    def competitors(self) -> list[Entry]:
        """All agents but the reference."""
        return [entry for entry in self.entries if entry.algorithm != REFERENCE]

    def score_of(self, algorithm: str) -> float | None:
        """The best score of an algorithm, if it was run."""
        return max((e.mean for e in self.entries if e.algorithm == algorithm), default=None)

    def normalised(self, score: float) -> float | None:
        """A score between random (0) and optimal (1), where both were run."""
        random, optimal = self.score_of("random"), self.score_of(REFERENCE)
        return None if random is None or optimal is None else normalised(score, random, optimal)


@dataclass(frozen=True, eq=False)
class ReportData:
    """Everything in a folder of results, and what is wrong with it."""

    experiments: list[ExperimentData]
    notes: list[str]
