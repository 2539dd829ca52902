from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import brlbench as bb
from brlbench.analysis.significance import paired_z_test
from brlbench.errors import InvalidInput, StoreError
from brlbench.report.data import ExperimentData
from brlbench.report.loading import load
from brlbench.results.compact import write_summaries
from brlbench.results.sealed import pack_table, read_table
from brlbench.storage import write_result
from helpers.shell import Shell, assert_error


def made(folder: Path, *agents: str, **settings: Any) -> Path:
    """Real results of some agents."""
    folder.mkdir()
    for name in agents:
        experiment = bb.Experiment("GC", "GC", num_mdps=100, horizon=5, **settings)
        result = bb.evaluate(bb.make_agent(name), experiment)
        write_result(folder / f"{name}.parquet", result)
    return folder


def write_compact_file(path: Path, experiments: Sequence[ExperimentData]) -> None:
    write_summaries(path, [(each.header, each.summaries) for each in experiments])


def test_reports_of_a_compact_file_are_those_of_the_results(tmp_path: Path, shell: Shell) -> None:
    results = made(tmp_path / "results", "random", "optimal", "epsilon-greedy")
    (tmp_path / "small").mkdir()
    file = tmp_path / "small/some.parquet"
    assert shell("compact", results, "--output", file).code == 0
    [one], [other] = load(results).experiments, load(file).experiments
    assert (one.name, one.hash, one.settings) == (other.name, other.hash, other.settings)
    assert [summary.label for summary in one.summaries] == [
        summary.label for summary in other.summaries
    ]
    for summary, again in zip(one.summaries, other.summaries, strict=True):
        np.testing.assert_array_equal(summary.returns, again.returns)
        assert (summary.seconds, summary.parameters) == (again.seconds, again.parameters)
        assert (summary.machine, summary.overruns) == (again.machine, again.overruns)
    full = sum(path.stat().st_size for path in results.iterdir())
    assert file.stat().st_size < full
    assert_error(shell("compact", results, "--output", file), "exists already")


def test_gaps_in_lists_of_returns_are_refused(tmp_path: Path) -> None:
    columns = {"returns": pl.Series([[1.0, None], []], dtype=pl.List(pl.Float64))}
    (tmp_path / "gaps.parquet").write_bytes(pack_table("compact", columns, {}))
    with pytest.raises(StoreError, match="is damaged"):
        read_table(tmp_path / "gaps.parquet", "compact")
    columns = {"returns": pl.Series([[1.0, 2.0], []], dtype=pl.List(pl.Float64))}
    (tmp_path / "none.parquet").write_bytes(pack_table("compact", columns, {}))
    assert len(read_table(tmp_path / "none.parquet", "compact")[0]) == 2


def test_adjusted_scores_of_some_agents_are_not_compared_with_mean_returns(
    tmp_path: Path, shell: Shell
) -> None:
    [experiment] = load(made(tmp_path / "results", "random", "epsilon-greedy")).experiments
    greedy, random = experiment.summaries
    assert random.can_be_adjusted and greedy.can_be_adjusted
    old = replace(greedy, adjusted=None)
    mixed, again = tmp_path / "mixed.parquet", tmp_path / "again.parquet"
    write_compact_file(mixed, [replace(experiment, summaries=[old, random])])
    data = load(mixed)
    assert not any(summary.can_be_adjusted for summary in data.experiments[0].summaries)
    [note] = data.notes_on(data.experiments)
    assert str(note) == (
        "1 of 2 results on GC have no adjusted score, so mean returns are compared: epsilon-greedy"
    )
    assert paired_z_test(random, old) == paired_z_test(random.returns, greedy.returns)
    # Nothing is lost in compact files.
    assert shell("compact", mixed, "--output", again).code == 0
    [stored] = load(again, as_stored=True).experiments
    assert [each.can_be_adjusted for each in stored.summaries] == [False, True]


def test_own_results_join_those_of_a_compact_file(tmp_path: Path) -> None:
    results = made(tmp_path / "results", "random", "optimal")
    both = made(tmp_path / "both", "epsilon-greedy")
    others = tmp_path / "others.parquet"
    write_compact_file(others, load(results).experiments)
    [experiment] = load(both, others).experiments
    assert {summary.algorithm for summary in experiment.summaries} == {
        "random", "optimal", "epsilon-greedy"
    }  # fmt: skip
    # Once in the file, once as a result: the first one counts, and that is told.
    again = made(tmp_path / "again", "random")
    assert any("repeats random on GC" in note for note in load(others, again).notes)
    # In one folder they are found together.
    others.rename(both / "others.parquet")
    assert len(load(both).experiments[0].summaries) == 3


def test_a_report_on_a_file_is_named_after_it(tmp_path: Path, shell: Shell) -> None:
    results = made(tmp_path / "results", "random", "epsilon-greedy")
    write_compact_file(tmp_path / "some.parquet", load(results).experiments)
    assert shell("report", "some.parquet", "--format", "csv").code == 0
    assert (tmp_path / "some-report/agents.csv").exists()


def test_other_experiments_stay_apart(tmp_path: Path) -> None:
    both = made(tmp_path / "both", "random")
    others = load(made(tmp_path / "results", "random", seed=1)).experiments
    write_compact_file(both / "others.parquet", others)
    assert len(load(both).experiments) == 2


def test_what_single_decisions_are_needed_for_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "small").mkdir()
    (tmp_path / "own_features.py").write_text("def slowest(offline, decisions):\n    return 1.0\n")
    monkeypatch.syspath_prepend(tmp_path)
    results = made(tmp_path / "results", "random")
    write_compact_file(tmp_path / "small/some.parquet", load(results).experiments)
    with pytest.raises(InvalidInput, match="own_features:slowest can't be computed"):
        load(tmp_path / "small", feature="own_features:slowest")


def test_a_damaged_file_is_told(tmp_path: Path) -> None:
    both = made(tmp_path / "both", "random")
    write_compact_file(both / "others.parquet", load(both).experiments)
    data = bytearray((both / "others.parquet").read_bytes())
    data[len(data) // 2] ^= 1
    (both / "others.parquet").write_bytes(data)
    assert any("others.parquet is damaged" in note for note in load(both).notes)
