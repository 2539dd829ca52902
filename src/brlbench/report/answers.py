"""Questions and answers: the best agents of an experiment, and the significance of that.

`answer` does all the computing; tables, figures, LaTeX, exports and the terminal show its answers.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .. import streams
from ..analysis.bounds import LEVEL, Best, Comparison
from ..analysis.scores import Interval, bootstrap_intervals, few_mdps_warning
from ..analysis.significance import (
    cautious_p_value,
    effect_size,
    holm,
    paired_z_test,
    student_p_values,
)
from ..arguments import counted, format_seconds, parse_seconds
from ..errors import InvalidInput, did_you_mean
from ..mdps.sparse import Floats
from ..results.result import least_ci95
from ..results.score import Score
from ..results.summary import Summary
from ..results.times import ONLINE
from .data import ExperimentData, ReportData
from .notes import Note

if TYPE_CHECKING:
    import polars

    from ..results.result import Result
    from .pairs import Pair

OPPS = ("opps-ds", "opps-cs")
Bound = str | float | None
"""A bound on time: a duration like "5ms", or a number of seconds; None means no bound."""

RESAMPLES = 1000  # of the MDPs, for the stability of winners


@dataclass(frozen=True)
class Question:
    """Bounds in seconds on both times, the feature of online time, and the test of winners."""

    offline: float = math.inf
    online: float = math.inf
    feature: str = ONLINE
    level: float = LEVEL
    honest: bool = True

    @classmethod
    def parse(
        cls, offline: Bound, online: Bound, feature: str, level: float, honest: bool
    ) -> "Question":
        """A question from bounds like "1m", "5ms" or seconds; None means no bound."""
        bounds = (_parse_bound(offline, "offline"), _parse_bound(online, "online"))
        return cls(*bounds, feature, level, honest)

    def straddles(self, summary: Summary) -> bool:
        """Whether the interval of an agent's time contains the online bound."""
        interval = summary.processor_interval if self.feature == ONLINE else None
        return interval is not None and interval[0] <= self.online <= interval[1]


def _parse_bound(bound: Bound, name: str) -> float:
    return math.inf if bound in (None, math.inf) else parse_seconds(str(bound), name)


ANYTHING = Question()
"""The best agents, without bounds on time."""


class Test(NamedTuple):
    """The difference of two agents on the same MDPs, and its significance; columns of tables."""

    difference: float  # of the scores
    low: float  # of the 95% interval of the difference, by the bootstrap
    high: float
    z: float
    p_value: float
    p_holm: float  # after Holm's correction over all tests that are made
    p_cautious: float  # of a test that is careful with few or skewed differences
    effect_size: float


class Row(NamedTuple):
    """An agent in an answer: its scores and, for the best of its algorithm, how sure they are."""

    summary: Summary
    score: Score  # if honest, on the MDPs that had no part in choosing agents
    unadjusted: Score | None  # on the same MDPs; None if the score is not adjusted
    normalised: float | None
    regret: float | None  # behind `optimal` on the same MDPs; None if it did not play them
    p_value: float = math.nan  # among all agents: the test against the best, uncorrected
    winner: bool = False
    test: Test | None = None  # against the best agent; None with too few MDPs to test
    stability: float = math.nan  # share of resamples of the MDPs in which the algorithm wins


class Reading(NamedTuple):
    """The winning algorithms as the online bound grows, for one offline bound."""

    below: Summary | None  # the offline bound is just below its training time; None: no bound
    steps: list[tuple[float, list[str]]]  # (online bound, winning algorithms from it on)


