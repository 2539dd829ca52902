"""The rows of the paper's two tables, and where ours are among some results."""

import csv
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from brlbench.agents import describe, make_agent
from brlbench.arguments import parse_parameters
from brlbench.protocol.result import label_of
from brlbench.report.data import Entry, ExperimentData

WITH_DEFECTS = ("soft-max", "sboss")
"""The algorithms whose implementation behind the tables was not the one that the paper prints."""


@dataclass(frozen=True)
class PublishedRow:
    """The best agent of an algorithm in one experiment, as the paper has it."""

    prior: str
    test: str
    algorithm: str
    agent: str  # who plays it here: OPPS-DS by its printed formula
    parameters: dict[str, Any]
    mean: float
    ci95: float

    @cached_property
    def label(self) -> str:
        """The agent as our results name it."""
        return label_of(*describe(make_agent(self.agent, **self.parameters)))

    @property
    def standard_error(self) -> float:
        """What the paper prints after ± is two of these."""
        return self.ci95 / 2

    def is_of(self, experiment: ExperimentData) -> bool:
        """Whether the row belongs to an experiment."""
        settings = experiment.settings
        return (self.prior, self.test) == (settings["prior"], settings["test"])

    def find(self, entries: Iterable[Entry]) -> Entry | None:
        """Our agent of the same parameters, if it was played."""
        return next((entry for entry in entries if entry.label == self.label), None)


def published_rows() -> Iterator[PublishedRow]:
    """All rows, in the paper's order."""
    with (Path(__file__).parent / "published.csv").open() as file:
        for row in csv.DictReader(file):
            yield PublishedRow(
                row["prior"],
                row["test"],
                row["row"],
                row["agent"],
                parse_parameters(filter(None, row["parameters"].split(";"))),
                float(row["mean"]),
                float(row["ci95"]),
            )


def apart(one: float, error: float, other: float, other_error: float) -> float:
    """How far two independent estimates are apart, in combined standard errors."""
    combined = math.hypot(error, other_error)
    if combined == 0:
        return 0.0 if one == other else math.copysign(math.inf, one - other)
    return (one - other) / combined
