"""All differences from the published scores together: are they more than chance?

A single row may be far from the published score by chance; a mean over many rows hardly can. The
rows of one problem share the luck of its MDPs, so they are not independent. Correlations of our
returns say how much. They are those of agents that meet the same MDPs and the same noise: the
paper's rows can't share more.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from brlbench.mdps.sparse import Floats

from .verdicts import CLOSE, Compared


@dataclass(frozen=True, eq=False)
class Differences:
    """Rows, and a difference of each in combined standard errors: ours minus the paper's."""

    rows: Sequence[Compared]
    difference: Callable[[Compared], float]

    @cached_property
    def values(self) -> Floats:
        """The differences [n]."""
        return np.array([self.difference(each) for each in self.rows])

    @property
    def mean(self) -> float:
        """Their mean."""
        return float(self.values.mean())

    @property
    def negative(self) -> int:
        """The number of rows in which our score is lower."""
        return int((self.values < 0).sum())

    @cached_property
    def deviation(self) -> float:
        """The standard deviation of the mean, if all differences are chance."""
        total = 0.0
        for test in {each.row.test for each in self.rows}:
            returns = [each.ours.returns for each in self.rows if each.row.test == test]
            total += float(np.corrcoef(np.array(returns)).sum())
        return math.sqrt(total) / len(self.rows)

    @property
    def deviations(self) -> float:
        """How far the mean is from 0, in its standard deviations."""
        return self.mean / self.deviation

    @property
    def is_chance(self) -> bool:
        """Whether chance alone moves a mean this far in one of twenty cases."""
        return abs(self.deviations) <= CLOSE


@dataclass(frozen=True, eq=False)
class Together:
    """Some rows, with less and less that could explain their differences."""

    rows: Sequence[Compared]

    @cached_property
    def played(self) -> Differences:
        """As played."""
        return Differences(self.rows, lambda each: each.z)

    @cached_property
    def without_luck(self) -> Differences:
        """Without the luck of our MDPs."""
        return Differences(self.rows, lambda each: each.z_without_luck)

    @cached_property
    def with_all(self) -> Differences:
        """With all evidence, the choice of the best of a grid included."""
        return Differences(self.rows, lambda each: each.z_explained)

    @property
    def by_experiment(self) -> "dict[str, Together]":
        """The rows of each prior."""
        priors = dict.fromkeys(each.row.prior for each in self.rows)
        return {p: Together([each for each in self.rows if each.row.prior == p]) for p in priors}

    @property
    def choices(self) -> Floats:
        """What the choice of the best explains where its grid was played, in standard errors."""
        return np.array([each.z_of_choice for each in self.rows if each.selection is not None])
