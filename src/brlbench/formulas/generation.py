"""The sets F_2, …, F_6 of the benchmark's paper, and sets made in the same way.

F_n has all formulas of at most n tokens in reverse Polish order over the three features and the
eleven operators, reduced: a formula that is undefined on any of 1,000 random points of
[-100, 100]^3 is dropped, and of formulas that rank all these points alike the shortest is kept.
All constant formulas thus count once.

The paper's sizes 12, 43 and 226 come out exactly if ranks are taken from the numbers as they are
computed: F_4 has three formulas Q * 1/Q, which differ from a constant by rounding only. They stay,
to keep the size, and play like a constant, because their indices are tied (see
`agents.formula.kernel`). The sizes of F_5 and F_6 depend on the points, because some formulas
differ in the rank of a few points only: 1,213 and 7,411 with the points used here, about 1,195 to
1,215 and 7,260 to 7,420 with others, 1,210 and 7,407 in the paper.

Among formulas of one length the one with the fewest ln, sqrt, / and 1/x is kept, because these are
undefined for some values of features (-|Q| stays, 1/|Q| goes); among these, the first that was
made.
"""

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache, reduce
from itertools import product
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .. import streams
from ..errors import BrlbenchError, InvalidInput
from ..files import atomic_write, cache_folder, read_bytes
from ..mdps.sparse import Floats
from ..memory import check_memory
from .formula import FEATURES, OPERATORS, VARIADIC, Formula, Token, operator

SETS = {"F2": 12, "F3": 43, "F4": 226, "F5": 1213, "F6": 7411}
"""The names of the sets and their sizes."""

_NUM_POINTS = 1000
_SEED = 5
_MOST_TRIED = 2_000_000  # formulas; a minute makes about 400,000
_FEW = 1000  # formulas
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "abs": np.abs,
    "opposite": np.negative,
    "sqrt": np.sqrt,
    "ln": np.log,
    "inverse": np.reciprocal,
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "min": np.minimum,
    "max": np.maximum,
    "/": np.divide,
    "avg": np.add,  # then divided
}
_PARTIAL = {"sqrt", "ln", "inverse", "/"}


class _Candidate(NamedTuple):
    tokens: tuple[Token, ...]
    values: Floats  # [points]

    @property
    def cost(self) -> tuple[int, int]:
        return len(self.tokens), sum(token in _PARTIAL for token in self.tokens)


@cache
def formula_set(name: str) -> tuple[Formula, ...]:
    """The formulas of F2, …, F6, the shortest first; made once, then kept in the cache folder."""
    path = _cache_file(name)
    with suppress(BrlbenchError, UnicodeDecodeError):
        formulas = _parse_set(name, read_bytes(path).decode())
        if formulas:
            return formulas
    formulas = generate(int(name[1:]))
    rows = (" ".join(map(str, formula.tokens)) for formula in formulas)
    text = "\n".join([f"{name}: {len(formulas)}", *rows]) + "\n"
    with suppress(BrlbenchError):  # without a cache it is made again
        atomic_write(path, text.encode(), overwrite=True)
    return formulas


def _parse_set(name: str, text: str) -> tuple[Formula, ...]:
    """The formulas of a set from the text of its file; none if the file is damaged."""
    lines = text.splitlines()
    if lines[:1] != [f"{name}: {len(lines) - 1}"]:
        return ()
    formulas = tuple(Formula(tuple(line.split())) for line in lines[1:])
    return () if any(formula.weights for formula in formulas) else formulas


def _cache_file(name: str) -> Path:
    """The file of a set; it can be neither read nor written if there is no cache."""
    folder = cache_folder("formulas")
    if folder is None:
        return Path(os.devnull, name)
    digest = hashlib.sha256(np.__version__.encode())
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return folder / f"{name}-{digest.hexdigest()[:16]}.txt"


