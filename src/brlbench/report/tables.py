"""What the results of one experiment say: the best agents, how sure that is, and every agent.

`answer` does all the computing; figures, LaTeX, exports and the terminal only show what it found.
"""

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from .. import streams
from ..analysis.bounds import LEVEL, Comparison, Regions
from ..analysis.statistics import (
    Interval,
    bootstrap_interval,
    effect_size,
    few_mdps_warning,
    holm,
    normalised,
    paired_z_test,
    permutation_test,
)
from ..arguments import parse_seconds
from ..errors import InvalidInput, did_you_mean
from ..protocol.score import ci95
from .data import ONLINE, REFERENCE, Entry, ExperimentData, ReportData

OPPS = ("opps-ds", "opps-cs")
_BEST: dict[str, Any] = {
    **dict.fromkeys(("experiment", "agent", "algorithm"), pl.String),
    "winner": pl.Boolean,
    **dict.fromkeys(
        ("score", "ci95", "normalised", "offline_seconds", "online_seconds"), pl.Float64
    ),
    **dict.fromkeys(("difference", "p_value", "p_holm", "p_permutation"), pl.Float64),
    **dict.fromkeys(("effect_size", "stability"), pl.Float64),
}
RESAMPLES = 1000  # of the MDPs, for the stability of winners


@dataclass(frozen=True)
class Question:
    """What is asked: the best agents within bounds in seconds, by which feature and test."""

    offline: float = math.inf
    online: float = math.inf
    feature: str = ONLINE
    level: float = LEVEL
    honest: bool = False

    @classmethod
    def parse(
        cls, offline: str | None, online: str | None, feature: str, level: float, honest: bool
    ) -> "Question":
        """A question with bounds like 1m or 5ms; None is no bound."""
        return cls(
            math.inf if offline is None else parse_seconds(offline, "offline"),
            math.inf if online is None else parse_seconds(online, "online"),
            feature,
            level,
            honest,
        )


ANYTHING = Question()
"""The best agents without bounds."""


class Test(NamedTuple):
    """How much worse an agent is than the best one, and how sure that is."""

    difference: float  # of the scores
    interval: Interval  # of the difference, 95%, by the bootstrap
    z: float
    p_value: float
    adjusted: float  # the p-value after Holm's correction over all tests of the experiment
    permutation: float  # the p-value of the permutation test
    effect: float


class Row(NamedTuple):
    """The best agent of one algorithm."""

    entry: Entry
    winner: bool
    mean: float
    ci95: float
    normalised: float | None
    test: Test | None  # None for the best agent, and where there are too few MDPs to test
    stability: float  # how often the algorithm wins when the MDPs are resampled


class Reading(NamedTuple):
    """The winning algorithms as the online bound grows, with the offline bound held."""

    below: Entry | None  # the offline bound is just below this agent's training; None: no bound
    steps: list[tuple[float, list[str]]]


@dataclass(frozen=True, eq=False)
class Answer:
    """The best agents of one experiment."""

    experiment: ExperimentData
    question: Question
    comparison: Comparison  # the competitors, in the experiment's order
    rows: list[Row]  # one an algorithm, the best first; none if no agent is within the bounds

    @property
    def winners(self) -> list[Entry]:
        """The best agent and those that are not significantly worse."""
        return [row.entry for row in self.rows if row.winner]

    @property
    def num_tested(self) -> int:
        """How many MDPs the tests rest on."""
        return int(self.comparison.testing.shape[1])

    @property
    def warning(self) -> str | None:
        """A sentence if there are too few MDPs for tests."""
        few = few_mdps_warning(self.num_tested) if self.comparison.contenders else None
        return f"{self.experiment.name}: {few}" if few else None

    @cached_property
    def regions(self) -> Regions:
        """The winners within all bounds."""
        return self.comparison.regions()

    @cached_property
    def reading(self) -> Reading:
        """The map from left to right, just below the cheapest useful training of OPPS."""
        winners = {i for best in self.regions.answers for i in best.winners}
        entries = self.experiment.competitors
        useful = [entries[i] for i in winners if entries[i].algorithm in OPPS]
        below = min(useful, key=lambda entry: entry.features["offline"], default=None)
        bound = np.nextafter(below.features["offline"], 0) if below else math.inf
        return Reading(below, self.comparison.sequence(float(bound)))


