"""Experiments as Parquet files with one row per MDP."""

from pathlib import Path

import numpy as np

from ..errors import StoreError
from ..files import atomic_write
from ..problems import formats
from ..protocol.experiment import ARGUMENTS, Experiment
from .results import renamed_settings
from .tables import pack_table, read_table


def write_experiment(path: Path, experiment: Experiment, overwrite: bool = False) -> None:
    """Write an experiment: its settings, its distributions and its MDPs."""
    columns = {
        "mdp": np.arange(experiment.num_mdps),
        "probabilities": np.array(experiment.probabilities),
    }
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
    settings = renamed_settings(metadata["settings"])
    experiment = Experiment(
        formats.from_json(metadata["prior"]),
        formats.from_json(metadata["test"]),
        **{name: settings[name] for name in ARGUMENTS if name in settings},
        mdps=table["probabilities"].to_numpy(),
    )
    if experiment.hash != metadata["hash"]:
        raise StoreError(f"{path} is damaged: its MDPs don't match its hash; make it again")
    return experiment
