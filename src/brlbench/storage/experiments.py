"""Experiments as Parquet files with one row per MDP."""

from pathlib import Path
from typing import Any

import numpy as np

from ..errors import StoreError
from ..files import atomic_write
from ..problems import formats
from ..protocol.experiment import ARGUMENTS, Experiment
from .checks import check, check_probabilities, is_settings, reading
from .results import renamed_settings
from .tables import pack_table, read_table


def write_experiment(path: Path, experiment: Experiment, overwrite: bool = False) -> None:
    """Write an experiment: its settings, its distributions and its MDPs."""
    columns: dict[str, Any] = {"mdp": np.arange(experiment.num_mdps)}
    if experiment.holds_mdps:  # else they are drawn again, and checked against the hash
        columns["probabilities"] = np.array(experiment.probabilities)
    metadata = {
        "settings": experiment.settings(),
        "hash": experiment.hash,
        "prior": formats.to_json(experiment.prior),
        "test": formats.to_json(experiment.test),
    }
    atomic_write(path, pack_table("experiment", columns, metadata), overwrite)


def read_experiment(path: Path) -> Experiment:
    """Read an experiment and check its hash."""
    table, metadata = read_table(path, "experiment")
    with reading(path):
        settings = renamed_settings(metadata["settings"])
        check({"settings": settings}, {"settings": is_settings})
        test, mdps = formats.from_json(metadata["test"]), None
        if "probabilities" in table.columns:
            mdps = table["probabilities"].to_numpy()
            check_probabilities(mdps, test.counts.row_start)
        experiment = Experiment(
            formats.from_json(metadata["prior"]),
            test,
            **{name: settings[name] for name in ARGUMENTS if name in settings},
            mdps=mdps,
            origin=settings.get("origin"),
        )
    if experiment.hash != metadata.get("hash"):
        raise StoreError(f"{path} is damaged: its MDPs don't match its hash; make it again")
    return experiment
