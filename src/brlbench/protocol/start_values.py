"""Where expected start values come from: shipped for the frozen sets, kept, or estimated now."""

import hashlib
import json
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import StoreError
from ..files import atomic_write, cache_folder, parse_json, read_bytes
from ..problems import frozen
from .experiment import Experiment
from .luck import (
    NUM_BASELINES,
    OnDrawn,
    StartValues,
    enough_mdps,
    estimate_start_values,
    greedy_policy,
)

SHIPPED = Path(frozen.__file__).parent / "start-values.json"

_known: dict[str, StartValues] = {}


def key(experiment: Experiment) -> str:
    """A digest of all that expected start values depend on."""
    names = (experiment.prior.digest, experiment.test.digest)
    text = json.dumps([*names, experiment.discount, experiment.horizon])
    return hashlib.sha256(text.encode() + greedy_policy(experiment).tobytes()).hexdigest()


def known_start_values(experiment: Experiment) -> StartValues | None:
    """The expected start values if they were shipped, or found before by this process."""
    name = key(experiment)
    return _known.get(name) or _shipped().get(name)


def remember(experiment: Experiment, values: StartValues) -> None:
    """Use these expected start values from now on in this process."""
    _known[key(experiment)] = values


def find_start_values(experiment: Experiment, on_drawn: OnDrawn | None = None) -> StartValues:
    """The expected start values; estimated, which can take a minute, unless they are kept.

    Shipped values are always used, whatever their precision, so that everyone uses the same.
    """
    found = known_start_values(experiment) or _kept(experiment)
    enough = key(experiment) in _shipped() or (found and found.num_mdps >= enough_mdps(experiment))
    if found is None or not enough:
        found = estimate_start_values(experiment, enough_mdps(experiment), on_drawn)
        _keep(experiment, found)
    remember(experiment, found)
    return found


@cache
def _shipped() -> dict[str, StartValues]:
    return {name: unpack(content) for name, content in parse_json(SHIPPED.read_bytes()).items()}


def _file(experiment: Experiment) -> Path | None:
    folder = cache_folder("start-values")
    return None if folder is None else folder / f"{key(experiment)}.json"


def _kept(experiment: Experiment) -> StartValues | None:
    path = _file(experiment)
    if path is None or not path.exists():
        return None
    with suppress(StoreError, ValueError):  # damaged: estimated again
        return unpack(parse_json(read_bytes(path)))
    return None


def _keep(experiment: Experiment, values: StartValues) -> None:
    path = _file(experiment)
    if path is not None:
        with suppress(StoreError):  # no room: estimated again the next time
            atomic_write(path, json.dumps(pack(values)).encode(), overwrite=True)


def pack(values: StartValues) -> dict[str, Any]:
    """Expected start values as plain data."""
    return {
        "mean": values.mean.tolist(),
        "covariance": values.covariance.tolist(),
        "num_mdps": values.num_mdps,
    }


def unpack(content: Any) -> StartValues:
    """Expected start values from plain data; ValueError if they are none."""
    try:
        values = StartValues(
            np.array(content["mean"], np.float64),
            np.array(content["covariance"], np.float64),
            int(content["num_mdps"]),
        )
    except (KeyError, TypeError) as error:
        raise ValueError(f"these are no start values: {error}") from None
    shapes = (values.mean.shape, values.covariance.shape)
    if shapes != ((NUM_BASELINES,), (NUM_BASELINES, NUM_BASELINES)) or values.num_mdps < 1:
        raise ValueError("these are no start values")
    if not (np.isfinite(values.mean).all() and np.isfinite(values.covariance).all()):
        raise ValueError("start values must be finite")
    return values