@dataclass(frozen=True, eq=False, repr=False)
class Answer:
    """The best agents of one experiment. Printed, it is a sentence; a notebook shows its table."""

    experiment: ExperimentData
    question: Question
    comparison: Comparison  # the competitors, in the experiment's order
    rows: list[Row]  # one per algorithm, best first; empty if no agent is within the bounds
    notes: Sequence[str] = ()  # on the results

    @property
    def winners(self) -> list[Summary]:
        """The best agent and those that are not significantly worse."""
        return [row.summary for row in self.rows if row.winner]

    @property
    def everyone(self) -> "polars.DataFrame":
        """Every agent within the bounds: scores, times and uncorrected p-values, the best first."""
        from .tables import everyone_table, for_readers

        return for_readers(everyone_table([self]))

    @property
    def table(self) -> "polars.DataFrame":
        """The best agent of each algorithm: scores, times and p-values, the best first."""
        from .tables import best_table, for_readers

        return for_readers(best_table([self]))

    @property
    def tests(self) -> "polars.DataFrame":
        """The best agent against that of every other algorithm: differences and paired tests."""
        from .tables import tests_table

        return tests_table(self)

    def __repr__(self) -> str:
        from .words import sentence

        return sentence(self)

    def _repr_html_(self) -> str:
        from .words import answer_html

        return answer_html(self)

    @cached_property
    def allowed(self) -> list[Row]:
        """Every agent within the bounds, the best first, with p-values."""
        allowed = self.comparison.allowed(self.question.offline, self.question.online)
        summaries = [self.comparison.summaries[i] for i in allowed]
        rows = rows_on(self.experiment, summaries, self.comparison.num_choosing)
        if not allowed:
            return []
        p_values = student_p_values(*self.comparison.z_against(allowed[0], allowed))
        return [  # agents that left by halving have no MDPs to be tested on
            row._replace(p_value=float(p)) if row.summary.is_candidate else row
            for row, p in zip(rows, p_values, strict=True)
        ]

    def pair(self, first: "str | Result", second: "str | Result") -> "Pair":
        """Compare two agents: their difference, tests, and how often the first is better.

        Args:
            first: a result, a label, or a part of one; an algorithm's name is its best agent.
            second: the same for the other agent.
        """
        from .pairs import make_pair

        return make_pair(self, first, second)

    @property
    def straddling(self) -> list[Summary]:
        """The agents that may be on the wrong side of the online bound."""
        return [
            each
            for each in self.comparison.summaries
            if each.seconds["offline"] <= self.question.offline and self.question.straddles(each)
        ]

    @property
    def num_tested(self) -> int:
        """The number of MDPs that tests use."""
        return self.comparison.num_tested

    @property
    def warning(self) -> str | None:
        """A sentence if there are too few MDPs for reliable tests, else None."""
        best = self.comparison.within(self.question.offline, self.question.online)
        few = warning_on(self.comparison, best)
        return f"{self.experiment.name}: {few}" if few else None

    @cached_property
    def reading(self) -> Reading:
        """The map read from left to right, just below the cheapest useful training of OPPS."""
        winners = {i for best in self.comparison.regions().answers for i in best.winners}
        summaries = self.experiment.competitors
        useful = [summaries[i] for i in winners if summaries[i].algorithm in OPPS]
        below = min(useful, key=lambda summary: summary.seconds["offline"], default=None)
        bound = np.nextafter(below.seconds["offline"], 0) if below else math.inf
        return Reading(below, self.comparison.sequence(float(bound)))


def answer(experiment: ExperimentData, question: Question = ANYTHING) -> Answer:
    """Find the best agents of an experiment; the same question always gives the same answer."""
    summaries = experiment.competitors
    comparison = Comparison(summaries, question.level, question.honest, question.feature)
    best = comparison.within(question.offline, question.online)
    if best is None:
        return Answer(experiment, question, comparison, [])
    rng = streams.generator("report", experiment.hash)
    chosen = best.best_of_algorithm
    tests = _tests(experiment, comparison, chosen)
    stability = comparison.stability(question.offline, question.online, rng, RESAMPLES)
    scored = rows_on(experiment, [summaries[i] for i in chosen], comparison.num_choosing)
    rows = [
        row._replace(
            winner=i in best.winners, test=test, stability=stability[row.summary.algorithm]
        )
        for i, row, test in zip(chosen, scored, tests, strict=True)
    ]
    return Answer(experiment, question, comparison, rows)


def answer_all(
    data: ReportData,
    question: Question = ANYTHING,
    experiment: str | None = None,
) -> list[Answer]:
    """Find the best agents of all experiments, or of the one named."""
    names = [each.name for each in data.experiments]
    if experiment is not None and experiment not in names:
        raise InvalidInput(
            f"experiment = {experiment!r}{did_you_mean(experiment, names)}: must be one of "
            f"{', '.join(names)}"
        )
    return [answer(each, question) for each in data.experiments if experiment in (None, each.name)]


