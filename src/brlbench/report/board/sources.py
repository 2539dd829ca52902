"""The sources of agents and problems. Names in files are neither imported nor opened."""

import base64
import inspect
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from ...agents import AGENTS
from ...agents.parameters import Declaration
from ...beliefs.base import Family
from ...errors import BrlbenchError, InvalidInput
from ...problems import PROBLEMS
from ...problems.frozen import HASHES
from ...results.summary import Summary
from ...storage import frozen_set
from ..drawings import MOST_DRAWN, num_moves, transitions
from ..figures import render


def parameters_of(summary: Summary) -> list[tuple[str, str, str]]:
    """The parameters of an agent that have a value: name, value, and meaning if it is known."""
    known: Mapping[str, Declaration] = {}
    if summary.algorithm in AGENTS:
        with suppress(InvalidInput):
            known = AGENTS[summary.algorithm].declarations_with(summary.parameters)
    return [
        (name, str(value), known[name].meaning if name in known else "")
        for name, value in summary.parameters.items()
        if value is not None
    ]


def origin_of(summary: Summary) -> dict[str, Any]:
    """The code of an agent and its description in paragraphs, as far as the package knows them."""
    agent: Any = AGENTS.get(summary.algorithm)
    if agent is not None:
        kind, module = "built in", agent.__module__
    else:
        imported = "imported from the original library, BBRL"
        kind, module = "written by a user" if summary.is_own else imported, summary.algorithm
    return {
        "kind": kind,
        "module": module,
        "reference": getattr(agent, "reference", ""),
        "about": _paragraphs(agent) if agent else [],
    }


def known_problem(settings: Mapping[str, Any]) -> Family | None:
    """The distribution that MDPs were drawn from, if it comes with the package."""
    origin, test = settings.get("origin"), settings.get("test")
    try:
        if origin in HASHES:
            problem = frozen_set(str(origin), num_mdps=1).test
        elif test in PROBLEMS:
            problem = PROBLEMS[str(test)]()
        else:
            return None
    except BrlbenchError:
        return None
    return problem if problem.digest == settings.get("test_digest") else None


def about_problem(problem: Family) -> list[str]:
    """The package's description of a problem, in paragraphs."""
    names = [part for part in (problem.name or "").split(":") if part in PROBLEMS]
    return _paragraphs(PROBLEMS[names[0]]) if names else [problem.description]


def drawing_of(problem: Family) -> str | None:
    """The drawing of a problem as the address of a picture; None if it has too many arrows."""
    if num_moves(problem) > MOST_DRAWN:
        return None
    picture = render(transitions(problem), ".svg")
    return "data:image/svg+xml;base64," + base64.b64encode(picture).decode()


def web_address(text: str) -> str | None:
    """The address of a web page, or None if a text is anything else."""
    try:
        parts = urlsplit(text)
    except ValueError:
        return None
    return text if parts.scheme in ("http", "https") and parts.netloc else None


def _paragraphs(thing: Any) -> list[str]:
    """The docstring of the module that defines something."""
    text = inspect.getdoc(sys.modules[thing.__module__]) or ""
    plain = text.replace("`", "")
    return [" ".join(part.split()) for part in plain.split("\n\n") if part.strip()]
