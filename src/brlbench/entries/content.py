"""Checks of what an entry says about itself: texts, sets, machines, versions, agents."""

import re
from collections.abc import Iterator
from importlib.metadata import version
from typing import Any

from ..agents import AGENTS, make_agent
from ..agents.labels import label_of
from ..errors import InvalidInput
from ..formulas.generation import SETS
from ..problems.frozen import NUM_MDPS
from ..results.summary import Summary
from ..storage.entries import problems_of, wrong_with
from ..storage.frozen import why_not_frozen
from ..testing.findings import KEPT, Finding, finding_of
from ..values import POSITIVE, TEXT
from .submission import Submission

_LONGEST_TEXT = 500  # of labels, parameters and names of machines
_VERSIONS = ("python", "brlbench", "numba", "numpy")


def is_intact(submission: Submission) -> Finding:
    """The digest in the file is that of its other bytes, so nothing was changed by accident."""
    return Finding(KEPT, f"SHA-256 {submission.digest}")


def has_plain_texts(submission: Submission) -> Finding:
    """No control characters, no HTML tags, nothing too long; addresses of web pages only."""
    entry = submission.entry
    problems = problems_of(entry)
    for header, summary in submission.claims:
        texts = filter(None, _texts_in([*summary.parameters.items(), summary.machine]))
        names = (summary.algorithm, summary.label, header.name)
        for kind, listed in (("text", texts), ("name", names)):
            for text in listed:
                if problem := wrong_with(text, _LONGEST_TEXT):
                    problems.append(f"the {kind} {text[:40]!a} {problem}")
    seen = f"{entry.name}, by {', '.join(entry.authors)}"
    return finding_of(problems, seen, "write it anew with entry new, and other texts")


def _texts_in(value: Any) -> Iterator[str]:
    """All texts in plain data."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from _texts_in(list(value.items()))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts_in(item)


def has_frozen_sets(submission: Submission) -> Finding:
    """Name, hash, seed, discount, horizon and distributions are those of a set of this version."""
    problems = []
    headers = {id(claim.header): claim.header for claim in submission.claims}
    for name, digest, settings in headers.values():
        if problem := why_not_frozen(digest, settings):
            problems.append(problem)
        elif name != settings["name"]:
            problems.append(f"{settings['name']} is called {name!a}")
    names = sorted({claim.set_name for claim in submission.claims})
    return finding_of(problems, ", ".join(names), "play frozen sets as they are")


def has_all_mdps(submission: Submission) -> Finding:
    """Every agent played all MDPs of the set, at least 500: nobody stops when ahead."""
    problems, numbers = [], set()
    for claim in submission.claims:
        number = len(claim.summary.returns)
        numbers.add(number)
        if claim.summary.stopped is not None:
            problems.append(f"{claim} was stopped after {number} MDPs")
        elif number < NUM_MDPS:
            problems.append(f"{claim} has {number} of {NUM_MDPS} MDPs")
    seen = f"{', '.join(map(str, sorted(numbers)))} MDPs"
    return finding_of(problems, seen, "play all MDPs of the set")


def has_known_machines(submission: Submission) -> Finding:
    """The machine, its calibration, and versions that are not newer than this one."""
    problems, seen = [], set()
    for claim in submission.claims:
        made_on = claim.summary.machine
        for machine in made_on.get("machines") or [made_on]:
            if problem := _machine_problem(machine):
                problems.append(f"{claim}: {problem}")
            else:
                seen.add(f"brlbench {machine['versions']['brlbench']} on {machine['processor']}")
    remedy = "play it again, or check it with the version of brlbench that played it"
    return finding_of(problems, "; ".join(sorted(seen)), remedy)


def _machine_problem(machine: dict[str, Any]) -> str:
    versions = machine.get("versions")
    if not TEXT.accepts(machine.get("processor")) or not isinstance(versions, dict):
        return "its machine and its versions are not known"
    for name in _VERSIONS:
        if not TEXT.accepts(versions.get(name)) or not _number(versions[name]):
            return f"the version of {name} is not known"
    if _number(versions["brlbench"]) > _number(version("brlbench")):
        return f"it was played with brlbench {versions['brlbench']}, which is newer than this one"
    calibration: Any = machine.get("calibration_microseconds")
    if not POSITIVE.accepts(calibration):
        return f"the calibration of its machine is {calibration} µs"
    return ""


def _number(text: str) -> tuple[int, ...]:
    """The numbers at the start of a version; empty if there are none."""
    match = re.match(r"\d+(?:\.\d+)*", text)
    return tuple(map(int, match[0].split(".")[:4])) if match and len(text) < 40 else ()


def has_possible_agents(submission: Submission) -> Finding:
    """Parameters of built-in agents exist, labels show parameters, and no agent is there twice."""
    problems = []
    seen: set[tuple[str, str]] = set()
    for claim in submission.claims:
        key = (claim.header.hash, claim.summary.full_label)
        if key in seen:
            problems.append(f"{claim} is there twice")
        seen.add(key)
        if problem := _parameter_problem(claim.summary) or _label_problem(claim.summary):
            problems.append(f"{claim}: {problem}")
    algorithms = ", ".join(sorted(submission.algorithms))
    return finding_of(problems, algorithms, "pack results as brlbench wrote them")


def _parameter_problem(summary: Summary) -> str:
    """The reason why no built-in agent has these parameters; empty for agents of users.

    No file is read that parameters name.
    """
    if summary.algorithm not in AGENTS or names_file(summary):
        return ""
    try:
        make_agent(summary.algorithm, **summary.parameters)
    except InvalidInput as error:
        return str(error)
    except Exception as error:  # parameters of any type
        return f"its parameters are refused: {error}"
    return ""


def names_file(summary: Summary) -> bool:
    """True if an agent's formulas are in a file."""
    formulas = summary.parameters.get("formulas")
    return isinstance(formulas, str) and formulas not in SETS


def _label_problem(summary: Summary) -> str:
    """Empty if a label is made of the algorithm and some of the parameters."""
    shown = {
        name: value
        for name, value in summary.parameters.items()
        if f"{name}={value}" in summary.label
    }
    expected = label_of(summary.algorithm, shown, summary.deadline, defaults={})
    return "" if summary.label == expected else f"its label must be {expected}"
