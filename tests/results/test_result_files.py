import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from brlbench import memory, storage
from brlbench.agents import make_agent
from brlbench.errors import StoreError
from brlbench.protocol.evaluate import evaluate
from brlbench.results import sealed
from brlbench.results.result import Header, Result
from brlbench.results.schema import COLUMNS
from helpers.own_agents import Scripted
from helpers.stored import experiment


def assert_equal(one: Result, other: Result) -> None:
    for field in dataclasses.fields(Header):
        a, b = getattr(one, field.name), getattr(other, field.name)
        assert a == b
        assert type(a) is type(b)
    assert one.columns.keys() == other.columns.keys()
    for name, a in one.columns.items():
        b = other.columns[name]
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        assert a.tobytes() == b.tobytes()


def without_paths(result: Result) -> Result:
    columns = {name: rows for name, rows in result.columns.items() if not COLUMNS[name].is_path}
    return dataclasses.replace(result, columns=columns)


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
    result = evaluate(make_agent("epsilon-greedy"), experiment(**changes))
    path = tmp_path / "result.parquet"
    storage.write_result(path, result, keep_paths)
    if not keep_paths:
        result = without_paths(result)
    assert_equal(result, storage.read_result(path))
    assert storage.read_result(path).returns.tobytes() == result.returns.tobytes()


def test_extreme_numbers_come_back(tmp_path: Path) -> None:
    result = evaluate(make_agent("random"), experiment())
    rewards = result.columns["rewards"].copy()
    rewards[0, :6] = [-0.0, 5e-324, 1.7976931348623157e308, 0.1, -np.inf, np.nan]
    changed = dataclasses.replace(
        result,
        columns={**result.columns, "rewards": rewards},
        measured={**result.measured, "offline_seconds": 0.1 + 0.2},
    )
    storage.write_result(tmp_path / "a", changed, keep_paths=True)
    assert_equal(changed, storage.read_result(tmp_path / "a"))


def test_a_part_has_a_line_of_its_own() -> None:
    result = evaluate(make_agent("random"), experiment())
    measured = {"offline_seconds": result.offline_seconds}
    assert "per decision" not in repr(dataclasses.replace(result, measured=measured))


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
    assert metadata["settings"] == made.settings()
    assert metadata["settings"]["seed"] == 0
    assert metadata["experiment_hash"] == made.hash
    assert metadata["measured"]["offline_seconds"] > 0
    assert set(metadata["machine"]["versions"]) >= {"brlbench", "python", "numba", "numpy"}
    assert metadata["machine"]["calibration_microseconds"] > 0


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


def test_a_small_file_of_many_equal_rows_is_refused_before_it_expands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "bomb.parquet"
    storage.write_result(path, evaluate(make_agent("random"), experiment()))
    row = pl.read_parquet(path)[:1]
    header = pl.read_parquet_metadata(path) | {"digest": sealed.OPEN_SEAL}
    table = pl.concat([row] * 100_000).rechunk()
    table.write_parquet(path, row_group_size=100_000, metadata=header)
    path.write_bytes(sealed.sealed(path.read_bytes()))
    assert path.stat().st_size < 2_000_000
    monkeypatch.setattr(memory, "_machine_bytes", lambda: 10_000_000)
    with pytest.raises(StoreError, match=r"what it expands to would need .* MB of memory, more"):
        storage.read_result(path)
