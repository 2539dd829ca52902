"""The sources of agents and problems. Names in files are neither imported nor opened."""

import base64
import inspect
import sys
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from ...agents import AGENTS
from ...agents.parameters import Declaration
from ...errors import BrlbenchError, InvalidInput
from ...mdps.dirichlet import FlatDirichlet
from ...problems import PROBLEMS
from ...problems.frozen import HASHES
from ...results.summary import Summary
from ...storage import frozen_set
from ..drawings import MOST_DRAWN, transitions
from ..figures import render


class Parameter(NamedTuple):
    """A parameter of an agent, and what it means if the agent is built in."""

    name: str
    value: str
    meaning: str


def parameters_of(summary: Summary) -> list[Parameter]:
    """The parameters of an agent that have a value."""
    known = _declarations(summary)
    return [
        Parameter(name, str(value), known[name].meaning if name in known else "")
        for name, value in summary.parameters.items()
        if value is not None
    ]


def _declarations(summary: Summary) -> dict[str, Declaration]:
    """The declared parameters of a built-in agent; none if it refuses them, or for other agents."""
    made = AGENTS.get(summary.algorithm)
    try:
        return {} if made is None else made.declarations_with(summary.parameters)
    except InvalidInput:
        return {}


class Origin(NamedTuple):
    """The code of an agent, and its description."""

    kind: str
    module: str
    reference: str
    about: list[str]  # paragraphs


def origin_of(summary: Summary) -> Origin:
    """The origin of an agent, as far as the package knows it."""
    agent: Any = AGENTS.get(summary.algorithm)
    if agent is not None:
        paragraphs = _paragraphs(agent)
        return Origin("built in", agent.__module__, getattr(agent, "reference", ""), paragraphs)
    if summary.is_own:
        return Origin("written by a user", summary.algorithm, "", [])
    return Origin("imported from the original library, BBRL", summary.algorithm, "", [])


def known_problem(settings: Mapping[str, Any]) -> FlatDirichlet | None:
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


def about_problem(problem: FlatDirichlet) -> list[str]:
    """The package's description of a problem, in paragraphs."""
    names = [part for part in (problem.name or "").split(":") if part in PROBLEMS]
    return _paragraphs(PROBLEMS[names[0]]) if names else [problem.description]


def drawing_of(problem: FlatDirichlet) -> str | None:
    """The drawing of a problem as the address of a picture; None if it has too many transitions."""
    if len(problem.counts.values) > MOST_DRAWN:
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
