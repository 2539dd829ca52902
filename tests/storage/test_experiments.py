from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from brlbench import storage
from brlbench.agents import make_agent
from brlbench.beliefs.flat import FlatDirichlet
from brlbench.errors import StoreError
from brlbench.protocol import experiment as protocol_experiment
from brlbench.protocol.evaluate import evaluate
from brlbench.protocol.experiment import Experiment
from helpers.stored import experiment


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"trajectories_per_mdp": 3, "seed": 9},
        {"num_mdps": 1, "discount": 0.123456789},
        {"discount": 1.0, "episode": 5},
    ],
)
def test_experiments_come_back_bit_for_bit(tmp_path: Path, changes: dict[str, Any]) -> None:
    made = experiment(**changes)
    storage.write_experiment(tmp_path / "a", made)
    read = storage.read_experiment(tmp_path / "a")
    assert read.hash == made.hash
    assert read.settings() == made.settings()
    assert read.mdps.probability.tobytes() == made.mdps.probability.tobytes()
    one, other = (evaluate(make_agent("beb"), e).rewards for e in (made, read))
    np.testing.assert_array_equal(one, other)
    with pytest.raises(ValueError, match="read-only"):
        read.mdps.probability[0, 0] = 1


def test_mdps_that_are_too_many_to_hold_are_not_stored_but_drawn_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = experiment(num_mdps=5)
    monkeypatch.setattr(protocol_experiment, "_MOST_HELD", 70)
    storage.write_experiment(tmp_path / "a", experiment(num_mdps=5))
    assert pl.read_parquet(tmp_path / "a").columns == ["mdp"]
    read = storage.read_experiment(tmp_path / "a")
    assert read.hash == held.hash
    assert read.mdps.probability.tobytes() == held.mdps.probability.tobytes()


def test_an_experiment_s_file_has_its_distributions(tmp_path: Path) -> None:
    prior = FlatDirichlet(
        [[[0.1, 1 / 3]], [[1e-5, 7]]], [1, 2], [0.25, 0.75], 0.5, "two", "Two states"
    )
    made = Experiment(prior, prior, num_mdps=3, horizon=4)
    storage.write_experiment(tmp_path / "a", made)
    read = storage.read_experiment(tmp_path / "a")
    assert read.test.digest == read.prior.digest == prior.digest
    assert (read.test.name, read.test.description) == ("two", "Two states")


def test_stored_mdps_are_played_not_drawn_again(tmp_path: Path) -> None:
    """Another version of NumPy may draw other MDPs; the hash still holds."""
    made = experiment()
    other = made.mdps[::-1]
    made.__dict__["mdps"] = other
    storage.write_experiment(tmp_path / "a", made)
    read = storage.read_experiment(tmp_path / "a")
    np.testing.assert_array_equal(read.mdps.probability, other.probability)


def test_mdps_that_do_not_match_the_hash_are_refused(tmp_path: Path) -> None:
    made = experiment()
    assert made.hash
    made.__dict__["mdps"] = made.mdps[::-1]
    storage.write_experiment(tmp_path / "a", made)
    with pytest.raises(StoreError, match=r"is damaged: its MDPs don't match its hash; make it"):
        storage.read_experiment(tmp_path / "a")
