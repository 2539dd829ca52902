"""Bounds that are known: those that come with the package, and those in users' files.

The package has those of the test distributions of the frozen sets. A user's file holds the bound of
one distribution. It is named NAME.bound.json, and reports find it below the folder of the results.
"""

import json
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from ...beliefs.flat import FlatDirichlet
from ...errors import InvalidInput
from ...files import PARSED_BYTES, atomic_write, check_free, parse_json, read_stored
from ...problems import frozen
from ...results.sealed import FORMAT, check_kind, reading
from ...schemas import parse_table
from ...values import Count, Discount, Text
from ..bayes_optimal import is_searchable, known_prior
from . import BayesOptimalBound, least_reward

SHIPPED = Path(frozen.__file__).parent / "bayes-optimal-bounds.json"
SUFFIX = ".bound.json"


class KnownBound(NamedTuple):
    """A bound, and what it bounds."""

    test: Text
    test_digest: Text
    discount: Discount
    horizon: Count
    """It holds for trajectories of at least this many decisions; in episodes, of just as many."""
    bound: BayesOptimalBound
    episode: Count | None = None

    def holds_for(self, settings: Mapping[str, Any]) -> bool:
        """Whether it bounds the agents of an experiment with these settings."""
        horizon, episode = settings.get("horizon", 0), settings.get("episode")
        if self.episode is None:
            is_as_long = horizon >= self.horizon and episode is None  # starting again can earn more
        else:  # without episodes, there is one
            is_as_long = (horizon, episode or horizon) == (self.horizon, self.episode)
        return bool(
            settings.get("test_digest") == self.test_digest
            and settings.get("discount") == self.discount
            and is_as_long
        )


def known_bound(
    settings: Mapping[str, Any], more: Iterable[KnownBound] = ()
) -> BayesOptimalBound | None:
    """The bound of an experiment, shipped or among some more; None if there is none.

    It holds for agents that know the test distribution, so it holds for all others as well. Of
    several, it is the one with the most beliefs. Taking the lowest would favour those that are
    too low by chance.
    """
    bounds = [known.bound for known in (*more, *_shipped()) if known.holds_for(settings)]
    return max(bounds, key=lambda bound: bound.beliefs, default=None)


@cache
def _shipped() -> list[KnownBound]:
    return [
        KnownBound(
            test=entry["test"],
            test_digest=digest,
            discount=entry["discount"],
            horizon=entry.get("horizon", 1),
            bound=BayesOptimalBound(**entry["bound"]),
            episode=entry.get("episode"),
        )
        for digest, entry in parse_json(SHIPPED.read_bytes()).items()
    ]


def check_bound_file(
    path: Path, prior: FlatDirichlet, horizon: int | None, overwrite: bool = False
) -> None:
    """Raise unless a bound can be written there; called before it is computed."""
    if not path.name.endswith(SUFFIX):
        raise InvalidInput(
            f"output = {str(path)!r}: must end with {SUFFIX}, by which reports find it"
        )
    if horizon is None and least_reward(prior.as_prior()) < 0:
        raise InvalidInput(
            f"horizon is not given, and {prior.name or 'the prior'} has negative rewards: give the "
            "decisions per trajectory of the experiment"
        )
    check_free(path, overwrite)


def write_bound(
    path: Path,
    prior: FlatDirichlet,
    discount: float,
    bound: BayesOptimalBound,
    horizon: int | None = None,
    overwrite: bool = False,
    episode: int | None = None,
) -> None:
    """Write the bound of a distribution for a discount, a horizon and episodes."""
    check_bound_file(path, prior, horizon, overwrite)
    known = known_prior(prior)
    if not is_searchable(known):
        episode = episode or horizon
    is_of_horizon = episode is not None or least_reward(known) < 0
    content = {
        "kind": "bound",
        "format": FORMAT,
        "test": prior.name or "",
        "test_digest": prior.digest,
        "discount": discount,
        # Without negative rewards, shorter trajectories only have lower returns.
        "horizon": horizon if is_of_horizon else 1,
        "bound": bound._asdict(),
        **({} if episode is None else {"episode": episode}),
    }
    atomic_write(path, json.dumps(content, indent=1).encode() + b"\n", overwrite)


def read_bound(path: Path) -> KnownBound:
    """Read a bound."""
    data = read_stored(path, PARSED_BYTES)
    with reading(path):
        content = parse_json(data)
        check_kind(path, content, "bound")
        names = [name for name in KnownBound._fields if name != "episode" or name in content]
        return parse_table(KnownBound, {name: content[name] for name in names})
