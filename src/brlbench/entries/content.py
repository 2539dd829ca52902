"""What an entry says about itself: texts, sets, machines, versions, agents."""

import re
from collections.abc import Iterator
from importlib.metadata import version
from typing import Any

from ..agents import AGENTS, make_agent
from ..agents.formulas.generation import SETS
from ..errors import InvalidInput
from ..problems.frozen import NUM_MDPS
from ..protocol import machine
from ..protocol.labels import label_of
from ..storage.checks import is_number, is_text
from ..storage.entries import problems_of, wrong_with
from ..storage.frozen import why_not_frozen
from ..testing.rules import KEPT, Finding
from .opened import Opened, Played, judged

_LONGEST_TEXT = 500  # of labels, parameters and names of machines
_UNLIKE = 30.0  # how many times faster or slower than this one a machine can be
_VERSIONS = ("python", "brlbench", "numba", "numpy")


def whole(opened: Opened) -> Finding:
    """The digest in the file is that of its other bytes, so nothing was changed by accident."""
    return Finding(KEPT, f"SHA-256 {opened.digest}")


def texts(opened: Opened) -> Finding:
    """No control characters, no HTML tags, nothing too long; addresses of web pages only."""
    problems = problems_of(opened.entry)
    for played in opened.results:
        problems += [
            f"the text {text[:40]!a} {wrong}"
            for text in _texts_in([*played.summary.parameters.items(), played.summary.machine])
            if text and (wrong := wrong_with(text, _LONGEST_TEXT))
        ]
        problems += [
            f"the name {text[:40]!a} {wrong}"
            for text in (played.summary.algorithm, played.summary.label, played.header.name)
            if (wrong := wrong_with(text, _LONGEST_TEXT))
        ]
    entry = opened.entry
    seen = f"{entry.name}, by {', '.join(entry.authors)}"
    return judged(problems, seen, "write it anew with entry new, and other texts")


def _texts_in(value: Any) -> Iterator[str]:
    """All texts in plain data."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from _texts_in(list(value.items()))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts_in(item)


def sets(opened: Opened) -> Finding:
    """Name, hash, seed, discount, horizon and distributions are those of a set of this version."""
    problems = []
    for name, digest, settings in {
        id(each.header): each.header for each in opened.results
    }.values():
        if problem := why_not_frozen(digest, settings):
            problems.append(problem)
        elif name != settings["name"]:
            problems.append(f"{settings['name']} is called {name!a}")
    names = sorted({played.set_name for played in opened.results})
    return judged(problems, ", ".join(names), "play frozen sets as they are")


def mdps(opened: Opened) -> Finding:
    """Every agent played all MDPs of the set, at least 500: nobody stops when ahead."""
    problems = []
    for played in opened.results:
        number = len(played.summary.returns)
        if played.summary.stopped is not None:
            problems.append(f"{played} was stopped after {number} MDPs")
        elif number < NUM_MDPS:
            problems.append(f"{played} has {number} of {NUM_MDPS} MDPs")
    numbers = sorted({len(played.summary.returns) for played in opened.results})
    return judged(problems, f"{', '.join(map(str, numbers))} MDPs", "play all MDPs of the set")


def versions(opened: Opened) -> Finding:
    """The machine, its calibration, and versions that are not newer than this one."""
    problems, seen = [], set()
    for played in opened.results:
        for one in machines_of(played):
            if wrong := _wrong_machine(one):
                problems.append(f"{played}: {wrong}")
            else:
                seen.add(f"brlbench {one['versions']['brlbench']} on {one['processor']}")
    remedy = "play it again, or check it with the version of brlbench that played it"
    return judged(problems, "; ".join(sorted(seen)), remedy)


def machines_of(played: Played) -> list[dict[str, Any]]:
    """The machines that played."""
    made_on = played.summary.machine
    return [dict(one) for one in made_on.get("machines") or [made_on]]


def _wrong_machine(one: dict[str, Any]) -> str:
    stated = one.get("versions")
    if not is_text(one.get("processor")) or not isinstance(stated, dict):
        return "its machine and its versions are not known"
    for name in _VERSIONS:
        if not is_text(stated.get(name)) or not _number(stated[name]):
            return f"the version of {name} is not known"
    if _number(stated["brlbench"]) > _number(version("brlbench")):
        return f"it was played with brlbench {stated['brlbench']}, which is newer than this one"
    speed: Any = one.get("calibration_microseconds")
    here = machine.calibration()
    if not is_number(speed) or not here / _UNLIKE < speed < here * _UNLIKE:
        return f"the calibration of its machine is {speed} µs, and {here:.3g} µs here"
    return ""


def _number(text: str) -> tuple[int, ...]:
    """The numbers at the start of a version; empty if there are none."""
    found = re.match(r"\d+(?:\.\d+)*", text)
    return tuple(map(int, found[0].split(".")[:4])) if found and len(text) < 40 else ()


def agents(opened: Opened) -> Finding:
    """Parameters of built-in agents exist, labels show parameters, and no agent is there twice."""
    problems = []
    seen: set[tuple[str, str]] = set()
    for played in opened.results:
        summary = played.summary
        key = (played.header.hash, summary.full_label)
        if key in seen:
            problems.append(f"{played} is there twice")
        seen.add(key)
        if wrong := why_not_made(played) or _wrong_label(played):
            problems.append(f"{played}: {wrong}")
    algorithms = sorted({played.summary.algorithm for played in opened.results})
    return judged(problems, ", ".join(algorithms), "pack results as brlbench wrote them")


def why_not_made(played: Played) -> str:
    """Why no built-in agent has these parameters; empty for agents of others.

    No file is read that parameters name.
    """
    summary = played.summary
    if summary.algorithm not in AGENTS or names_file(played):
        return ""
    try:
        make_agent(summary.algorithm, **summary.parameters)
    except InvalidInput as error:
        return str(error)
    except Exception as error:  # parameters of any type
        return f"its parameters are refused: {error}"
    return ""


def names_file(played: Played) -> bool:
    """Whether a built-in agent has formulas of its own, which are in a file."""
    formulas = played.summary.parameters.get("formulas")
    return isinstance(formulas, str) and formulas not in SETS


def _wrong_label(played: Played) -> str:
    """Empty if a label is made of the algorithm and some of the parameters."""
    summary = played.summary
    shown = {
        name: value
        for name, value in summary.parameters.items()
        if f"{name}={value}" in summary.label
    }
    true = label_of(summary.algorithm, shown, summary.deadline, defaults={})
    return "" if summary.label == true else f"its label must be {true}"