def generate(
    most_tokens: int,
    features: tuple[str, ...] = FEATURES,
    operators: tuple[str, ...] = OPERATORS,
    constants: tuple[float, ...] = (),
) -> tuple[Formula, ...]:
    """Make a set of formulas.

    Formulas of n tokens are made from shorter ones. Of formulas with the same values on all points
    one is enough. Two that only rank the points alike are both kept until the end, because longer
    formulas made of them can differ.
    """
    points = streams.generator("formulas", _SEED).uniform(-100, 100, (len(FEATURES), _NUM_POINTS))
    operands = [_Candidate((name,), points[FEATURES.index(name)]) for name in features]
    operands += [_Candidate((number,), np.full(_NUM_POINTS, number)) for number in constants]
    lengths: list[list[_Candidate]] = [[], operands]
    known: set[bytes] = set()
    shortest: dict[bytes, _Candidate] = {}  # by digest of their ranks
    tried = [0, 0]  # formulas of each length that can be made from shorter ones
    for length in range(1, most_tokens + 1):
        if length > 1:
            splits = (split for token in operators for split in _parts(token, length - 1))
            tried.append(sum(prod(len(lengths[part]) for part in split) for split in splits))
            _check_number(tried, most_tokens)
            lengths.append(_longer(lengths, length, known, operators))
        for candidate in lengths[length]:
            known.add(_digest(candidate.values))
            rank = _digest(_ranks(candidate.values))
            if rank not in shortest or candidate.cost < shortest[rank].cost:
                shortest[rank] = candidate
    return tuple(Formula(candidate.tokens) for candidate in shortest.values())


def _check_number(tried: list[int], most_tokens: int) -> None:
    """Raise if there are, or will be, too many formulas to try them all."""
    *_, before, number = tried
    if number > _FEW:  # the number grows by about the same factor with each token
        more = most_tokens + 1 - len(tried)
        number = int(number * min(max(1.0, number / max(before, 1)) ** more, _MOST_TRIED))
    remedy = "choose a smaller size, or fewer features, operators and constants"
    if number > _MOST_TRIED:
        raise InvalidInput(
            f"size = {most_tokens}: about {number:.0e} formulas would have to be tried, more than "
            f"{_MOST_TRIED:.0e}: {remedy}"
        )
    check_memory(number * _NUM_POINTS * 8, f"trying {number:,} formulas", remedy)


def _longer(
    lengths: list[list[_Candidate]], length: int, known: set[bytes], operators: tuple[str, ...]
) -> list[_Candidate]:
    """All formulas of a length with values that no shorter formula has, one for each."""
    candidates: dict[bytes, _Candidate] = {}

    def consider(name: str, operands: tuple[_Candidate, ...]) -> None:
        values = _apply(name, [operand.values for operand in operands])
        if not np.isfinite(values).all():
            return
        tokens = (*(token for operand in operands for token in operand.tokens), name)
        candidate, digest = _Candidate(tokens, values), _digest(values)
        if digest not in known and (
            digest not in candidates or candidate.cost < candidates[digest].cost
        ):
            candidates[digest] = candidate

    with np.errstate(all="ignore"):
        for name in operators:
            for parts in _parts(name, length - 1):
                for operands in product(*(lengths[part] for part in parts)):
                    consider(name, operands)
    return list(candidates.values())


def _parts(name: str, total: int) -> Iterator[tuple[int, ...]]:
    """The lengths that the operands of an operator can have if they have this many tokens."""
    symbol, count = operator(name)

    def divide(left: int, parts: int, least: int) -> Iterator[tuple[int, ...]]:
        if parts == 1:
            if left >= least:
                yield (left,)
            return
        for first in range(least, left - parts + 2):
            # The order of operands matters only for those that are not commutative.
            for others in divide(left - first, parts - 1, first if symbol in VARIADIC else 1):
                yield (first, *others)

    yield from divide(total, count, 1)


def _apply(name: str, values: list[Floats]) -> Any:
    """The values of an operator, computed from left to right as compiled code does."""
    symbol, count = operator(name)
    if count == 1:
        return _FUNCTIONS[symbol](*values)
    combined = reduce(_FUNCTIONS[symbol], values)
    return combined / count if symbol == "avg" else combined


def _ranks(values: Floats) -> Any:
    return np.unique(values, return_inverse=True)[1].astype(np.int16)


def _digest(numbers: Any) -> bytes:
    # Adding zero makes one number of 0 and -0.
    return hashlib.blake2b((numbers + 0).tobytes(), digest_size=16).digest()
