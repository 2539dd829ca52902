"""The data of the overview: all experiments side by side, and aggregates over them.

Everything that depends on bounds on time or on the prior is computed here, for all choices that the
page offers, so that there is one implementation of it.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...analysis.aggregates import Estimate
from ..quantities import QUANTITIES, column_texts, numbers_of
from ..web.content import algorithms_content
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
        "agents": [
            [each.label, field.algorithms.index(each.algorithm), each.page] for each in field.agents
        ],
        "quantities": list(map(column_texts, QUANTITIES)),
        "contests": [_contest(field, contest) for contest in field.contests],
        "priors": [
            {"name": name, "contests": [each.number for each in priors[name]], "counted": len(some)}
            for name, some in zip(priors, counted, strict=True)
        ],
        "offline": [None, *OFFLINE_LIMITS[1:]],  # JSON has no infinity
        "online": [None, *ONLINE_LIMITS[1:]],
        "thresholds": rounded(best.thresholds.tolist()),
        "totals": {"best": best.totals, "single": single.totals},
        "views": views,
    }


def _contest(field: Field, contest: Contest) -> dict[str, Any]:
    """An experiment and all its agents, without bounds on time."""
    summaries = contest.entrants
    scaled = [each for each in map(contest.normalised_score, summaries) if each is not None]
    references = range(len(contest.comparison.summaries), len(summaries))
    return {
        "name": contest.name,
        "problem": contest.problem,
        "case": contest.case,
        "page": contest.page,
        "mdps": contest.data.num_mdps,
        "agents": [field.agent(contest, i).number for i in range(len(summaries))],
        "played": [len(each.returns) for each in summaries],
        "scores": list(np.array([contest.score(each) for each in summaries]).T.copy()),
        "normalised": list(np.array(scaled).T.copy()) if scaled else None,
        "costs": [numbers_of(each, summaries) for each in QUANTITIES],
        "reference": max(references, key=lambda i: summaries[i].score.mean, default=None),
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
    """The rows that are in any of the experiments that count, highest interquartile mean first.

    A row has its number, the index of its aggregates (None if it lacks an experiment), the number
    of its experiments, its rank and its costs. If `compared`, rows with aggregates get a profile,
    and all end with the probability to improve on the first.

    `places` has, by row and number of the experiment, the index of the agent that stands for it.
    """
    numbers = [each.number for each in counted]
    choices = {
        row: tuple((number, chosen[number]) for number in numbers if number in chosen)
        for row, chosen in enumerate(places)
    }
    choices = {row: agents for row, agents in choices.items() if agents}

    def is_complete(agents: Choice) -> bool:
        played = (field.contests[number].is_complete(i) for number, i in agents)
        return len(agents) == len(numbers) and all(played)

    totals = {
        row: aggregation.number(agents) for row, agents in choices.items() if is_complete(agents)
    }
    complete = sorted(totals, key=lambda row: -aggregation.totals[totals[row]]["iqm"][0])
    ranks = aggregation.ranks(tuple(choices[row] for row in complete))
    rank_of = dict(zip(complete, map(_short, ranks), strict=True))
    others = sorted(choices.keys() - totals.keys(), key=lambda row: (-len(choices[row]), row))
    table: list[list[Any]] = [
        [row, totals.get(row), len(choices[row]), rank_of.get(row), _costs(field, choices[row])]
        for row in [*complete, *others]
    ]
    for cells in table if compared else []:
        agents, improvement = choices[cells[0]], None
        if cells[0] in totals:
            aggregation.add_profile(agents)
            if cells[0] != complete[0]:
                improvement = rounded(aggregation.improvement(agents, choices[complete[0]]))
        cells.append(improvement)
    return table


def _costs(field: Field, agents: Choice) -> list[float | None]:
    """The largest of each quantity; None if it is not known everywhere."""
    summaries = [field.contests[number].entrants[i] for number, i in agents]
    largest = (float(numbers_of(each, summaries).max()) for each in QUANTITIES)
    return [None if math.isnan(cost) else cost for cost in largest]
