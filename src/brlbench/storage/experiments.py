"""Experiments as Parquet files with one row per MDP."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import StoreError
from ..files import atomic_write
from ..mdps.batch import MDPs
from ..problems import formats
from ..protocol.experiment import Experiment, arguments_in
from ..results.result import Settings
from ..results.sealed import pack_table, read_table, reading
from ..schemas import parse_table

_TOLERANCE = 1e-9  # of sums of probabilities


def write_experiment(path: Path, experiment: Experiment, overwrite: bool = False) -> None:
    """Write an experiment: its settings, its distributions and its MDPs."""
    columns: dict[str, Any] = {"mdp": np.arange(experiment.num_mdps)}
    places = None
    if experiment.holds_mdps:  # else they are drawn again, and checked against the hash
        mdps = experiment.mdps
        if experiment.has_plain_mdps:
            columns["probabilities"] = mdps.probability
        else:
            columns |= mdps.columns()
            places = mdps.places.place.tolist()
    metadata = {
        "settings": experiment.settings(),
        "hash": experiment.hash,
        "prior": formats.to_json(experiment.prior),
        "test": formats.to_json(experiment.test),
        **({} if places is None else {"places": places, "binary": mdps.is_binary}),
    }
    atomic_write(path, pack_table("experiment", columns, metadata), overwrite)


def read_experiment(path: Path) -> Experiment:
    """Read an experiment and check its hash."""
    table, metadata = read_table(path, "experiment")
    with reading(path):
        settings = metadata["settings"]
        parse_table(Settings, settings)
        test = formats.from_json(metadata["test"])
        mdps: MDPs | NDArray[Any] | None = None
        if "places" in metadata:
            columns = {name: table[name].to_numpy() for name in table.columns}
            sizes = test.num_states, test.num_actions
            is_binary = bool(metadata.get("binary", False))
            mdps = MDPs.from_columns(*sizes, metadata["places"], columns, is_binary)
        elif "probabilities" in table.columns:
            mdps = table["probabilities"].to_numpy()
            check_probabilities(mdps, test.frame.places.row_start)
        experiment = Experiment(
            formats.from_json(metadata["prior"]),
            test,
            **arguments_in(settings),
            mdps=mdps,
            origin=settings.get("origin"),
        )
    if experiment.hash != metadata.get("hash"):
        raise StoreError(f"{path} is damaged: its MDPs don't match its hash; make it again")
    return experiment


def check_probabilities(mdps: NDArray[Any], row_start: NDArray[np.int64]) -> None:
    """Raise ValueError unless the probabilities [n, E] of each pair of each MDP sum to 1."""
    sums = np.add.reduceat(mdps, row_start[:-1], axis=1)
    # Written so that NaN is refused too.
    if not (mdps >= 0).all() or not (np.abs(sums - 1) <= _TOLERANCE).all():
        raise ValueError("probabilities don't sum to 1")
