"""The bounds that come with the package, for the test distributions of the frozen sets."""

import math
from functools import cache
from pathlib import Path
from typing import Any

from ...files import parse_json
from ...problems import frozen
from . import BayesOptimalBound

SHIPPED = Path(frozen.__file__).parent / "bayes-optimal-bounds.json"


def shipped_bound(
    test_digest: str, discount: float, horizon: float = math.inf
) -> BayesOptimalBound | None:
    """The bound for MDPs drawn from a distribution, if it is shipped.

    It holds for agents that know the distribution, so it holds for all others as well. If there are
    negative rewards, it holds for trajectories of at least the horizon that it was computed for.
    """
    entry = _shipped().get(test_digest)
    if entry is None or entry["discount"] != discount or horizon < entry.get("horizon", 1):
        return None
    return BayesOptimalBound(**entry["bound"])


@cache
def _shipped() -> dict[str, Any]:
    return dict(parse_json(SHIPPED.read_bytes()))
