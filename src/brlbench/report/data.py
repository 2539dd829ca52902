"""The data of reports: the summaries of every experiment."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from ..analysis.bayes_bound.known import KnownBound, known_bound
from ..analysis.scores import normalised, normalised_returns
from ..mdps.sparse import Floats
from ..protocol.luck import random_score
from ..results.compact import ExperimentHeader
from ..results.score import Score
from ..results.summary import REFERENCE as REFERENCE
from ..results.summary import Summary
from ..storage.entries import Entry
from .notes import Note, quality_notes

RANDOM = "random"
"""The algorithm whose score is 0 when normalised."""


class Scale(NamedTuple):
    """The scores that are 0 and 1 when normalised."""

    random: float
    top: float

    @classmethod
    def between(
        cls, random: float | None, optimal: float | None, bound: float | None
    ) -> "Scale | None":
        """From random to the bound, or to `optimal` without one; None without both ends."""
        top = optimal if bound is None else bound
        return None if random is None or top is None else cls(random, top)

    @property
    def rises(self) -> bool:
        """Whether 1 is above random, as aggregates need it."""
        return self.random < self.top

    def normalised(self, score: float) -> float | None:
        """A score on the scale; None if both ends are equal."""
        return None if self.random == self.top else normalised(score, self.random, self.top)

    def with_interval(self, score: Score) -> Score:
        """A score and its interval on a scale that rises; both ends of it count as exact."""
        mean = normalised(score.mean, self.random, self.top)
        return Score(mean, score.ci95 / (self.top - self.random))


@dataclass(frozen=True, eq=False)
class ExperimentData:
    """All agents of one experiment, that is, on the same MDPs."""

    name: str
    hash: str
    settings: Mapping[str, Any]
    summaries: Sequence[Summary]
    bounds: Sequence[KnownBound] = ()  # of users; those that come with the package are known

    @property
    def header(self) -> ExperimentHeader:
        """The experiment without its agents."""
        return ExperimentHeader(self.name, self.hash, self.settings)

    @property
    def num_mdps(self) -> int:
        """The number of MDPs."""
        return int(self.settings["num_mdps"])

    @property
    def family(self) -> str:
        """Equal for experiments whose first MDPs are the same."""
        if self.settings.get("origin") is None:
            return self.hash
        names = ("name", "prior", "test", "deadline", "num_mdps")
        return json.dumps({k: v for k, v in self.settings.items() if k not in names})

    @property
    def accurate(self) -> bool:
        """Whether the prior is the test distribution."""
        return bool(self.settings["prior_digest"] == self.settings["test_digest"])

    @property
    def competitors(self) -> list[Summary]:
        """All agents but those that know the MDP."""
        return [summary for summary in self.summaries if not summary.is_reference]

    def score_of(self, algorithm: str) -> float | None:
        """The best score of an algorithm, or None if it was not run."""
        scores = (each.score.mean for each in self.summaries if each.algorithm == algorithm)
        return max(scores, default=None)

    def regret(self, score: float, mdps: slice) -> float | None:
        """The score of `optimal` minus one on the same MDPs; None if it did not play them all."""
        if self._reference is None or len(self._reference.returns) < mdps.stop:
            return None
        return float(self._reference.scored_returns[mdps].mean()) - score

    @cached_property
    def _reference(self) -> Summary | None:
        return next((each for each in self.summaries if each.algorithm == REFERENCE), None)

    @cached_property
    def random(self) -> float | None:
        """The expected return of random actions; where it is not shipped, the score of `random`."""
        expected = random_score(self.settings)
        return self.score_of(RANDOM) if expected is None else expected

    @cached_property
    def upper_bound(self) -> float | None:
        """A limit of the expected return of agents that have to learn; None if it is unknown.

        It is the upper end of a one-sided 95% interval of the Bayes-optimal value.
        """
        bound = known_bound(self.settings, self.bounds)
        return None if bound is None else bound.upper

    def is_above(self, summary: Summary) -> bool:
        """Whether a score is marked: it is more than chance above the bound."""
        return summary.is_above(self.upper_bound)

    @cached_property
    def scale(self) -> Scale | None:
        """The scale of scores, the same whichever MDPs they are of."""
        return Scale.between(self.random, self.score_of(REFERENCE), self.upper_bound)

    @property
    def rising_scale(self) -> Scale | None:
        """The scale that aggregates use; None if 1 is not above random."""
        return self.scale if self.scale and self.scale.rises else None

    def normalised(self, score: float) -> float | None:
        """A score on the experiment's scale; None if it has none."""
        return None if self.scale is None else self.scale.normalised(score)

    def normalised_returns(self, summary: Summary, adjusted: bool = False) -> Floats | None:
        """The returns [N] of an agent on the rising scale; None if there is none."""
        scale = self.rising_scale
        return None if scale is None else normalised_returns(summary, *scale, adjusted)


@dataclass(frozen=True, eq=False)
class ReportData:
    """Everything in a folder of results, and notes on what could not be read of it."""

    experiments: Sequence[ExperimentData]
    unread: Sequence[Note]
    entries: Mapping[str, Entry] = field(default_factory=dict)  # by the full label of an agent

    @property
    def notes(self) -> list[str]:
        """All notes on the results."""
        return list(map(str, self.notes_on(self.experiments)))

    def notes_on(
        self, shown: Sequence[ExperimentData], warnings: Sequence[Note] = ()
    ) -> list[Note]:
        """The notes that concern the experiments that are shown, the gravest first."""
        names = {name for each in shown for name in (each.name, each.settings.get("name"))}
        unread = [note for note in self.unread if note.experiment in (None, *names)]
        return [*unread, *warnings, *quality_notes(self.experiments, shown)]
