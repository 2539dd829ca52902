"""What the overview shows: all experiments side by side, and aggregates over them.

Everything that depends on bounds on time or on the prior is computed here, for all choices that the
page offers, so that there is one implementation of it.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from ...analysis.aggregates import Estimate
from ..looks import looks_of
from .field import BoardAgent, Contest, Field, online_seconds
from .totals import Choice, Totals, rounded

OFFLINE_LIMITS = (math.inf, 60.0, 1.0)
ONLINE_LIMITS = (math.inf, 1e-2, 1e-3, 1e-4, 1e-5)
PRIORS: dict[str, Callable[[Contest], bool]] = {
    "all": lambda contest: True,
    "accurate": lambda contest: contest.data.accurate,
    "wrong": lambda contest: not contest.data.accurate,
}


_Priors = dict[str, tuple[list[Contest], list[Contest]]]
"""By name, the experiments with such a prior, and those of them that count in aggregates."""


class _Limits(NamedTuple):
    """The longest times that are allowed, in seconds."""

    offline: float
    online: float


def overview_content(field: Field, totals: Totals, single: Totals) -> dict[str, Any]:
    """The data of the overview, ready for JSON; of algorithms and of single agents."""
    priors = {
        name: chosen for name, is_in in PRIORS.items() if (chosen := _among(field.contests, is_in))
    }
    views = [
        [
            _view(field, (totals, single), _Limits(offline, online), priors)
            for online in ONLINE_LIMITS
        ]
        for offline in OFFLINE_LIMITS
    ]
    return {
        "algorithms": looks_content(field),
        "agents": [
            [each.label, field.algorithms.index(each.algorithm), each.page] for each in field.agents
        ],
        "contests": [_contest(field, contest) for contest in field.contests],
        "priors": [
            {"name": name, "contests": [each.number for each in chosen], "counted": len(counted)}
            for name, (chosen, counted) in priors.items()
        ],
        "offline": list(map(finite, OFFLINE_LIMITS)),
        "online": list(map(finite, ONLINE_LIMITS)),
        "thresholds": rounded(totals.thresholds.tolist()),
        "totals": {"best": totals.found, "single": single.found},
        "views": views,
    }


def looks_content(field: Field) -> list[dict[str, Any]]:
    """The names and the looks of all algorithms."""
    looks = looks_of(field.algorithms)
    return [{"name": name, **look._asdict()} for name, look in looks.items()]


def finite(number: float | None) -> float | None:
    """A number for JSON, which has none that are not finite."""
    return number if number is not None and math.isfinite(number) else None


def _among(
    contests: Sequence[Contest], is_in: Callable[[Contest], bool]
) -> tuple[list[Contest], list[Contest]] | None:
    """Some of the contests, and those of them that count in aggregates: they have a scale."""
    chosen = [each for each in contests if is_in(each)]
    return (chosen, [each for each in chosen if each.has_scale]) if chosen else None


def _contest(field: Field, contest: Contest) -> dict[str, Any]:
    """An experiment and all its agents, whatever the bounds on time."""
    indices = range(len(contest.entrants))
    scaled = [contest.normalised_score(i) for i in indices]
    summaries = contest.entrants
    references = range(len(contest.comparison.summaries), len(summaries))
    return {
        "name": contest.name,
        "problem": contest.problem,
        "case": contest.case,
        "page": contest.page,
        "mdps": contest.data.num_mdps,
        "agents": [field.agent(contest, i).number for i in indices],
        "played": [len(each.returns) for each in summaries],
        "scores": [list(map(finite, each.score)) for each in summaries],
        "normalised": [each and [finite(round(number, 6)) for number in each] for each in scaled],
        "offline": [each.seconds["offline"] for each in summaries],
        "online": [online_seconds(each) for each in summaries],
        "memory": [each.peak_bytes for each in summaries],
        "reference": max(references, key=lambda i: summaries[i].score.mean, default=None),
    }


def _view(
    field: Field, both: tuple[Totals, Totals], limits: _Limits, priors: _Priors
) -> dict[str, Any]:
    """What is shown within bounds on time: ranks in each experiment, and a table per prior."""
    totals, single = both
    allowed = {each.number: each.comparison.allowed(*limits) for each in field.contests}
    best = {each.number: each.comparison.within(*limits) for each in field.contests}
    represented: dict[int, dict[str, int]] = {
        each.number: {
            each.entrants[i].algorithm: i for i in (found.best_of_algorithm if found else [])
        }
        for each in field.contests
        for found in [best[each.number]]
    }
    of_algorithms = _Rows(field, totals, [
        {number: of[name] for number, of in represented.items() if name in of}
        for name in field.algorithms
    ])  # fmt: skip
    within = {number: set(agents) for number, agents in allowed.items()}
    of_agents = _Rows(field, single, [
        {number: i for number, i in each.places.items() if i in within[number]}
        for each in field.agents
    ])  # fmt: skip
    return {
        "contests": [
            {
                "best": _ranked(totals, each, list(represented[each.number].values())),
                "winners": found.winners if (found := best[each.number]) else [],
                "agents": _ranked(single, each, allowed[each.number]),
            }
            for each in field.contests
        ],
        "best": [of_algorithms.table(counted, compared=True) for _, counted in priors.values()],
        "single": [of_agents.table(counted, compared=False) for _, counted in priors.values()],
    }


def _ranked(totals: Totals, contest: Contest, agents: Sequence[int]) -> list[list[float | None]]:
    """Agents of an experiment, best first: index, rank, and the interval of the rank.

    Those that did not play all MDPs have no rank.
    """
    complete = [i for i in agents if contest.is_complete(i)]
    ranks = totals.ranks(tuple(((contest.number, i),) for i in complete))
    known = {i: _short(rank) for i, rank in zip(complete, ranks, strict=True)}
    return [[i, *known.get(i, [None] * 3)] for i in agents]


def _short(rank: Estimate) -> list[float]:
    """A rank as it is short in JSON: whole numbers, but for agents that share a rank."""
    return [int(number) if number.is_integer() else number for number in rank]


class _Rows:
    """The rows of a table: algorithms or single agents, with the agents that stand for them."""

    def __init__(self, field: Field, totals: Totals, chosen: Sequence[dict[int, int]]) -> None:
        self._field, self._totals, self._chosen = field, totals, chosen

    def table(self, counted: Sequence[Contest], compared: bool) -> list[list[Any]]:
        """The rows that are in any of the experiments, the highest interquartile mean first.

        A row has its number, the number of its aggregates, in how many experiments it is, its rank
        with an interval, its longest times and its largest memory. If `compared`, it ends with the
        probability that it improves on the first. Rows that lack an experiment have None instead.
        """
        choices = {row: self._choice(chosen, counted) for row, chosen in enumerate(self._chosen)}
        choices = {row: chosen for row, chosen in choices.items() if chosen}
        complete = [row for row, chosen in choices.items() if self._is_complete(chosen, counted)]
        found, totals = self._totals.found, self._totals
        numbers = {row: totals.number(choices[row]) for row in complete}
        complete.sort(key=lambda row: -found[numbers[row]]["iqm"][0])
        ranks = dict(
            zip(complete, totals.ranks(tuple(choices[row] for row in complete)), strict=True)
        )
        others = sorted(choices.keys() - set(complete), key=lambda row: (-len(choices[row]), row))
        table = []
        for row in [*complete, *others]:
            rank = _short(ranks[row]) if row in ranks else None
            made: list[Any] = [
                row,
                numbers.get(row),
                len(choices[row]),
                rank,
                *self._costs(choices[row]),
            ]
            if compared:
                made.append(self._compared(choices[row], choices[complete[0]]) if rank else None)
            table.append(made)
        return table

    def _compared(self, chosen: Choice, first: Choice) -> list[float] | None:
        self._totals.add_profile(chosen)
        return None if chosen == first else rounded(self._totals.improvement(chosen, first))

    def _choice(self, chosen: dict[int, int], counted: Sequence[Contest]) -> Choice:
        return tuple((each.number, chosen[each.number]) for each in counted
                     if each.number in chosen)  # fmt: skip

    def _is_complete(self, chosen: Choice, counted: Sequence[Contest]) -> bool:
        contests = self._field.contests
        return len(chosen) == len(counted) and all(contests[k].is_complete(i) for k, i in chosen)

    def _costs(self, chosen: Choice) -> list[float | None]:
        """The longest training and mean decision, and the largest memory if it is known."""
        summaries = [self._field.contests[k].entrants[i] for k, i in chosen]
        memory = [each.peak_bytes for each in summaries]
        return [
            max(each.seconds["offline"] for each in summaries),
            max(map(online_seconds, summaries)),
            None if None in memory else max(filter(None, memory), default=0),
        ]


def by_algorithm(agents: Iterable[BoardAgent]) -> dict[str, list[BoardAgent]]:
    """The agents of each algorithm."""
    found: dict[str, list[BoardAgent]] = {}
    for each in agents:
        found.setdefault(each.algorithm, []).append(each)
    return found
