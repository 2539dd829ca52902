"""Loads frozen benchmark sets."""

from ..errors import StoreError
from ..problems.frozen import HASHES, frozen_file
from ..protocol.experiment import Experiment
from .experiments import read_experiment


def frozen_set(name: str) -> Experiment:
    """A frozen set as an experiment."""
    path = frozen_file(name)
    experiment = read_experiment(path)
    if experiment.hash != HASHES[name]:
        raise StoreError(f"{path} is not the frozen set {name}: install brlbench again")
    return experiment
