"""The pages of a board as HTML. Every text is escaped, and no text becomes a link unchecked."""

from collections.abc import Iterable
from functools import cache
from importlib.metadata import version
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from ...analysis.bounds import Regions
from ...arguments import format_seconds
from ...memory import format_mebibytes
from ...protocol.summary import REFERENCE, Summary
from .. import words
from ..html import assets, embedded_json
from .field import BoardAgent, Contest, Field
from .overview import by_algorithm, finite, looks_content, overview_content
from .sources import (
    about_problem,
    drawing_of,
    known_problem,
    origin_of,
    parameters_of,
    web_address,
)
from .standings import Standing
from .totals import Totals

_SCRIPTS = {
    "index": ("format", "draw", "theme"),
    "agent": ("format", "draw", "theme", "scatter", "learning"),
    "problem": ("format", "draw", "theme", "scatter", "map"),
}
"""The scripts that pages share with the report; each has one of its own as well."""


@cache
def _environment() -> Environment:
    environment = Environment(
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        loader=PackageLoader("brlbench", "report/board"),
    )
    environment.globals.update(
        bound=words.format_bound, memory=format_mebibytes, link=web_address, p_value=words.format_p,
        score=words.format_score, seconds=format_seconds,
        version=version("brlbench"),
    )  # fmt: skip
    return environment


def _render(kind: str, content: Any, **values: Any) -> str:
    made = assets(
        ["page/page.css", "board/board.css"],
        [*(f"page/{name}.js" for name in _SCRIPTS[kind]), "board/tables.js", f"board/{kind}.js"],
    )
    template = _environment().get_template(f"{kind}.html.j2")
    return template.render(assets=made, content=embedded_json(content), **values)


def overview_page(field: Field, totals: Totals, single: Totals) -> str:
    """The page with all experiments side by side."""
    return _render(
        "index",
        overview_content(field, totals, single),
        field=field,
        by_algorithm=by_algorithm(field.agents),
        problems=list(dict.fromkeys(contest.problem for contest in field.contests)),
        scale=words.scale_sentence([contest.data for contest in field.contests]),
        notes=field.data.notes,
    )


def problem_page(
    field: Field, contest: Contest, standings: list[Standing], drawings: dict[str, str | None]
) -> str:
    """The page of an experiment; `drawings` keeps those of problems, by their digests."""
    made = known_problem(contest.data.settings)
    if made is not None and made.digest not in drawings:
        drawings[made.digest] = drawing_of(made)
    competing = [each for each in standings if not each.agent.is_reference]
    algorithms = [field.algorithms.index(each.agent.algorithm) for each in standings]
    bound = contest.data.upper_bound
    content = {
        "algorithms": looks_content(field),
        "of": algorithms,
        "competing": len(competing),
        "winners": [k for k, each in enumerate(standings) if each.is_winner],
        "best": [k for k, each in enumerate(standings) if each.is_best],
        "labels": [each.name for each in standings],
        "scores": [each.summary.score.mean for each in standings],
        "ci95": [finite(each.summary.score.ci95) for each in standings],
        "online": [each.summary.seconds["mean"] for each in standings],
        "bound": bound,
        "boundText": None if bound is None else words.format_bound(bound),
        "map": _map(field, contest, contest.comparison.regions()),
    }
    return _render(
        "problem",
        content,
        field=field,
        contest=contest,
        standings=standings,
        settings=contest.data.settings,
        made=made,
        about=about_problem(made) if made else [],
        drawing=drawings[made.digest] if made else None,
        bound_known=bound,
        notes=list(map(str, field.data.notes_on([contest.data]))),
    )


def _map(field: Field, contest: Contest, regions: Regions) -> dict[str, Any]:
    """The winning algorithms within all bounds on time."""
    summaries = contest.comparison.summaries
    winners = [
        tuple(sorted(field.algorithms.index(summaries[i].algorithm) for i in best.winners))
        for best in regions.answers
    ]
    sets = {names: number for number, names in enumerate(dict.fromkeys(winners))}
    numbers = [*(sets[names] for names in winners), -1]  # the last is of cells without an agent
    return {
        "offline": regions.offline_edges.tolist(),
        "online": regions.online_edges.tolist(),
        "cells": [numbers[cell] for cell in regions.cells.ravel().tolist()],
        "sets": list(sets),
    }


def agent_page(field: Field, agent: BoardAgent, standings: dict[int, list[Standing]]) -> str:
    """The page of an agent."""
    own = [each for number in agent.places for each in standings[number] if each.agent is agent]
    summary = own[0].summary
    curves = [curve for each in own if (curve := _curves(each, standings[each.contest.number]))]
    for curve in curves:
        for line in curve["lines"]:
            line["algorithm"] = field.algorithms.index(line["algorithm"])
    return _render(
        "agent",
        {"algorithms": looks_content(field), "own": field.algorithms.index(agent.algorithm),
         "curves": curves},
        agent=agent,
        entry=agent.entry,
        origin=origin_of(summary),
        parameters=parameters_of(summary),
        standings=own,
        winners={number: standings[number][0] for number in agent.places},
        missing=[each for each in field.contests if each.number not in agent.places],
        curves=curves,
        machines=_machines(each.summary for each in own),
    )  # fmt: skip


def _curves(own: Standing, standings: list[Standing]) -> dict[str, Any] | None:
    """The learning curve of an agent, beside those of the best agent and of the reference."""
    if own.summary.learning is None:
        return None
    others = [standings[0], *(each for each in standings if each.agent.algorithm == REFERENCE)]
    shown = {each.agent.number: each for each in [own, *others] if each.summary.learning}
    bound = own.contest.data.upper_bound
    return {
        "name": own.contest.name,
        "bound": bound,
        "boundText": None if bound is None else words.format_bound(bound),
        "lines": [
            {
                "label": each.name,
                "algorithm": each.agent.algorithm,
                "decisions": learning.decisions.tolist(),
                "mean": learning.mean.tolist(),
                "ci95": list(map(finite, learning.ci95.tolist())),
            }
            for each in shown.values()
            if (learning := each.summary.learning) is not None
        ],
    }


def _machines(summaries: Iterable[Summary]) -> list[dict[str, str]]:
    """The machines that an agent ran on, each once, with the range of their speed."""
    speeds: dict[tuple[str, str], list[float]] = {}
    for summary in summaries:
        for machine in summary.machine.get("machines", [summary.machine]):
            versions = machine.get("versions")
            told = versions.items() if isinstance(versions, dict) else ()
            parts = [machine.get("processor") or "unknown processor", machine.get("system")]
            if machine.get("cores"):
                parts.insert(1, f"{machine['cores']} cores")
            key = (_listed(parts), _listed(f"{name} {value}" for name, value in told))
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
