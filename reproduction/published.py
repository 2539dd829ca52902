"""The rows of the paper's two tables, and how to find our agents for them."""

import csv
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from brlbench.agents import describe, make_agent
from brlbench.agents.labels import label_of
from brlbench.arguments import parse_parameters
from brlbench.report.data import ExperimentData
from brlbench.results.score import Score
from brlbench.results.summary import Summary

from . import original

WITH_DEFECTS = ("soft-max", "sboss")
"""Algorithms whose implementation behind the tables differs from what the paper prints."""


@dataclass(frozen=True)
class PublishedRow:
    """The best agent of an algorithm in one experiment, as published."""

    prior: str
    test: str
    algorithm: str
    agent: str  # the algorithm that plays it here; OPPS-DS is played by its printed formula
    parameters: dict[str, Any]
    score: Score

    @cached_property
    def label(self) -> str:
        """The agent's label in our results."""
        return label_of(*describe(make_agent(self.agent, **self.parameters)))

    def is_of(self, experiment: ExperimentData) -> bool:
        """Whether the row belongs to an experiment."""
        settings = experiment.settings
        return (self.prior, self.test) == (settings["prior"], settings["test"])

    def find(self, summaries: Iterable[Summary]) -> Summary | None:
        """The summary of our agent with the same parameters, or None if it was not played."""
        return _labelled(self.label, summaries)

    def find_original(self, summaries: Iterable[Summary], tolerance: float = 0.0) -> Summary | None:
        """The summary of the agent with the original's arithmetic, or None if it was not played."""
        if self.agent not in original.AGENTS:
            return None
        agent = original.AGENTS[self.agent](**self.parameters, tolerance=tolerance)
        return _labelled(label_of(*describe(agent)), summaries)


def _labelled(label: str, summaries: Iterable[Summary]) -> Summary | None:
    return next((summary for summary in summaries if summary.label == label), None)


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
                Score(float(row["mean"]), float(row["ci95"])),
            )


def apart(one: Score, other: Score) -> float:
    """How much higher one of two independent scores is, in combined standard errors."""
    difference = one.mean - other.mean
    combined = math.hypot(one.ci95, other.ci95) / 2  # an interval is two standard errors
    if combined == 0:
        return 0.0 if difference == 0 else math.copysign(math.inf, difference)
    return difference / combined
