"""The position of every agent in an experiment: its rank, and how far it is behind the winner."""

import math
from typing import Any, NamedTuple

from ...analysis.aggregates import Estimate
from ...analysis.significance import paired_z_test
from ...results.display import format_number
from ...results.score import Score
from ...results.summary import Summary
from ..quantities import COSTS, column_texts, number_of
from ..words import ABOVE, format_p
from .aggregation import Aggregation
from .field import BoardAgent, Contest, Field

Cell = tuple[float | str, str]
"""The value that a cell sorts by, empty if there is none, and its text."""

_UNKNOWN: Cell = ("", "\N{EN DASH}")
COLUMNS: list[dict[str, Any]] = [
    {"key": "rank", "title": "Rank", "hint": "Place by mean score, with its 95% interval"},
    {
        "key": "score",
        "title": "Score ± 95%",
        "hint": f"{ABOVE}: above the bound on agents that have to learn, by more than chance",
        "down": True,  # the largest come first
    },
    {"key": "normalised", "title": "Normalised", "down": True},
    {"key": "behind", "title": "Behind", "hint": "Mean paired difference to the best agent"},
    {"key": "p", "title": "p", "hint": "Of the paired one-sided test", "down": True},
    *map(column_texts, COSTS),
]
"""The columns of the tables of positions."""


class Position(NamedTuple):
    """An agent in an experiment, without bounds on time."""

    contest: Contest
    agent: BoardAgent
    summary: Summary
    score: Score
    normalised: Score | None
    rank: Estimate | None  # among all agents; None for the reference and those that stopped early
    is_first: bool  # the best agent, which the others are compared with
    is_winner: bool  # the best of its algorithm, and not significantly worse than the best of all
    is_best: bool  # of its algorithm
    behind: Score | None  # the difference to the best agent, on the MDPs that both have played
    p_value: float  # of the paired one-sided test, without correction; NaN if not tested

    @property
    def is_above(self) -> bool:
        """Whether the score is above the bound by more than chance."""
        return self.contest.data.is_above(self.summary)

    @property
    def classes(self) -> str:
        """The classes of its row."""
        names = (
            "winner" * self.is_winner,
            "best" * self.is_best,
            "reference last" * self.agent.is_reference,
        )
        return " ".join(filter(None, names))

    @property
    def cells(self) -> list[Cell]:
        """Its cells in the tables of positions, one per column."""
        rank, score, behind, p_value = self.rank, self.score, self.behind, self.p_value
        numbers = [(each, number_of(each, self.summary)) for each in COSTS]
        return [
            (rank.value, f"{rank.value:g} ({rank.low:g}\N{EN DASH}{rank.high:g})")
            if rank
            else _UNKNOWN,
            (score.mean, f"{score} {ABOVE}" if self.is_above else str(score)),
            _scaled_cell(self.normalised) if self.normalised else _UNKNOWN,
            (behind.mean, str(behind)) if behind else ("", ""),
            ("", "") if math.isnan(p_value) else (p_value, format_p(p_value)),
            *(("" if n is None else n, format_number(quantity, n)) for quantity, n in numbers),
        ]


def positions_in(field: Field, aggregation: Aggregation, contest: Contest) -> list[Position]:
    """All agents of an experiment, by rank; the reference comes last."""
    agents = contest.comparison.allowed()
    ranks = aggregation.ranks_in(contest, agents)
    agents.sort(key=lambda i: ranks[i].value if i in ranks else math.inf)
    best = contest.comparison.within()
    chosen, winners = (best.best_of_algorithm, best.winners) if best else ([], [])
    references = range(len(agents), len(contest.entrants))
    return [
        Position(
            contest,
            field.agent(contest, i),
            contest.entrants[i],
            contest.scores[i],
            contest.normalised_score(i),
            ranks.get(i),
            i in chosen[:1],
            i in winners,
            i in chosen,
            *(_behind(contest, chosen[0], i) if i in agents else (None, math.nan)),
        )
        for i in [*agents, *references]
    ]


def _behind(contest: Contest, first: int, i: int) -> tuple[Score | None, float]:
    """The difference of an agent to the first, and the p-value of that."""
    if i == first:
        return None, math.nan
    one, other = contest.comparison.pair(first, i)
    if len(one) < 2:
        return None, math.nan
    return Score.of(one - other), paired_z_test(one, other).p_value


def _scaled_cell(score: Score) -> Cell:
    width = "" if math.isnan(score.ci95) else f" ± {score.ci95:.3f}"
    return score.mean, f"{score.mean:.3f}{width}"
