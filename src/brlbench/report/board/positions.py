"""The position of every agent in an experiment: its rank, and how far it is behind the winner."""

import math
from typing import NamedTuple

import numpy as np

from ...analysis.aggregates import Estimate
from ...analysis.significance import paired_z_test
from ...results.score import Score
from ...results.summary import Summary
from ..quantities import QUANTITIES
from ..words import format_p
from .aggregation import Aggregation
from .field import BoardAgent, Contest, Field

Cell = tuple[float | str, str]
"""The value that a cell sorts by, empty if there is none, and its text."""


class Column(NamedTuple):
    """A column of the tables of positions."""

    key: str
    title: str
    hint: str = ""
    down: bool = False  # whether the largest come first


COLUMNS = (
    Column("rank", "Rank", "Place by mean score, with its 95% interval"),
    Column("score", "Score ± 95%", down=True),
    Column("normalised", "Normalised", down=True),
    Column("behind", "Behind", "Mean paired difference to the best agent"),
    Column("p", "p", "Of the paired one-sided Z-test", down=True),
    *(Column(each.key, each.title, each.hint) for each in QUANTITIES),
)


class Position(NamedTuple):
    """An agent in an experiment, without bounds on time."""

    contest: Contest
    agent: BoardAgent
    summary: Summary
    rank: Estimate | None  # among all agents; None for the reference and those that stopped early
    is_winner: bool  # the best of its algorithm, and not significantly worse than the best of all
    is_best: bool  # of its algorithm
    behind: Score | None  # the difference to the best agent, on the MDPs that both have played
    p_value: float  # of the paired one-sided Z-test, without correction; NaN if not tested

    @property
    def look(self) -> str:
        """The classes of its row."""
        looks = {
            "winner": self.is_winner,
            "best": self.is_best,
            "reference last": self.agent.is_reference,
        }
        return " ".join(name for name, applies in looks.items() if applies)

    @property
    def cells(self) -> list[Cell]:
        """Its cells in the tables of positions, one per column."""
        score, scaled = self.summary.score, self.contest.normalised_score(self.summary)
        return [
            _rank_cell(self.rank),
            (score.mean, str(score)),
            _scaled_cell(scaled),
            ("", "") if self.behind is None else (self.behind.mean, str(self.behind)),
            ("", "") if math.isnan(self.p_value) else (self.p_value, format_p(self.p_value)),
            *(
                (_sortable(each.value(self.summary)), each.text(self.summary))
                for each in QUANTITIES
            ),
        ]


def positions_in(field: Field, aggregation: Aggregation, contest: Contest) -> list[Position]:
    """All agents of an experiment, the best first; the reference comes last."""
    order = contest.comparison.allowed()
    ranks = aggregation.ranks_in(contest, order)
    best = contest.comparison.within()
    chosen, winners = (best.best_of_algorithm, best.winners) if best else ([], [])
    references = range(len(order), len(contest.entrants))
    return [
        Position(
            contest,
            field.agent(contest, i),
            contest.entrants[i],
            ranks.get(i),
            i in winners,
            i in chosen,
            *(_behind(contest, chosen[0], i) if i in order[1:] else (None, math.nan)),
        )
        for i in [*order, *references]
    ]


def _behind(contest: Contest, first: int, i: int) -> tuple[Score | None, float]:
    """The difference of an agent to the first, and the p-value of that."""
    one, other = contest.comparison.testing[[first, i]]
    common = ~np.isnan(one - other)
    if common.sum() < 2:
        return None, math.nan
    test = paired_z_test(one[common], other[common])
    return Score.of(one[common] - other[common]), test.p_value


def _rank_cell(rank: Estimate | None) -> Cell:
    if rank is None:
        return "", "\N{EN DASH}"
    return rank.value, f"{rank.value:g} ({rank.low:g}\N{EN DASH}{rank.high:g})"


def _scaled_cell(score: Score | None) -> Cell:
    if score is None:
        return "", "\N{EN DASH}"
    width = "" if math.isnan(score.ci95) else f" ± {score.ci95:.3f}"
    return score.mean, f"{score.mean:.3f}{width}"


def _sortable(value: float | None) -> float | str:
    return "" if value is None or math.isnan(value) else value
