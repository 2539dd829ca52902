"""Sets of formulas that users make, from features, operators and constants, or by hand.

A set is kept in a JSON file. Only its formulas are read back, so that it can also be written by
hand. Agents name a set by its file and a digest of its formulas, as in `mine.json#1f0c27d8`: if the
formulas change, it is another agent.
"""

import hashlib
import json
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import BrlbenchError, InvalidInput, did_you_mean, short
from ..files import PARSED_BYTES, atomic_write, parse_json, read_bytes
from ..values import check, number, whole
from .formula import FEATURES, OPERATORS, Formula, operator
from .generation import SETS, generate
from .parser import parse, to_token

_FORMAT = 1
_SIZE, _CONSTANT = whole(1, 50), number(-1e300, 1e300)
_NAMED = re.compile(r"(?P<path>.*)#(?P<digest>[0-9a-f]{8})", re.DOTALL)


@dataclass(frozen=True)
class FormulaSet:
    """Formulas, and the features, operators and constants they are made of."""

    features: tuple[str, ...]
    operators: tuple[str, ...]
    constants: tuple[float, ...]
    size: int  # most tokens in reverse Polish order
    formulas: tuple[Formula, ...]

    def write(self, path: str | Path, overwrite: bool = False) -> None:
        """Write a JSON file that `opps-ds` reads."""
        lines = ",\n".join(f"    {json.dumps(str(formula))}" for formula in self.formulas)
        head = {
            "kind": "formulas",
            "format": _FORMAT,
            "features": self.features,
            "operators": self.operators,
            "constants": self.constants,
            "size": self.size,
        }
        parts = [f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in head.items()]
        text = "{\n" + ",\n".join([*parts, f'  "formulas": [\n{lines}\n  ]']) + "\n}\n"
        atomic_write(Path(path), text.encode(), overwrite)

    @cached_property
    def digest(self) -> str:
        """A digest of the formulas."""
        return digest_of(self.formulas)


def make_formulas(
    size: int,
    features: Iterable[str] = FEATURES,
    operators: Iterable[str] = OPERATORS,
    constants: Iterable[float] = (),
) -> FormulaSet:
    """Make all formulas of at most `size` tokens in reverse Polish order, reduced.

    A formula that is undefined on any of 1,000 random points is dropped, and of formulas that rank
    all these points alike the shortest is kept.

    Args:
        size: the most tokens of a formula: each feature, constant and operator in it is one.
        features: some of Qmean, Qself and Quniform.
        operators: some of abs, opposite, sqrt, ln, inverse, +, -, *, min, max, /, avg; max3, and
            likewise +, *, min and avg, takes three values. Those of the paper by default.
        constants: numbers.
    """
    size = check(size, "size", _SIZE)
    chosen = _chosen(features, "features", FEATURES)
    if not chosen:
        raise InvalidInput(f"features: must have at least one of {', '.join(FEATURES)}")
    used = _chosen(operators, "operators", (*OPERATORS, "avg"))
    numbers = tuple(sorted({check(constant, "constants", _CONSTANT) for constant in constants}))
    return FormulaSet(chosen, used, numbers, size, generate(size, chosen, used, numbers))


def _chosen(words: Iterable[str], what: str, known: tuple[str, ...]) -> tuple[str, ...]:
    """The words as tokens, in the order of the known ones, each once."""
    sort_keys: dict[str, tuple[int, int]] = {}
    for word in [words] if isinstance(words, str) else words:
        token = to_token(word) if isinstance(word, str) else ""
        symbol, count = operator(token)
        name = symbol or token
        if name not in known:
            counted = "; max3 takes three values" if "max" in known else ""
            hint = did_you_mean(word, known) if isinstance(word, str) else ""
            raise InvalidInput(
                f"{what}: {short(word)} is unknown{hint}: must be some of {', '.join(known)}"
                f"{counted}"
            )
        sort_keys[token] = known.index(name), count
    return tuple(sorted(sort_keys, key=lambda token: sort_keys[token]))


def digest_of(formulas: Iterable[Formula]) -> str:
    """A digest of formulas, in their order."""
    return hashlib.sha256("\n".join(map(str, formulas)).encode()).hexdigest()[:8]


def read_formulas(path: Path) -> tuple[Formula, ...]:
    """The formulas of a file; each is read as `parse` reads it."""
    data = read_bytes(path, PARSED_BYTES)
    try:
        content = parse_json(data)
    except ValueError as error:
        raise InvalidInput(f"{path} is not a JSON file: {error}") from None
    table: dict[str, Any] = content if isinstance(content, dict) else {}
    texts: Any = table.get("formulas")
    are_texts = isinstance(texts, list) and all(isinstance(text, str) for text in texts)
    if table.get("kind", "formulas") != "formulas" or not are_texts or not texts:
        raise InvalidInput(
            f'{path} is not a file of formulas: it must have a list of texts called "formulas"'
        )
    if table.get("format", _FORMAT) != _FORMAT:
        raise InvalidInput(
            f"{path} has format {short(table['format'])}: must be {_FORMAT}: make it again"
        )
    formulas: dict[Formula, None] = {}
    for text in texts:
        try:
            formula = parse(text)
        except InvalidInput as error:
            raise InvalidInput(f"{path}: {error}") from None
        if formula in formulas:
            raise InvalidInput(f"{path}: the formula {short(str(formula))} is there twice")
        formulas[formula] = None
    return tuple(formulas)


class NamedSet(NamedTuple):
    """A user's set: its name in agents, and its formulas if they are known here."""

    name: str  # file and digest
    formulas: tuple[Formula, ...] | None


_known: dict[str, tuple[Formula, ...]] = {}  # by digest


def find_set(text: str) -> NamedSet:
    """The set in a file, or one with a digest, whose file may be elsewhere or may have changed."""
    match = _NAMED.fullmatch(text)
    wanted = match["digest"] if match else None
    if wanted in _known:
        return NamedSet(os.path.basename(text), _known[wanted])
    path = Path(match["path"] if match else text)
    try:
        formulas = read_formulas(path)
    except BrlbenchError:
        if match:
            return NamedSet(os.path.basename(text), None)
        raise
    digest = digest_of(formulas)
    if wanted not in (None, digest):
        return NamedSet(os.path.basename(text), None)
    _known[digest] = formulas
    return NamedSet(f"{path.name}#{digest}", formulas)


def locate_set(text: str, folder: Path) -> str:
    """The full path and the digest of a set whose file is in a folder; else the text itself."""
    path = folder / text
    try:
        if text in SETS or not path.is_file():
            return text
        return f"{path}#{digest_of(read_formulas(path))}"
    except (BrlbenchError, OSError, ValueError):  # the agent that reads it says what is wrong
        return text
