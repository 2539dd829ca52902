"""The distributions over MDPs that come with the package, by name, and those in files.

A name may have parameters: `DeepSea:size=20`. Prefixes go before a name or a file, several if you
like. `uniform:` makes a prior that knows only the rewards; `mixed:0.25:` takes a quarter of each
count from that one, and the rest from the distribution itself; `scaled:10:` multiplies all counts;
`around:20:` is a distribution around the mean MDP, with counts that sum to 20 per pair;
`shuffled:20:` is another one, in which agents can't know what an action does; see
`beliefs.flat.shuffling`. `renumbered:7:` permutes the states, to tell whether an agent makes use of
their numbers. `gym:FrozenLake-v1` is a tabular environment of Gymnasium. `my_problems:river` is a
distribution of your own, in a module beside the study or in the current folder; see `beliefs.own`.
Installed packages can add names, see `plugins`.
"""

import inspect
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from .. import plugins
from ..arguments import check_names, import_named, parse_parameters
from ..beliefs.base import Distribution, Family
from ..beliefs.flat import FlatDirichlet
from ..beliefs.flat.shuffling import shuffled
from ..beliefs.own import OwnDistribution, has_own_law
from ..errors import InvalidInput, did_you_mean, short
from ..streams import generator
from ..values import INDEX, check
from .bandit import bandit
from .chain import chain
from .deep_sea import deep_sea
from .formats import SUFFIXES, read, write
from .garnet import garnet
from .generalised_chain import gc, gc_appendix
from .generalised_double_loop import gdl
from .goal_grid import goal_grid
from .grid import grid
from .guests import guest_distribution, is_path
from .long_chain import long_chain
from .loop import loop
from .maze import maze
from .random_dense import random_dense
from .random_mdp import random_mdp
from .random_sparse import random_sparse
from .reset_grid import grid5, grid10
from .river_swim import river_swim

__all__ = ["PREFIXES", "PROBLEMS", "distribution", "parameters_of", "read", "write"]

PROBLEMS: dict[str, Callable[..., Any]] = {
    "GC": gc,
    "GC-appendix": gc_appendix,
    "GDL": gdl,
    "Grid": grid,
    "LongChain": long_chain,
    "Chain": chain,
    "Loop": loop,
    "Maze": maze,
    "Grid5": grid5,
    "Grid10": grid10,
    "GoalGrid": goal_grid,
    "RiverSwim": river_swim,
    "DeepSea": deep_sea,
    "Dense": random_dense,
    "Sparse": random_sparse,
    "Garnet": garnet,
    "RandomMDP": random_mdp,
    "Bandit": bandit,
}
_UNIFORM, _GYM = "uniform:", "gym:"


def renumbered(problem: Family, seed: float) -> Family:
    """A problem whose states are permuted at random; the seed chooses the permutation."""
    number = check(int(seed) if seed == int(seed) else seed, "renumbered: the seed", INDEX)
    order = generator("renumbered states", number).permutation(problem.num_states)
    return problem.renumbered(order).named(f"renumbered:{number}:{problem.name}")


class _Prefix(NamedTuple):
    """A prefix with a number."""

    number: str  # its meaning
    example: str
    change: Callable[[Any, float], Family]
    only_flat: bool = True


_NUMBERED = {
    "around:": _Prefix("the sum of each pair's counts", "20:Chain", FlatDirichlet.around),
    "shuffled:": _Prefix("the transitions seen of each pair", "20:DeepSea", shuffled),
    "mixed:": _Prefix("the share of uniform counts", "0.25:GC", FlatDirichlet.mixed),
    "scaled:": _Prefix("the factor of all counts", "10:GC", FlatDirichlet.scaled),
    "renumbered:": _Prefix("the number of a permutation", "7:Grid", renumbered, False),
}
PREFIXES = re.compile(rf"(?:{_UNIFORM}|(?:{'|'.join(_NUMBERED)})[^:]*:)*")
"""Matches all prefixes before a name."""


