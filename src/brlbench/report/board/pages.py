"""The pages of a board as HTML."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

from ...arguments import counted
from ...results.score import Score
from ...results.summary import REFERENCE, Summary
from ..data import ReportData
from ..web import render
from ..web.content import algorithms_content, bound_content, learning_content, page_content
from ..words import format_bound, scale_sentence
from .aggregation import Aggregation
from .field import BoardAgent, Contest, Field
from .overview import overview_content
from .positions import COLUMNS, Position
from .sources import (
    about_problem,
    drawing_of,
    known_problem,
    origin_of,
    parameters_of,
    web_address,
)


def overview_page(field: Field, best: Aggregation, single: Aggregation) -> str:
    """The page with all experiments side by side."""
    return render(
        "board/index.html.j2",
        ("board/index",),
        overview_content(field, best, single),
        field=field,
        scale=scale_sentence([contest.data for contest in field.contests]),
    )


def problem_page(
    field: Field, contest: Contest, positions: list[Position], drawings: dict[str, str | None]
) -> str:
    """The page of an experiment; `drawings` caches those of problems, by their digests."""
    problem = known_problem(contest.data.settings)
    if problem is not None and problem.digest not in drawings:
        drawings[problem.digest] = drawing_of(problem)
    bound = contest.data.upper_bound
    return render(
        "board/problem.html.j2",
        ("board/problem",),
        page_content(
            ReportData([contest.data], []), field.algorithms, ways=[contest.comparison.honest]
        ),
        field=field,
        contest=contest,
        columns=COLUMNS,
        positions=positions,
        settings=contest.data.settings,
        problem=problem,
        about=about_problem(problem) if problem else [],
        drawing=drawings[problem.digest] if problem else None,
        bound=None if bound is None else format_bound(bound),
        notes=list(map(str, field.data.notes_on([contest.data]))),
    )


def agent_page(field: Field, agent: BoardAgent, positions: dict[int, list[Position]]) -> str:
    """The page of an agent; `positions` has those of all agents, by the experiment's number."""
    places = [each for number in agent.places for each in positions[number] if each.agent is agent]
    summary = places[0].summary
    curves = [_curves(field, each, positions[each.contest.number]) for each in places]
    shown = [each for each in curves if each is not None]
    scaled = [each for each in places if each.normalised is not None]
    return render(
        "board/agent.html.j2",
        ("board/agent",),
        {
            "algorithms": algorithms_content(field.algorithms),
            "algorithm": field.algorithms.index(agent.algorithm),
            "scores": [_scores(field, each, positions[each.contest.number]) for each in scaled],
            "curves": shown,
        },
        field=field,
        link=web_address,
        agent=agent,
        entry=agent.entry,
        origin=origin_of(summary),
        parameters=parameters_of(summary),
        columns=COLUMNS,
        positions=places,
        winners={number: _first(positions[number]) for number in agent.places},
        missing=[each for each in field.contests if each.number not in agent.places],
        curves=shown,
        scaled=scaled,
        machines=_machines(each.summary for each in places),
    )


def _scores(field: Field, place: Position, positions: Sequence[Position]) -> dict[str, Any]:
    """An agent's normalised score, and that of the best other agent, with their intervals."""
    shown = [place, *(each for each in [_first(positions)] if each is not place)]
    return {
        "name": place.contest.name,
        "page": place.contest.page,
        "scores": [
            [field.algorithms.index(each.agent.algorithm), score.mean, _half_width(score)]
            for each in shown
            if (score := each.normalised) is not None
        ],
    }


def _half_width(score: Score) -> float:
    """The half-width of the interval; 0 if there is none."""
    return 0.0 if math.isnan(score.ci95) else score.ci95


def _curves(field: Field, place: Position, positions: Sequence[Position]) -> dict[str, Any] | None:
    """The learning curve of an agent, beside those of the best agent and of the reference."""
    if place.summary.learning is None:
        return None
    references = [each for each in positions if each.agent.algorithm == REFERENCE]
    others = [_first(positions), *references]
    lines = {each.agent.number: each for each in [place, *others] if each.summary.learning}
    summaries = [each.summary for each in lines.values()]
    episode = place.contest.data.settings.get("episode")
    return {
        "name": place.contest.name,
        **bound_content(place.contest.data.upper_bound),
        "labels": [summary.marked_label for summary in summaries],
        "algorithms": [field.algorithms.index(summary.algorithm) for summary in summaries],
        "learning": learning_content(summaries, episode),
    }


def _first(positions: Sequence[Position]) -> Position:
    """The best agent; the reference where nobody else played."""
    return next((each for each in positions if each.is_first), positions[0])


def _machines(summaries: Iterable[Summary]) -> list[dict[str, str]]:
    """The machines that an agent ran on, each once, with the range of their speed."""
    speeds: dict[tuple[str, str], list[float]] = {}
    for summary in summaries:
        for machine in summary.machine.get("machines", [summary.machine]):
            versions = machine.get("versions")
            named = versions.items() if isinstance(versions, dict) else ()
            parts = [machine.get("processor") or "unknown processor", machine.get("system")]
            if machine.get("cores"):
                parts.insert(1, counted(machine["cores"], "core"))
            key = (_listed(parts), _listed(f"{name} {value}" for name, value in named))
            speeds.setdefault(key, []).append(machine.get("calibration_microseconds", 0.0))
    return [
        {"name": name, "versions": versions, "speed": _range([each for each in known if each])}
        for (name, versions), known in speeds.items()
    ]


def _listed(parts: Iterable[Any]) -> str:
    return ", ".join(str(part) for part in parts if part)


def _range(microseconds: list[float]) -> str:
    """The range of times of the calibration; empty if none is known."""
    if not microseconds:
        return ""
    ends = dict.fromkeys(f"{end:.3g}" for end in (min(microseconds), max(microseconds)))
    return f"{' to '.join(ends)} µs"
