"""What reports are made from: the summaries of every experiment."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ..analysis.bayes_bound.known import KnownBound, known_bound
from ..analysis.scores import normalised, normalised_returns
from ..mdps.sparse import Floats
from ..protocol.summary import REFERENCE as REFERENCE
from ..protocol.summary import Summary
from ..storage.compact import ExperimentHeader
from ..storage.entries import Entry
from .notes import Note, quality_notes


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
        """All agents but the reference."""
        return [summary for summary in self.summaries if summary.algorithm != REFERENCE]

    def score_of(self, algorithm: str) -> float | None:
        """The best score of an algorithm, or None if it was not run."""
        return self._best_scores.get(algorithm)

    @cached_property
    def _best_scores(self) -> dict[str, float]:
        best: dict[str, float] = {}
        for each in self.summaries:
            best[each.algorithm] = max(each.score.mean, best.get(each.algorithm, -math.inf))
        return best

    @cached_property
    def upper_bound(self) -> float | None:
        """The expected return that no agent can pass, if it is known."""
        bound = known_bound(self.settings, self.bounds)
        return None if bound is None else bound.upper

    @cached_property
    def scale(self) -> tuple[float, float] | None:
        """What normalised scores call 0 and 1: random, and the bound, or `optimal` without one.

        None without a score of random, or without anything that is 1.
        """
        random, top = self.score_of("random"), self.upper_bound
        if top is None:
            top = self.score_of(REFERENCE)
        return None if random is None or top is None else (random, top)

    def normalised(self, score: float) -> float | None:
        """A score on the experiment's scale; None if it has none."""
        return None if self.scale is None else normalised(score, *self.scale)

    def normalised_returns(self, summary: Summary, adjusted: bool = False) -> Floats | None:
        """The returns [N] of an agent on the experiment's scale, as aggregates need them.

        None if the experiment has no scale, or nothing on it is above random.
        """
        if self.scale is None or self.scale[0] >= self.scale[1]:
            return None
        return normalised_returns(summary, *self.scale, adjusted)


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
