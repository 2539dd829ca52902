"""Distributions of users, named `module:name` or `module:name:parameter=value,…`."""

import re
from collections.abc import Callable
from typing import Any

from ..arguments import check_accepts, import_guest, parse_parameters
from ..beliefs.base import Family
from ..beliefs.own import PARTICLES, OwnDistribution, has_own_law
from ..errors import InvalidInput, reason

Find = Callable[[str, str], Any]
"""Imports `module:name`, which messages call as the second argument says."""

_PATH = re.compile(r"([A-Za-z_][\w.]*:[A-Za-z_][\w.]*)(?::(.*=.*))?")


def is_path(source: str) -> bool:
    """Whether a name has the form `module:name` or `module:name:parameter=value,…`."""
    return _PATH.fullmatch(source) is not None


def guest_distribution(source: str, find: Find = import_guest) -> Family:
    """Import a distribution, or what makes one from parameters.

    The parameter `particles` is how many draws stand for it as a prior.
    """
    made, particles = guest_object(source, find=find)
    if isinstance(made, Family) and not has_own_law(made):
        return made if made.name else made.named(source)
    return OwnDistribution(made, particles, source, source)


def guest_object(
    source: str, what: str = "distribution", find: Find = import_guest
) -> tuple[Any, int]:
    """A user's object, and the number of particles that stand for it."""
    match = _PATH.fullmatch(source)
    if match is None:
        raise InvalidInput(f"{source!r}: must be module:name or module:name:parameter=value")
    parameters = parse_parameters(filter(None, (match[2] or "").split(",")))
    particles = parameters.pop("particles", PARTICLES)
    return _make(find(match[1], what), source, parameters), particles


def _make(thing: Any, source: str, parameters: dict[str, Any]) -> Any:
    if not isinstance(thing, type) and hasattr(thing, "sample"):
        if parameters:
            raise InvalidInput(f"{source!r}: an object has no parameters: name its class")
        return thing
    if not callable(thing):
        raise InvalidInput(
            f"{source!r} is neither a distribution nor makes one: it must have num_states, "
            "num_actions and sample(rng), or be a class or a function that makes such an object"
        )
    check_accepts(thing, parameters, source.partition(":")[0] + f":{thing.__name__}")
    try:
        return thing(**parameters)
    except Exception as error:  # a user's code can raise anything
        raise InvalidInput(f"{source!r} can't be made: {reason(error)}") from error