def distribution(source: str | Path | Distribution, particles: int | None = None) -> Any:
    """Find a distribution; its class depends on the source.

    Args:
        source: a name in `PROBLEMS`, perhaps with parameters, the path of a file, `gym:` and the id
            of an environment, or `uniform:`, `mixed:0.25:`, `scaled:10:`, `around:20:`,
            `shuffled:20:` or `renumbered:7:` before one of these. A distribution is returned as it
            is. One of your own is any object with `num_states`, `num_actions` and `sample(rng)`, or
            `"module:name"` of such an object or of what makes one, perhaps with parameters:
            `"rivers:River:slip=0.2"`.
        particles: how many draws of a distribution of your own stand for it as the prior of
            compiled agents; 1,000 by default.
    """
    family = _find(source)
    if particles is None:
        return family
    if not isinstance(family, OwnDistribution):
        raise InvalidInput(f"particles = {short(particles)}: only for distributions of your own")
    return family.with_particles(particles)


def is_name(source: str) -> bool:
    """Whether a source is the name of a problem, perhaps with parameters or prefixes."""
    rest = PREFIXES.sub("", source, count=1)
    name = rest.partition(":")[0]
    is_known = name in PROBLEMS or name in plugins.listed(plugins.PROBLEMS)
    return rest != source or is_known or rest.startswith(_GYM)


def _find(source: str | Path | Distribution) -> Family:
    if isinstance(source, Family) and not has_own_law(source):
        return source
    if isinstance(source, Path):
        return _read(source)
    if not isinstance(source, str) and hasattr(source, "sample"):
        return OwnDistribution(source)
    if not isinstance(source, str):
        raise InvalidInput(
            f"the distribution is {short(source)}: must be a name, a file, a distribution of "
            "brlbench, or an object with num_states, num_actions and sample(rng)"
        )
    if source.startswith(_UNIFORM):
        return _flat(source.removeprefix(_UNIFORM), _UNIFORM).uniform()
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
        return _read(Path(source))
    others = plugins.listed(plugins.PROBLEMS)
    if name in others:
        return guest_distribution(source.replace(name, others[name], 1), import_named)
    if is_path(source):
        return guest_distribution(source)
    known = [*PROBLEMS, *others]
    raise InvalidInput(
        f"unknown distribution {source!r}{did_you_mean(name, known)}: must be one of "
        f"{', '.join(known)}, a file ({', '.join(SUFFIXES)}), {_GYM} and an environment's id, "
        f"module:name of your own, or {_UNIFORM} before one of these"
    )


def names_guest(source: str) -> bool:
    """Whether a name is that of a user's distribution, perhaps after prefixes."""
    prefixes = PREFIXES.match(source)
    rest = source[prefixes.end() :] if prefixes else source
    is_known = rest.startswith(_GYM) or rest.partition(":")[0] in PROBLEMS
    return not is_known and not os.path.isfile(rest) and is_path(rest)


def _read(path: Path) -> Family:
    family: Family = read(path)
    return family


def parameters_of(name: str) -> dict[str, Any]:
    """The parameters of a problem with their defaults."""
    parameters = inspect.signature(PROBLEMS[name]).parameters
    return {parameter.name: parameter.default for parameter in parameters.values()}


def _changed(source: str, prefix: str) -> Family:
    text, _, rest = source.removeprefix(prefix).partition(":")
    number, example, change, only_flat = _NUMBERED[prefix]
    try:
        value = float(text)
    except ValueError:
        raise InvalidInput(
            f"{source!r}: must be {prefix}, {number}, a colon, and a distribution, as in "
            f"{prefix}{example}"
        ) from None
    return change(_flat(rest, prefix) if only_flat else distribution(rest), value)


def _flat(source: str, prefix: str) -> FlatDirichlet:
    """A flat distribution; an InvalidInput that names the prefix for others."""
    problem = distribution(source)
    if not isinstance(problem, FlatDirichlet):
        raise InvalidInput(
            f"{prefix}{source}: {prefix} changes flat Dirichlet counts, and {source} has none: use "
            "it without this prefix"
        )
    return problem


def _build(name: str, assignments: str) -> Family:
    defaults = parameters_of(name)
    parameters = parse_parameters(filter(None, assignments.split(",")))
    check_names(parameters, defaults, name)
    try:
        problem: Family = PROBLEMS[name](**parameters)
    except InvalidInput as error:
        raise InvalidInput(f"{name}: {error}") from None
    chosen = [f"{key}={value}" for key, value in parameters.items() if value != defaults[key]]
    return problem.named(f"{name}:{','.join(chosen)}" if chosen else name)
