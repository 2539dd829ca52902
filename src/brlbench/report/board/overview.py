"""The data of the overview: all experiments side by side, and aggregates over them.

Everything that depends on bounds on time or on the prior is computed here, for all choices that the
page offers, so that there is one implementation of it.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...analysis.aggregates import Estimate
from ...results.summary import REFERENCE
from ..quantities import COSTS, column_texts, numbers_of
from ..web.content import algorithms_content
from ..words import selection_words
from .aggregation import Aggregation, Choice, rounded
from .field import Contest, Field

OFFLINE_LIMITS = (math.inf, 60.0, 1.0)
ONLINE_LIMITS = (math.inf, 1e-2, 1e-3, 1e-4, 1e-5)


def overview_content(field: Field, best: Aggregation, single: Aggregation) -> dict[str, Any]:
    """The data of the overview: of the best agents of algorithms, and of single agents."""
    kinds = {
        "all": field.contests,
        "accurate": [each for each in field.contests if each.data.accurate],
        "wrong": [each for each in field.contests if not each.data.accurate],
    }
    priors = {name: contests for name, contests in kinds.items() if contests}
    # Those with a scale count in aggregates.
    counted = [
        [each for each in contests if each.data.rising_scale] for contests in priors.values()
    ]
    views = [
        [_view(field, best, single, counted, (offline, online)) for online in ONLINE_LIMITS]
        for offline in OFFLINE_LIMITS
    ]
    return {
        "algorithms": algorithms_content(field.algorithms),
        "competing": sum(name != REFERENCE for name in field.algorithms),
        "agents": [
            [each.label, field.algorithms.index(each.algorithm), each.page] for each in field.agents
        ],
        "quantities": list(map(column_texts, COSTS)),
        "contests": [_contest(field, contest) for contest in field.contests],
        "priors": [
            {"name": name, "contests": [each.number for each in priors[name]], "counted": len(some)}
            for name, some in zip(priors, counted, strict=True)
        ],
        "offline": [None, *OFFLINE_LIMITS[1:]],  # JSON has no infinity
        "online": [None, *ONLINE_LIMITS[1:]],
        "selection": selection_words(all(each.comparison.honest for each in field.contests)),
        "thresholds": rounded(best.thresholds.tolist()),
        "totals": {"best": best.totals, "single": single.totals},
        "views": views,
    }


def _contest(field: Field, contest: Contest) -> dict[str, Any]:
    """An experiment and all its agents, without bounds on time."""
    summaries = contest.entrants
    scores = map(contest.normalised_score, range(len(summaries)))
    scaled = [each for each in scores if each is not None]
    references = range(len(contest.comparison.summaries), len(summaries))
    return {
        "name": contest.name,
        "problem": contest.problem,
        "case": contest.case,
        "page": contest.page,
        "mdps": contest.data.num_mdps,
        "agents": [field.agent(contest, i).number for i in range(len(summaries))],
        "played": [len(each.returns) for each in summaries],
        "scores": list(np.array(contest.scores).T.copy()),
        "normalised": list(np.array(scaled).T.copy()) if scaled else None,
        "costs": [numbers_of(each, summaries) for each in COSTS],
        "reference": max(references, key=lambda i: contest.scores[i].mean, default=None),
    }


def _view(
    field: Field,
    best: Aggregation,
    single: Aggregation,
    counted: Sequence[Sequence[Contest]],  # by kind of prior
    limits: tuple[float, float],
) -> dict[str, Any]:
    """Ranks in each experiment within bounds on time, and a table per prior."""
    allowed = [each.comparison.allowed(*limits) for each in field.contests]
    answers = [each.comparison.within(*limits) for each in field.contests]
    chosen = [answer.best_of_algorithm if answer else [] for answer in answers]
    by_algorithm: dict[str, dict[int, int]] = {name: {} for name in field.algorithms}
    for contest, agents in zip(field.contests, chosen, strict=True):
        for i in agents:
            by_algorithm[contest.entrants[i].algorithm][contest.number] = i
    within = [set(agents) for agents in allowed]
    by_agent = [
        {number: i for number, i in each.places.items() if i in within[number]}
        for each in field.agents
    ]
    rows = list(by_algorithm.values())
    return {
        "contests": [
            {
                "best": _ranked(best, each, chosen[number]),
                "winners": answer.winners if (answer := answers[number]) else [],
                "agents": _ranked(single, each, allowed[number]),
            }
            for number, each in enumerate(field.contests)
        ],
        "best": [_table(field, best, rows, each, compared=True) for each in counted],
        "single": [_table(field, single, by_agent, each) for each in counted],
    }


def _ranked(
    aggregation: Aggregation, contest: Contest, agents: Sequence[int]
) -> list[list[float | None]]:
    """Agents of an experiment, best first: index, rank, and the interval of the rank.

    Those that did not play all MDPs have no rank.
    """
    ranks = aggregation.ranks_in(contest, agents)
    return [[i, *(_short(ranks[i]) if i in ranks else [None] * 3)] for i in agents]


def _short(rank: Estimate) -> list[float]:
    """A rank as it is short in JSON: whole numbers, but for agents that share a rank."""
    return [int(number) if number.is_integer() else number for number in rank]


def _table(
    field: Field,
    aggregation: Aggregation,
    places: Sequence[dict[int, int]],
    counted: Sequence[Contest],
    compared: bool = False,
) -> list[list[Any]]:
    """The rows that are in any of the experiments that count, by rank in most experiments first.

    A row is compared in the experiments in which it played all MDPs. It has its number, the index
    of its aggregates there (None if there are none), the number of these experiments, its rank in
    them and the number of rows ranked, and its costs. If `compared`, rows in all experiments get a
    profile, and all end with the probability to improve on the first.

    `places` has, by row and number of the experiment, the index of the agent that stands for it.
    """
    numbers = [each.number for each in counted]
    everywhere = {
        row: tuple((number, chosen[number]) for number in numbers if number in chosen)
        for row, chosen in enumerate(places)
    }
    everywhere = {row: agents for row, agents in everywhere.items() if agents}
    choices = {
        row: tuple((number, i) for number, i in agents if field.contests[number].is_complete(i))
        for row, agents in everywhere.items()
    }
    ranks = _ranks(aggregation, choices)
    order = sorted(
        choices,
        key=lambda row: (-len(choices[row]), _numbers(choices[row]), (ranks[row] or [0])[0], row),
    )
    table: list[list[Any]] = [
        [
            row,
            aggregation.number(choices[row]) if choices[row] else None,
            len(choices[row]),
            ranks[row],
            _costs(field, everywhere[row]),
        ]
        for row in order
    ]
    for cells in table if compared else []:
        cells.append(_improvement(aggregation, choices[cells[0]], choices[order[0]], len(numbers)))
    return table


def _ranks(
    aggregation: Aggregation, choices: Mapping[int, Choice]
) -> dict[int, list[float] | None]:
    """The rank of each row, its interval, and the number of rows ranked; None without experiments.

    Rows with the same experiments are ranked together, among all that have these.
    """
    ranks: dict[int, list[float] | None] = dict.fromkeys(choices)
    played = {row: _numbers(agents) for row, agents in choices.items()}
    for experiments in filter(None, set(played.values())):
        rivals = [row for row, numbers in played.items() if set(numbers).issuperset(experiments)]
        shared = (
            tuple((number, i) for number, i in choices[row] if number in experiments)
            for row in rivals
        )
        for row, rank in zip(rivals, aggregation.ranks(tuple(shared)), strict=True):
            if played[row] == experiments:
                ranks[row] = [*_short(rank), len(rivals)]
    return ranks


def _numbers(agents: Choice) -> tuple[int, ...]:
    """The numbers of the experiments."""
    return tuple(number for number, _ in agents)


def _improvement(
    aggregation: Aggregation, agents: Choice, first: Choice, most: int
) -> list[float] | None:
    """The probability to improve on the first, in a row's experiments; None for the first itself.

    None also where the first is not in all experiments.
    """
    if len(first) < most or not agents:
        return None
    if len(agents) == most:
        aggregation.add_profile(agents)
    if agents == first:
        return None
    there = tuple((number, i) for number, i in first if number in _numbers(agents))
    return rounded(aggregation.improvement(agents, there))


def _costs(field: Field, agents: Choice) -> list[float | None]:
    """The largest of each quantity; None if it is not known everywhere."""
    summaries = [field.contests[number].entrants[i] for number, i in agents]
    largest = (float(numbers_of(each, summaries).max()) for each in COSTS)
    return [None if math.isnan(cost) else cost for cost in largest]
