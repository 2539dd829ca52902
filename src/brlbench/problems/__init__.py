"""The distributions over MDPs that come with the package, by name, and those in files.

A name may have parameters: `DeepSea:size=20`. Prefixes go before a name or a file, several if you
like. `uniform:` makes a prior that knows only the rewards; `mixed:0.25:` takes a quarter of each
count from that one, and the rest from the distribution itself; `scaled:10:` multiplies all counts;
`around:20:` is a distribution around the mean MDP, with counts that sum to 20 per pair;
`shuffled:20:` is another one, in which agents can't know what an action does (`mdps.shuffling`).
`gym:FrozenLake-v1` is a tabular environment of Gymnasium.
"""

import inspect
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from ..arguments import check_names, parse_parameters
from ..errors import InvalidInput, did_you_mean, short
from ..mdps.dirichlet import FlatDirichlet
from ..mdps.shuffling import shuffled
from ..mdps.single import SingleMDP
from .chain import chain
from .deep_sea import deep_sea
from .formats import SUFFIXES, read, write
from .generalised_chain import gc, gc_appendix
from .generalised_double_loop import gdl
from .grid import grid
from .long_chain import long_chain
from .loop import loop
from .maze import maze
from .random_dense import random_dense
from .random_sparse import random_sparse
from .river_swim import river_swim

__all__ = ["PREFIXES", "PROBLEMS", "distribution", "parameters_of", "read", "write"]

PROBLEMS: dict[str, Callable[..., FlatDirichlet]] = {
    "GC": gc,
    "GC-appendix": gc_appendix,
    "GDL": gdl,
    "Grid": grid,
    "LongChain": long_chain,
    "Chain": chain,
    "Loop": loop,
    "Maze": maze,
    "RiverSwim": river_swim,
    "DeepSea": deep_sea,
    "Dense": random_dense,
    "Sparse": random_sparse,
}
_UNIFORM, _GYM = "uniform:", "gym:"


class _Prefix(NamedTuple):
    """A prefix with a number."""

    number: str  # its meaning
    example: str
    change: Callable[[FlatDirichlet, float], FlatDirichlet]


_NUMBERED = {
    "around:": _Prefix("the sum of each pair's counts", "20:Chain", FlatDirichlet.around),
    "shuffled:": _Prefix("the transitions seen of each pair", "20:DeepSea", shuffled),
    "mixed:": _Prefix("the share of uniform counts", "0.25:GC", FlatDirichlet.mixed),
    "scaled:": _Prefix("the factor of all counts", "10:GC", FlatDirichlet.scaled),
}
PREFIXES = re.compile(rf"(?:{_UNIFORM}|(?:{'|'.join(_NUMBERED)})[^:]*:)*")
"""Matches all prefixes before a name."""


def distribution(source: str | Path | FlatDirichlet) -> FlatDirichlet:
    """Find a distribution.

    Args:
        source: a name in `PROBLEMS`, perhaps with parameters, the path of a file, `gym:` and the id
            of an environment, or `uniform:`, `mixed:0.25:`, `scaled:10:`, `around:20:` or
            `shuffled:20:` before one of these. A distribution is returned as it is.
    """
    if isinstance(source, FlatDirichlet):
        return _without_overrides(source)
    if isinstance(source, Path):
        return read(source)
    if not isinstance(source, str):
        raise InvalidInput(
            f"the distribution is {short(source)}: must be a name, a file, a FlatDirichlet or a "
            "SingleMDP"
        )
    if source.startswith(_UNIFORM):
        return distribution(source.removeprefix(_UNIFORM)).uniform()
    for prefix in _NUMBERED:
        if source.startswith(prefix):
            return _changed(source, prefix)
    if source.startswith(_GYM):
        from .formats.gymnasium_tables import from_source

        return from_source(source.removeprefix(_GYM))
    name, _, assignments = source.partition(":")
    if name in PROBLEMS:
        return _build(name, assignments)
    if source.endswith(SUFFIXES) or os.path.isfile(source):
        return read(Path(source))
    raise InvalidInput(
        f"unknown distribution {source!r}{did_you_mean(name, PROBLEMS)}: must be one of "
        f"{', '.join(PROBLEMS)}, a file ({', '.join(SUFFIXES)}), {_GYM} and an environment's id, "
        f"or {_UNIFORM} before one of these"
    )


def _without_overrides(source: FlatDirichlet) -> FlatDirichlet:
    """The distribution; an InvalidInput if its class has another law than its base tells."""
    kind = type(source)
    base = SingleMDP if isinstance(source, SingleMDP) else FlatDirichlet
    for name, inherited in [*vars(FlatDirichlet).items(), *vars(SingleMDP).items()]:
        is_own = getattr(kind, name, None) is not getattr(base, name, None)
        if is_own and callable(inherited) and not name.startswith("__"):
            raise InvalidInput(
                f"the class {kind.__name__} has a {name} of its own, which agents and files would "
                f"not know: use {base.__name__} itself with other counts, or draw the MDPs and "
                "give them as mdps"
            )
    return source


def parameters_of(name: str) -> dict[str, int]:
    """The parameters of a problem with their defaults."""
    parameters = inspect.signature(PROBLEMS[name]).parameters
    return {parameter.name: parameter.default for parameter in parameters.values()}


def _changed(source: str, prefix: str) -> FlatDirichlet:
    text, _, rest = source.removeprefix(prefix).partition(":")
    number, example, change = _NUMBERED[prefix]
    try:
        value = float(text)
    except ValueError:
        raise InvalidInput(
            f"{source!r}: must be {prefix}, {number}, a colon, and a distribution, as in "
            f"{prefix}{example}"
        ) from None
    return change(distribution(rest), value)


def _build(name: str, assignments: str) -> FlatDirichlet:
    defaults = parameters_of(name)
    parameters = parse_parameters(filter(None, assignments.split(",")))
    check_names(parameters, defaults, name)
    try:
        problem = PROBLEMS[name](**parameters)
    except InvalidInput as error:
        raise InvalidInput(f"{name}: {error}") from None
    chosen = [f"{key}={value}" for key, value in parameters.items() if value != defaults[key]]
    return problem.named(f"{name}:{','.join(chosen)}" if chosen else name)
