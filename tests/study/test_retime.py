"""Times measured anew: all else in files stays bit for bit."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import brlbench as bb
from brlbench.errors import InvalidInput
from brlbench.results.compact import ExperimentHeader, read_summaries, write_summaries
from brlbench.results.summary import Summary, summarise
from brlbench.storage import read_result, write_result
from brlbench.study.retime import retime
from helpers.own_agents import Learner
from helpers.shell import Shell

OLD = {"offline": 1e3, "mean": 1e3, "median": 1e3, "p95": 1e3, "max": 1e3, "total": 1e3}


def made(name: str = "random", **arguments: float) -> bb.Result:
    settings = {"num_mdps": 5, "horizon": 20, **arguments}
    return bb.evaluate(bb.make_agent(name), bb.Experiment("GC", **settings))  # type: ignore[arg-type]


def write(path: Path, *results: bb.Result) -> list[Summary]:
    """A compact file of results with old times."""
    summaries = [replace(summarise(each), seconds=OLD, machine={}) for each in results]
    settings = results[0].settings
    header = ExperimentHeader(settings["name"], results[0].experiment_hash, settings)
    write_summaries(path, [(header, summaries)])
    return summaries


def test_a_compact_file_gets_new_times(tmp_path: Path, shell: Shell) -> None:
    path = tmp_path / "small.parquet"
    before = write(path, made("random"), made("epsilon-greedy"))
    assert "new times of 2 of 2 results" in shell("retime", "small.parquet").out
    after = [summary for _, summary in read_summaries(path)]
    for old, new in zip(before, after, strict=True):
        assert new.returns.tobytes() == old.returns.tobytes()
        assert (new.label, new.parameters, new.stopped) == (old.label, old.parameters, old.stopped)
        assert all(0 < seconds < 10 for seconds in new.seconds.values())
        low, high = (new.quantities[f"processor_{end}_seconds"] for end in ("low", "high"))
        assert low <= new.seconds["processor"] <= high
        assert new.machine["timed"] and 0 <= new.machine["waiting_share"] <= 1


def test_a_result_loses_the_times_of_its_single_decisions(tmp_path: Path) -> None:
    path, result = tmp_path / "a.parquet", made(trajectories_per_mdp=2)
    write_result(path, replace(result, measured={**result.measured, "mean_seconds": 1e3}))
    [outcome] = retime([tmp_path])
    assert (outcome.num_results, outcome.omissions) == (1, {})
    again = read_result(path)
    assert again.online_seconds["mean"] < 1
    np.testing.assert_array_equal(again.trajectory_returns, result.trajectory_returns)
    np.testing.assert_array_equal(again.rewards, result.rewards)
    assert again.measured["peak_bytes"] == result.measured["peak_bytes"]
    with pytest.raises(InvalidInput, match="has no nanoseconds"):
        _ = again.nanoseconds


def test_results_that_are_played_otherwise_keep_their_times(tmp_path: Path) -> None:
    path = tmp_path / "small.parquet"
    wrong = replace(made(), columns={**made().columns, "return": made().columns["return"] + 1e-6})
    write(path, wrong, made("epsilon-greedy"))
    [outcome] = retime([path])
    [(name, reason)] = outcome.omissions.items()
    assert (name, reason) == ("random on GC", "its returns are others now, so its times stay")
    assert [s.seconds["mean"] == 1e3 for _, s in read_summaries(path)] == [True, False]


def test_classes_of_users_run_only_if_they_are_named(tmp_path: Path) -> None:
    path, kind = tmp_path / "own.parquet", "helpers.own_agents:Learner"
    experiment = bb.Experiment("GC", num_mdps=5, horizon=20)
    write(path, bb.evaluate(Learner(), experiment))
    [outcome] = retime([path])
    assert "name its class with --agent" in "".join(outcome.omissions.values())
    [outcome] = retime([path], [kind])
    assert outcome.omissions == {}


def test_what_cannot_be_timed_is_told(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="there are no results to time"):
        retime([tmp_path])
    entry = tmp_path / "a.entry.parquet"
    entry.touch()
    with pytest.raises(InvalidInput, match="is an entry"):
        retime([entry])
    entry.unlink()
    other = made()
    for name, result in {
        "late": made(deadline=1.0),
        "other": replace(other, settings={**other.settings, "prior": "GC-appendix"}),
    }.items():
        write(tmp_path / f"{name}.parquet", result)
    late, renamed = ("".join(each.omissions.values()) for each in retime([tmp_path]))
    assert "the clock decided" in late
    assert renamed == "GC is another problem now"
