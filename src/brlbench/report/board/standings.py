"""How every agent stands in an experiment, and how far it is behind the winner."""

import math
from typing import NamedTuple

import numpy as np

from ...analysis.aggregates import Estimate
from ...analysis.significance import paired_z_test
from ...protocol.score import Score
from ...protocol.summary import Summary
from .field import BoardAgent, Contest, Field
from .totals import Totals


class Standing(NamedTuple):
    """An agent in an experiment, without bounds on time."""

    contest: Contest
    agent: BoardAgent
    summary: Summary
    normalised: Score | None
    rank: Estimate | None  # among all agents; None for the reference and those that stopped early
    is_winner: bool  # the best of its algorithm, and not significantly worse than the best of all
    is_best: bool  # of its algorithm
    behind: Score | None  # how far behind the best agent, on the MDPs that both have played
    p_value: float | None  # of the paired one-sided Z-test, without correction

    @property
    def name(self) -> str:
        """The agent, with its number of MDPs if it is smaller than that of others."""
        return self.summary.marked_label


def standings_in(field: Field, totals: Totals, contest: Contest) -> list[Standing]:
    """All agents of an experiment, the best first; the reference comes last."""
    order = contest.comparison.allowed()
    complete = [i for i in order if contest.is_complete(i)]
    ranks = totals.ranks(tuple(((contest.number, i),) for i in complete))
    rank_of = dict(zip(complete, ranks, strict=True))
    found = contest.comparison.within()
    chosen, winners = (found.best_of_algorithm, found.winners) if found else ([], [])
    references = range(len(order), len(contest.entrants))
    return [
        Standing(
            contest,
            field.agent(contest, i),
            contest.entrants[i],
            contest.normalised_score(i),
            rank_of.get(i),
            i in winners,
            i in chosen,
            *(_behind(contest, chosen[0], i) if i in order[1:] else (None, None)),
        )
        for i in [*order, *references]
    ]


def _behind(contest: Contest, first: int, i: int) -> tuple[Score | None, float | None]:
    """How far an agent is behind the first, and the p-value of that."""
    one, other = contest.comparison.testing[[first, i]]
    played = ~np.isnan(one - other)
    if played.sum() < 2:
        return None, None
    behind = Score.of(one[played] - other[played])
    p_value = paired_z_test(one[played], other[played]).p_value
    return behind, None if math.isnan(p_value) else p_value
