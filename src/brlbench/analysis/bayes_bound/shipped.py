"""The bounds that come with the package, for the test distributions of the frozen sets."""

from functools import cache
from pathlib import Path
from typing import Any

from ...files import parse_json
from ...problems import frozen
from . import BayesOptimalBound

SHIPPED = Path(frozen.__file__).parent / "bayes-optimal-bounds.json"


def shipped_bound(test_digest: str, discount: float) -> BayesOptimalBound | None:
    """The bound for MDPs drawn from a distribution without negative rewards, if it is shipped.

    It holds for agents that know the distribution, so it holds for all others as well.
    """
    found = _shipped().get(test_digest)
    if found is None or found["discount"] != discount:
        return None
    return BayesOptimalBound(**found["bound"])


@cache
def _shipped() -> dict[str, Any]:
    return dict(parse_json(SHIPPED.read_bytes()))
