"""A verdict on every published row."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from brlbench import streams
from brlbench.mdps.sparse import Floats
from brlbench.report.data import ExperimentData
from brlbench.results.score import Score
from brlbench.results.summary import Summary
from brlbench.storage import frozen_set

from .markdown import listed
from .published import WITH_DEFECTS, PublishedRow, apart, published_rows
from .selection import optimism

CLOSE = 2.0  # combined standard errors
TIE = 1e-9  # the tolerance of ties with which `with_ties` was played


@dataclass(frozen=True, eq=False)
class Compared:
    """A published row and our agent for it."""

    row: PublishedRow
    ours: Summary
    grid: list[Summary]  # our agents of the algorithm that played all MDPs of this experiment
    more: Summary | None  # the same agent on many other MDPs, if it is cheap
    original: Summary | None  # the original's arithmetic on those MDPs, or on the first of them
    with_ties: Summary | None  # the original's arithmetic, except that close values are ties

    @property
    def z(self) -> float:
        """Our mean return minus the paper's, in combined standard errors."""
        return apart(self.ours.unadjusted, self.row.score)

    @cached_property
    def selection(self) -> float | None:
        """How much being the best of the grid adds to a score; None if we did not play the grid."""
        if len(self.grid) < 2:
            return None
        rng = streams.generator("selection", self.row.prior, self.row.algorithm)
        return optimism(np.array([summary.returns for summary in self.grid]), rng)

    @property
    def z_explained(self) -> float:
        """As `z`, with the best evidence there is and the best-of-a-grid bias added."""
        mean, ci95 = self.evidence.score
        return apart(Score(mean + (self.selection or 0.0), ci95), self.row.score)

    @property
    def z_without_luck(self) -> float:
        """As `z`, with the luck of our MDPs taken out where it can be."""
        return apart(self.ours.score, self.row.score)

    @property
    def z_of_choice(self) -> float:
        """The part of `z_explained` that comes from the choice of the best."""
        return self.z_explained - apart(self.evidence.score, self.row.score)

    @property
    def evidence(self) -> Summary:
        """What the row is judged with; luck is taken out of it."""
        return self.original or self.more or self.ours

    @property
    def gain(self) -> Score | None:
        """What the original's arithmetic adds to our score: same MDPs, same noise."""
        if self.original is None or self.more is None:
            return None
        both = min(len(self.original.returns), len(self.more.returns))
        return Score.of(self.original.returns[:both] - self.more.returns[:both])

    @property
    def has_defect(self) -> bool:
        """Whether the published agent differs from what the paper prints."""
        return self.row.algorithm in WITH_DEFECTS

    @property
    def is_close(self) -> bool:
        """Whether the two agree within two combined standard errors."""
        return abs(self.z) <= CLOSE

    @property
    def is_explained(self) -> bool:
        """Whether they agree within two combined standard errors with all that is known."""
        return abs(self.z_explained) <= CLOSE

    @property
    def best(self) -> Summary:
        """Our best agent of the algorithm."""
        return max(self.grid, key=lambda summary: summary.score.mean)

    @property
    def verdict(self) -> str:
        """The verdict in a few words."""
        if self.row.algorithm == "soft-max":
            better = "better: " if min(self.z, self.z_explained) > CLOSE else ""
            return f"{better}the published agent always takes the first action"
        return self._agreement + ("; published with defects" if self.has_defect else "")

    @property
    def _agreement(self) -> str:
        """Evidence counts in both directions: a row that agrees by luck is not reproduced."""
        if self.is_explained:
            return "reproduced" if self.is_close else f"reproduced with {self._causes}"
        because = f": agrees as played, but not with {self._causes}" if self.is_close else ""
        return f"not reproduced{because}"

    @property
    def _causes(self) -> str:
        """Everything in `z_explained` that is not in `z`."""
        gain = self.gain
        matters = gain is not None and abs(gain.mean) > gain.ci95
        causes = ["the original's arithmetic"] * matters
        if self.original is not None or self.more is not None:
            causes += ["more MDPs"]
        elif self.ours.can_be_adjusted:
            causes += ["its luck taken out"]
        causes += ["the choice of the best"] * (self.selection is not None)
        return listed(causes)


def compare_rows(
    experiments: Sequence[ExperimentData],
    more: Sequence[ExperimentData],
    arithmetic: Sequence[ExperimentData],
) -> list[Compared]:
    """All published rows whose agent we played."""
    compared = []
    for row in published_rows():
        for experiment in filter(row.is_of, experiments):
            ours = row.find(experiment.summaries)
            others, originals = _summaries_of(row, more), _summaries_of(row, arithmetic)
            if ours is not None:
                compared.append(
                    Compared(
                        row=row,
                        ours=ours,
                        grid=[
                            each
                            for each in experiment.summaries
                            if each.algorithm == row.algorithm and each.stopped is None
                        ],
                        more=row.find(others),
                        original=row.find_original(originals),
                        with_ties=row.find_original(originals, tolerance=TIE),
                    )
                )
    return compared


def _summaries_of(row: PublishedRow, experiments: Sequence[ExperimentData]) -> list[Summary]:
    """All agents in a row's experiment."""
    return [e for experiment in experiments if row.is_of(experiment) for e in experiment.summaries]


@dataclass(frozen=True)
class ConstantPolicy:
    """The policy that always takes the first action, beside a published row."""

    row: PublishedRow
    score: Score  # of its exact values on the frozen set's MDPs

    @property
    def z(self) -> float:
        """The published score minus the exact one, in combined standard errors."""
        return apart(self.row.score, self.score)


def constant_policies(algorithm: str) -> list[ConstantPolicy]:
    """The constant policy beside every published row of an algorithm."""
    return [
        ConstantPolicy(row, Score.of(first_action_values(row.test)))
        for row in published_rows()
        if row.algorithm == algorithm
    ]


@cache
def first_action_values(problem: str) -> Floats:
    """The exact expected returns [N] of always taking the first action on a frozen set."""
    experiment = frozen_set(f"{problem}/accurate/v1")
    always_first = [0] * experiment.test.num_states
    return np.array(
        [
            experiment.mdp(i).expected_return(always_first, experiment.discount, experiment.horizon)
            for i in range(experiment.num_mdps)
        ]
    )