def answer(experiment: ExperimentData, question: Question = ANYTHING) -> Answer:
    """Find the best agents of an experiment; what is random has the same seed every time."""
    entries = experiment.competitors
    contenders = [entry.contender(question.feature) for entry in entries]
    comparison = Comparison(contenders, question.level, question.honest)
    best = comparison.within(question.offline, question.online)
    if best is None:
        return Answer(experiment, question, comparison, [])
    rng = streams.generator("report", experiment.hash)
    chosen = best.best_of_algorithm
    tests = _tests(comparison, chosen, question.level, rng)
    stability = comparison.stability(question.offline, question.online, rng, RESAMPLES)
    rows = []
    for i, test in zip(chosen, tests, strict=True):
        # In two halves, choosing and testing, only the second is free of the choice's bias.
        returns = comparison.testing[i] if comparison.testing.size else comparison.choosing[i]
        mean = float(returns.mean())
        row = Row(
            entries[i], i in best.winners, mean, ci95(returns),
            _normalised(experiment, mean, question.honest), test, stability[entries[i].algorithm],
        )  # fmt: skip
        rows.append(row)
    return Answer(experiment, question, comparison, rows)


def answer_all(
    data: ReportData,
    question: Question = ANYTHING,
    experiment: str | None = None,
) -> list[Answer]:
    """Find the best agents of all experiments, or of the one with a name."""
    names = [each.name for each in data.experiments]
    if experiment is not None and experiment not in names:
        raise InvalidInput(
            f"experiment = {experiment!r}{did_you_mean(experiment, names)}: must be one of "
            f"{', '.join(names)}"
        )
    return [answer(each, question) for each in data.experiments if experiment in (None, each.name)]


def notes_on(data: ReportData, answers: Iterable[Answer]) -> list[str]:
    """What should be known about results and about the answers from them."""
    return [*data.notes, *(found.warning for found in answers if found.warning)]


def _tests(
    comparison: Comparison, chosen: list[int], level: float, rng: np.random.Generator
) -> list[Test | None]:
    """Each of the chosen agents against the first."""
    if comparison.testing.shape[1] < 2:
        return [None] * len(chosen)
    first, *others = (comparison.testing[i] for i in chosen)
    z_tests = [paired_z_test(first, other, level) for other in others]
    adjusted = holm([test.p_value for test in z_tests])
    tests = [
        Test(
            difference=float((first - other).mean()),
            interval=bootstrap_interval(first, other, rng),
            z=test.z,
            p_value=test.p_value,
            adjusted=float(p_value),
            permutation=permutation_test(first, other, rng),
            effect=effect_size(first, other),
        )
        for other, test, p_value in zip(others, z_tests, adjusted, strict=True)
    ]
    return [None, *tests]


def _normalised(experiment: ExperimentData, score: float, honest: bool) -> float | None:
    """A score between random (0) and optimal (1), on the MDPs that it was measured on."""
    part = slice(1, None, 2) if honest else slice(None)
    scores = [
        max((float(e.returns[part].mean()) for e in experiment.entries if e.algorithm == name),
            default=math.nan)
        for name in ("random", REFERENCE)
    ]  # fmt: skip
    scaled = normalised(score, *scores)
    return None if math.isnan(scaled) else scaled


def agents_table(answers: Iterable[Answer]) -> pl.DataFrame:
    """One row for every agent in every experiment."""
    rows: list[dict[str, Any]] = []
    for found in answers:
        experiment = found.experiment
        best = {row.entry.label: row.winner for row in found.rows}
        kept = ("num_mdps", "trajectories", "discount", "horizon", "seed", "prior", "test")
        settings = {name: experiment.settings[name] for name in kept}
        for entry in experiment.entries:
            times = {f"{name}_seconds": value for name, value in entry.features.items()}
            rows.append(
                {
                    "experiment": experiment.name,
                    "experiment_hash": experiment.hash,
                    **settings,
                    "algorithm": entry.algorithm,
                    "agent": entry.label,
                    "parameters": json.dumps(entry.parameters, default=str),
                    "score": entry.mean,
                    "ci95": _or_none(entry.ci95),
                    "normalised": _or_none(experiment.normalised(entry.mean)),
                    **times,
                    "best_of_algorithm": entry.label in best,
                    "winner": best.get(entry.label, False),
                    "processor": entry.machine.get("processor"),
                }
            )
    return pl.DataFrame(rows, infer_schema_length=None)


def best_table(answers: Iterable[Answer]) -> pl.DataFrame:
    """One row for the best agent of each algorithm in each experiment."""
    rows = [
        (
            found.experiment.name, row.entry.label, row.entry.algorithm, row.winner, row.mean,
            _or_none(row.ci95), row.normalised, row.entry.features["offline"],
            row.entry.features[found.question.feature], *_tested(row.test), row.stability,
        )
        for found in answers
        for row in found.rows
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=_BEST, orient="row")


def _tested(test: Test | None) -> tuple[float | None, ...]:
    if test is None:
        return (None,) * 5
    return test.difference, test.p_value, test.adjusted, test.permutation, test.effect


def _or_none(number: float | None) -> float | None:
    return None if number is None or math.isnan(number) else number
