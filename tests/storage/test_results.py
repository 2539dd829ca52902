import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from brlbench import storage
from brlbench.agents import make_agent
from brlbench.protocol.evaluate import evaluate
from brlbench.protocol.result import Result
from brlbench.storage.tables import pack_table, read_table
from helpers.own_agents import Scripted
from helpers.stored import experiment


def assert_equal(one: Result, other: Result) -> None:
    for field in dataclasses.fields(one):
        if field.name == "experiment":  # not stored
            continue
        a, b = getattr(one, field.name), getattr(other, field.name)
        if isinstance(a, np.ndarray):
            assert a.dtype == b.dtype
            assert a.tobytes() == b.tobytes()
            assert a.shape == b.shape
        else:
            assert a == b
            assert type(a) is type(b)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"trajectories_per_mdp": 3},
        {"num_mdps": 1, "horizon": 1},
        {"seed": 2**70},
        {"deadline": 0.1},
    ],
)
@pytest.mark.parametrize("keep_paths", [True, False])
def test_results_come_back_bit_for_bit(
    tmp_path: Path, changes: dict[str, Any], keep_paths: bool
) -> None:
    result = evaluate(make_agent("vdbe"), experiment(**changes))
    path = tmp_path / "result.parquet"
    storage.write_result(path, result, keep_paths)
    if not keep_paths:
        result = dataclasses.replace(result, states=None, actions=None)
    assert_equal(result, storage.read_result(path))
    assert storage.read_result(path).returns.tobytes() == result.returns.tobytes()


def test_extreme_numbers_come_back(tmp_path: Path) -> None:
    result = evaluate(make_agent("random"), experiment())
    rewards = result.rewards.copy()
    rewards[0, 0, :6] = [-0.0, 5e-324, 1.7976931348623157e308, 0.1, -np.inf, np.nan]
    changed = dataclasses.replace(result, rewards=rewards, offline_seconds=0.1 + 0.2)
    storage.write_result(tmp_path / "a", changed, keep_paths=True)
    assert_equal(changed, storage.read_result(tmp_path / "a"))


def test_results_of_a_plain_python_agent(tmp_path: Path) -> None:
    result = evaluate(Scripted([2, 1], name="mine"), experiment())
    storage.write_result(tmp_path / "a", result, keep_paths=True)
    assert_equal(result, storage.read_result(tmp_path / "a"))
    assert storage.read_result(tmp_path / "a").label == "mine(script=[2, 1])"


def test_what_a_result_s_file_says_about_itself(tmp_path: Path) -> None:
    made = experiment()
    storage.write_result(tmp_path / "a.parquet", evaluate(make_agent("beb", beta=2), made))
    metadata = json.loads(pl.read_parquet_metadata(tmp_path / "a.parquet")["brlbench"])
    assert (metadata["kind"], metadata["format"]) == ("result", 1)
    assert metadata["algorithm"] == "beb"
    assert metadata["parameters"]["beta"] == 2.0
    assert metadata["experiment"] == made.settings()
    assert metadata["experiment"]["seed"] == 0
    assert metadata["experiment_hash"] == made.hash
    assert metadata["offline_seconds"] > 0
    assert set(metadata["machine"]["versions"]) >= {"brlbench", "python", "numba", "numpy"}
    assert metadata["machine"]["calibration_microseconds"] > 0


@pytest.mark.parametrize("decisions", [True, False])
def test_results_of_older_versions_have_no_time_features_in_their_metadata(
    tmp_path: Path, decisions: bool
) -> None:
    result = evaluate(make_agent("beb"), experiment(deadline=0.1))
    storage.write_result(tmp_path / "a.parquet", result)
    table, metadata = read_table(tmp_path / "a.parquet", "result")
    del metadata["online_seconds"], metadata["overruns"]
    (tmp_path / "b.parquet").write_bytes(pack_table("result", table.to_dict(), metadata))
    older = storage.read_result(tmp_path / "b.parquet", decisions)
    assert_equal(dataclasses.replace(result, states=None, actions=None), older)
    assert older.online_seconds == result.online_seconds
    assert older.overruns == result.overruns


def test_plain_polars_reads_results(tmp_path: Path) -> None:
    result = evaluate(make_agent("beb"), experiment(trajectories_per_mdp=2))
    storage.write_result(tmp_path / "a.parquet", result, keep_paths=True)
    table = pl.read_parquet(tmp_path / "a.parquet")
    assert table["mdp"].to_list() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    assert table["trajectory"].to_list() == [0, 1] * 5
    np.testing.assert_array_equal(table["return"].to_numpy(), result.trajectory_returns.ravel())
    assert result.actions is not None
    assert table["rewards"].to_numpy().shape == (10, 20)
    np.testing.assert_array_equal(table["actions"].to_numpy(), result.actions.reshape(10, 20))
    assert set(table.schema.to_python().values()) <= {int, float, list}


def test_without_paths_only_rewards_and_times_are_kept(tmp_path: Path) -> None:
    storage.write_result(tmp_path / "a", evaluate(make_agent("random"), experiment()))
    columns = pl.read_parquet(tmp_path / "a").columns
    kept = ["rewards", "nanoseconds", "noise", "start_values"]
    assert columns == ["mdp", "trajectory", "return", "cpu_nanoseconds", *kept]
