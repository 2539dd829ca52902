"""Entries: compact files that also say who made an agent, for boards of results.

The name of a stranger's file ends with `.entry.parquet`. Its seal, a digest of all other bytes,
shows careless changes; only `brlbench entry check` finds those of somebody who seals it again.

The texts of an entry come from strangers. They follow rules, which hold when an entry is written
and when it is read: no control characters, no HTML tags, no other addresses than of web pages.
"""

import re
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import InvalidInput, StoreError, short
from ..results.compact import ENTRY_SUFFIX, ExperimentHeader, read_summaries, write_summaries
from ..results.sealed import Parse, read_table, reading
from ..results.summary import Summary
from ..schemas import parse_table
from ..values import Text

_MOST_AUTHORS = 50
_JOINERS = "\u200c\u200d"  # which some languages need within words
_TAG = re.compile(r"<[A-Za-z/!?]")


class Entry(NamedTuple):
    """An agent's authors and the place of its code."""

    name: Text
    authors: tuple[Text, ...]
    description: Text
    code: Text = ""  # the address of the code
    commit: Text = ""  # the version of the code
    paper: Text = ""  # the address of a paper
    licence: Text = ""  # of the code, such as "MIT"


def write_entry(
    path: Path,
    entry: Entry,
    experiments: Sequence[tuple[ExperimentHeader, Sequence[Summary]]],
    overwrite: bool = False,
) -> None:
    """Write an entry with the summaries of several experiments."""
    check_suffix(path)
    for problem in problems_of(entry):
        raise InvalidInput(problem)
    write_summaries(path, experiments, overwrite, entry=entry._asdict())


def is_entry(path: Path) -> bool:
    """True if a file's name is that of an entry."""
    return path.name.endswith(ENTRY_SUFFIX)


def check_suffix(path: Path, what: str = "output") -> None:
    """Raise unless a file's name is that of an entry."""
    if not is_entry(path):
        raise InvalidInput(f"{what} = {str(path)!r}: must end with {ENTRY_SUFFIX}")


def read_entry(
    path: Path, parse: Parse, strict: bool = True
) -> tuple[Entry, list[tuple[ExperimentHeader, Summary]]]:
    """Read an entry and its summaries, each with its experiment.

    An entry whose texts break the rules is a StoreError if `strict`. Texts must still be escaped
    where they are shown. Files of strangers are parsed in another process.
    """
    _, metadata = read_table(path, "compact", ["experiment"], parse=parse)
    if "entry" not in metadata:
        raise StoreError(f"{path} is a compact file and no entry: make one with entry new")
    with reading(path):
        entry = parse_table(Entry, {name: metadata["entry"][name] for name in Entry._fields})
    for problem in problems_of(entry) if strict else []:
        raise StoreError(f"{path} can't be used: {problem}")
    return entry, list(read_summaries(path, parse))


def problems_of(entry: Entry) -> list[str]:
    """The problems with an entry's texts: one sentence each, with the remedy."""
    problems = []
    for name, (longest, pattern, remedy) in _RULES.items():
        value: Any = getattr(entry, name)
        for text in value if name == "authors" else [value] if value else []:
            problem = wrong_with(text, longest) or ("" if pattern.fullmatch(text) else remedy)
            if problem:
                problems.append(f"{name} = {short(text)}: {problem}")
    required = ("name", "authors", "description", "licence")
    problems += [f"{name} is missing: give it" for name in required if not getattr(entry, name)]
    if len(entry.authors) > _MOST_AUTHORS:
        problems.append(
            f"authors has {len(entry.authors)} names: must have at most {_MOST_AUTHORS}"
        )
    if bool(entry.code) != bool(entry.commit):
        problems.append("code and commit belong together: give both")
    return problems


def wrong_with(text: str, longest: int) -> str:
    """The rule that a text breaks; empty if it is one line of visible characters."""
    if not text.strip():
        return "must not be empty"
    if len(text) > longest:
        return f"must have at most {longest} characters, not {len(text)}"
    invisible = [sign for sign in text if sign not in _JOINERS and _is_invisible(sign)]
    if invisible:
        return f"must have no control characters, such as {invisible[0]!a}"
    return "must have no HTML tags" if _TAG.search(text) else ""


def _is_invisible(sign: str) -> bool:
    """True for control characters, marks of direction, ends of lines and unassigned characters."""
    category = unicodedata.category(sign)
    return category.startswith("C") or category in ("Zl", "Zp")


class _TextRule(NamedTuple):
    longest: int
    pattern: re.Pattern[str] = re.compile(".*", re.DOTALL)
    remedy: str = ""


# Web pages only, without the name of a user.
_ADDRESS = re.compile(
    r"https?://([A-Za-z0-9._~%-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]*)?"
    r"([/?#][A-Za-z0-9._~:/?#\[\]@!$&()*+,;=%-]*)?"
)
_WEB = _TextRule(300, _ADDRESS, "must be an address that begins with https:// or http://")
_COMMIT = "must be the hash of a commit, 7 to 64 digits from 0 to 9 and a to f"
_LICENCE = "must be the name of a licence, such as MIT or BSD-3-Clause"
_RULES: dict[str, _TextRule] = {
    "name": _TextRule(60),
    "authors": _TextRule(100),
    "description": _TextRule(1000),
    "code": _WEB,
    "commit": _TextRule(64, re.compile(r"[0-9a-f]{7,64}"), _COMMIT),
    "paper": _WEB,
    "licence": _TextRule(100, re.compile(r"[A-Za-z0-9][A-Za-z0-9 .+()-]*"), _LICENCE),
}