def notes_on(data: ReportData, answers: Sequence[Answer]) -> list[Note]:
    """Notes on the results that are shown and on the answers from them."""
    warnings = [Note(each.warning) for each in answers if each.warning]
    warnings += [_straddling_note(each) for each in answers if each.straddling]
    return data.notes_on([each.experiment for each in answers], warnings)


def _straddling_note(answer: Answer) -> Note:
    """A note on the agents of an answer that straddle the online bound."""
    bound, agents = answer.question.online, answer.straddling
    sides = ("within" if each.seconds[ONLINE] <= bound else "beyond" for each in agents)
    return Note(
        f"the online bound of {format_seconds(bound)} lies in the 95% intervals of the processor "
        f"times of {len(agents)} of {counted(len(answer.comparison.summaries), 'agent')} on "
        f"{answer.experiment.name}, which may be on its other side",
        [f"{each.label} ({side})" for each, side in zip(agents, sides, strict=True)],
        answer.experiment.name,
    )


def _tests(
    experiment: ExperimentData,
    comparison: Comparison,
    chosen: list[int],
) -> list[Test | None]:
    """Each of the chosen agents against the first."""
    pairs = [comparison.pair(chosen[0], other) for other in chosen[1:]]
    if any(len(one) < 2 for one, _ in pairs):
        return [None] * len(chosen)
    z_tests = [paired_z_test(one, other) for one, other in pairs]
    corrected = holm([test.p_value for test in z_tests])
    differences = [one - other for one, other in pairs]
    intervals = difference_intervals(experiment, differences)
    tests = [
        Test(
            float(difference.mean()),
            *interval,
            z=test.z,
            p_value=test.p_value,
            p_holm=float(p_value),
            p_cautious=cautious_p_value(difference),
            effect_size=effect_size(one, other),
        )
        for (one, other), difference, interval, test, p_value in zip(
            pairs, differences, intervals, z_tests, corrected, strict=True
        )
    ]
    return [None, *tests]


def difference_intervals(
    experiment: ExperimentData, differences: Sequence[Floats]
) -> list[Interval]:
    """The 95% intervals of the means of paired differences [N], by the bootstrap.

    Pairs on as many MDPs share resamples, so that a pair has the same interval everywhere.
    """
    intervals: dict[int, Interval] = {}
    for number in {len(each) for each in differences}:
        these = [i for i, each in enumerate(differences) if len(each) == number]
        rng = streams.generator("differences", experiment.hash, number)
        table = np.stack([differences[i] for i in these])
        intervals.update(zip(these, bootstrap_intervals(table, rng), strict=True))
    return [intervals[i] for i in range(len(differences))]


def warning_on(comparison: Comparison, best: Best | None) -> str | None:
    """A sentence if there are too few MDPs for reliable tests of an answer, else None."""
    if best is None:
        return few_mdps_warning(comparison.num_tested, []) if comparison.summaries else None
    first, *others = best.best_of_algorithm
    stayed = [i for i in others if not comparison.summaries[i].is_dropped]
    pairs = (comparison.pair(first, other) for other in stayed)
    return few_mdps_warning(comparison.num_tested, (one - other for one, other in pairs))


def rows_on(
    experiment: ExperimentData, summaries: Sequence[Summary], num_choosing: int = 0
) -> list[Row]:
    """Agents of an experiment with their scores, if the first MDPs only choose agents."""
    rows = []
    for summary in summaries:
        mdps = summary.scored_mdps(num_choosing)
        score = Score.of(summary.scored_returns[mdps]) if mdps.start else summary.score
        unadjusted = None if summary.adjusted is None else Score.of(summary.returns[mdps])
        least = least_ci95(summary.stopped)
        shown = score.no_narrower(least), unadjusted and unadjusted.no_narrower(least)
        regret = experiment.regret(score.mean, slice(mdps.start, len(summary.returns)))
        rows.append(Row(summary, *shown, experiment.normalised(score.mean), regret))
    return rows
