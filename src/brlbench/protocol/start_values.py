"""Expected start values: shipped with the frozen sets, cached, or estimated now."""

import hashlib
import json
from contextlib import suppress
from functools import cache
from pathlib import Path

from ..errors import StoreError
from ..files import atomic_write, cache_folder, parse_json, read_bytes
from ..problems import frozen
from ..results.adjusted import StartValues
from .experiment import Experiment
from .luck import OnDrawn, enough_mdps, estimate_start_values, greedy_policy

SHIPPED = Path(frozen.__file__).parent / "start-values.json"

_known: dict[str, StartValues] = {}


def key(experiment: Experiment) -> str:
    """A digest of all that expected start values depend on."""
    names = (experiment.prior.digest, experiment.test.digest)
    text = json.dumps([*names, experiment.discount, experiment.horizon])
    return hashlib.sha256(text.encode() + greedy_policy(experiment).tobytes()).hexdigest()


def known_start_values(experiment: Experiment) -> StartValues | None:
    """The expected start values if they are shipped, or this process has computed them."""
    name = key(experiment)
    return _known.get(name) or _shipped().get(name)


def remember(experiment: Experiment, values: StartValues) -> None:
    """Use these expected start values from now on in this process."""
    _known[key(experiment)] = values


def find_start_values(experiment: Experiment, on_drawn: OnDrawn | None = None) -> StartValues:
    """The expected start values; estimated, which can take a minute, unless they are cached.

    Shipped values are always used, whatever their precision, so that everyone uses the same.
    """
    values = known_start_values(experiment) or _read_cached(experiment)
    is_shipped = key(experiment) in _shipped()
    if values is None or not (is_shipped or values.num_mdps >= enough_mdps(experiment)):
        values = estimate_start_values(experiment, enough_mdps(experiment), on_drawn)
        _cache(experiment, values)
    remember(experiment, values)
    return values


@cache
def _shipped() -> dict[str, StartValues]:
    return {
        name: StartValues.read(content)
        for name, content in parse_json(SHIPPED.read_bytes()).items()
    }


def _file(experiment: Experiment) -> Path | None:
    folder = cache_folder("start-values")
    return None if folder is None else folder / f"{key(experiment)}.json"


def _read_cached(experiment: Experiment) -> StartValues | None:
    path = _file(experiment)
    if path is None or not path.exists():
        return None
    with suppress(StoreError, ValueError):  # damaged: estimated again
        return StartValues.read(parse_json(read_bytes(path)))
    return None


def _cache(experiment: Experiment, values: StartValues) -> None:
    path = _file(experiment)
    if path is not None:
        with suppress(StoreError):  # no room: estimated again the next time
            atomic_write(path, json.dumps(vars(values)).encode(), overwrite=True)
