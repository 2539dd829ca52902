"""Entries: compact files that also say who made an agent, for boards of results.

Reports read an entry like any compact file. Its seal, a digest of all other bytes, shows careless
changes; only `brlbench entry check` finds those of somebody who seals the file again.

The texts of an entry come from strangers. They follow rules, which hold when an entry is written
and when it is read: no control characters, no HTML tags, no other addresses than of web pages.
"""

import re
import unicodedata
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from ..errors import InvalidInput, StoreError, short
from ..protocol.summary import Summary
from .checks import check, is_list, is_table, is_text, reading
from .compact import ExperimentHeader, write_summaries
from .tables import read_table

SUFFIX = ".entry.parquet"

_MOST_AUTHORS = 50
_JOINERS = "\u200c\u200d"  # which some languages need within words
_TAG = re.compile(r"<[A-Za-z/!?]")
_ADDRESS = re.compile(r"https?://[A-Za-z0-9._~:/?#\[\]@!$&()*+,;=%-]+")
_COMMIT = re.compile(r"[0-9a-f]{7,64}")
_LICENCE = re.compile(r"[A-Za-z0-9][A-Za-z0-9 .+()-]*")


class Entry(NamedTuple):
    """Who made an agent, and where its code is."""

    name: str
    authors: tuple[str, ...]
    description: str
    code: str = ""  # the address of the code
    commit: str = ""  # the version of the code
    paper: str = ""  # the address of a paper
    licence: str = ""  # of the code, such as "MIT"


def write_entry(
    path: Path,
    entry: Entry,
    experiments: Sequence[tuple[ExperimentHeader, Sequence[Summary]]],
    overwrite: bool = False,
) -> None:
    """Write the summaries of several experiments to one file, with what is said about them."""
    check_suffix(path)
    for problem in problems_of(entry):
        raise InvalidInput(problem)
    write_summaries(path, experiments, overwrite, entry=entry._asdict())


def check_suffix(path: Path) -> None:
    """Raise unless a file's name is that of an entry."""
    if not path.name.endswith(SUFFIX):
        raise InvalidInput(f"output = {str(path)!r}: must end with {SUFFIX}")


def read_entry(path: Path, strict: bool = True) -> Entry | None:
    """What an entry says about itself; None if the file is compact but no entry.

    An entry whose texts break the rules is a StoreError if `strict`; then nothing is returned that
    would have to be checked again. Texts must still be escaped where they are shown.
    """
    _, metadata = read_table(path, "compact", lambda metadata: ["experiment"])
    if "entry" not in metadata:
        return None
    with reading(path):
        content = metadata["entry"]
        check({"entry": content}, {"entry": is_table})
        check(content, dict.fromkeys(Entry._fields, is_text) | {"authors": is_list})
        if not all(map(is_text, content["authors"])):
            raise ValueError("an author is not a text")
        given = {name: content[name] for name in Entry._fields}
        entry = Entry(**{**given, "authors": tuple(content["authors"])})
    for problem in problems_of(entry) if strict else []:
        raise StoreError(f"{path} can't be used: {problem}")
    return entry


def problems_of(entry: Entry) -> list[str]:
    """What is wrong with the texts of an entry: one sentence each, with the remedy."""
    found = []
    for name, (longest, rule, remedy) in _RULES.items():
        given: Any = getattr(entry, name)
        texts = given if name == "authors" else [given] if given else []
        for text in texts:
            wrong = wrong_with(text, longest) or ("" if rule(text) else remedy)
            if wrong:
                found.append(f"{name} = {short(text)}: {wrong}")
    for name in ("name", "authors", "description", "licence"):
        if not getattr(entry, name):
            found.append(f"{name} is missing: give it")
    if len(entry.authors) > _MOST_AUTHORS:
        found.append(f"authors has {len(entry.authors)} names: must have at most {_MOST_AUTHORS}")
    if bool(entry.code) != bool(entry.commit):
        found.append("code and commit belong together: give both")
    return found


def wrong_with(text: str, longest: int) -> str:
    """What a text must be and is not; empty if it is one line of characters that can be seen."""
    if not text.strip():
        return "must not be empty"
    if len(text) > longest:
        return f"must have at most {longest} characters, not {len(text)}"
    unseen = [sign for sign in text if sign not in _JOINERS and _is_unseen(sign)]
    if unseen:
        return f"must have no control characters, such as {unseen[0]!a}"
    return "must have no HTML tags" if _TAG.search(text) else ""


def _is_unseen(sign: str) -> bool:
    """Control characters, those that change the direction of text, ends of lines, unknown ones."""
    category = unicodedata.category(sign)
    return category.startswith("C") or category in ("Zl", "Zp")


def _is_any(text: str) -> bool:
    return True


def _is_address(text: str) -> bool:
    """Whether a text is the address of a web page, without the name of a user."""
    if not _ADDRESS.fullmatch(text):
        return False
    try:
        parts = urlsplit(text)
        return bool(parts.hostname) and "@" not in parts.netloc
    except ValueError:
        return False


class _TextRule(NamedTuple):
    longest: int
    rule: Callable[[str], bool]
    remedy: str


_WEB = _TextRule(300, _is_address, "must be an address that begins with https:// or http://")
_RULES: dict[str, _TextRule] = {
    "name": _TextRule(60, _is_any, ""),
    "authors": _TextRule(100, _is_any, ""),
    "description": _TextRule(1000, _is_any, ""),
    "code": _WEB,
    "commit": _TextRule(
        64, lambda text: bool(_COMMIT.fullmatch(text)), "must be the hash of a commit, 7 to 64 "
        "digits from 0 to 9 and a to f",
    ),
    "paper": _WEB,
    "licence": _TextRule(
        100, lambda text: bool(_LICENCE.fullmatch(text)), "must be the name of a licence, such as "
        "MIT or BSD-3-Clause",
    ),
}  # fmt: skip
