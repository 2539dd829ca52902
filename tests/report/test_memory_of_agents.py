"""The memory of agents on its way from results to tables."""

import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from brlbench.agents import make_agent
from brlbench.errors import StoreError
from brlbench.protocol.evaluate import evaluate
from brlbench.protocol.playing import Part, play_part
from brlbench.protocol.recording import make_part
from brlbench.protocol.training import Training, save
from brlbench.report.answers import answer
from brlbench.report.data import ReportData
from brlbench.report.export import agents_json, csv_of
from brlbench.report.latex import render_table
from brlbench.report.loading import load
from brlbench.report.tables import agents_table, best_table, everyone_table
from brlbench.results.compact import NULLABLE, read_summaries, write_summaries
from brlbench.results.files import pack_part, read_part
from brlbench.results.result import Result
from brlbench.results.sealed import pack_table, read_table
from brlbench.results.summary import summarise
from brlbench.storage import read_result, write_result
from brlbench.storage.agents import pack_agent, unpack_agent
from helpers.made_results import experiment, summary
from helpers.shell import Shell
from helpers.stored import experiment as made_experiment
from helpers.stored import trained

SIZES = {"a": 5 * 2**20, "b": None, "c": 300 * 2**20}
AGENTS = [
    replace(summary(name, np.arange(40.0)), quantities={"peak_bytes": size})
    for name, size in SIZES.items()
]
FOUND = answer(experiment(AGENTS))


def result(peak_bytes: int | None) -> Result:
    result = evaluate(make_agent("random"), made_experiment())
    measured = {**result.measured, "peak_bytes": peak_bytes}
    known = {name: number for name, number in measured.items() if number is not None}
    return replace(result, measured=known)


@pytest.mark.parametrize("size", [None, 0, 123_456_789])
def test_results_and_compact_files_keep_it(tmp_path: Path, size: int | None) -> None:
    one = result(size)
    assert summarise(one).peak_bytes == size
    write_result(tmp_path / "one.parquet", one)
    assert read_result(tmp_path / "one.parquet").peak_bytes == size
    [loaded] = load(tmp_path / "one.parquet").experiments
    assert [each.peak_bytes for each in loaded.summaries] == [size]
    assert loaded.summaries[0].first(2).peak_bytes == size
    write_summaries(tmp_path / "small.parquet", [(loaded.header, loaded.summaries)])
    [(_, again)] = read_summaries(tmp_path / "small.parquet")
    assert again.peak_bytes == size


def test_impossible_sizes_in_compact_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "small.parquet"
    write_summaries(path, [(FOUND.experiment.header, AGENTS)])
    assert [each.peak_bytes for _, each in read_summaries(path)] == list(SIZES.values())
    table, metadata = read_table(path, "compact", nullable=NULLABLE)
    wrong = table.with_columns(peak_bytes=pl.lit(-1))
    path.write_bytes(pack_table("compact", wrong.to_dict(), metadata))
    with pytest.raises(StoreError, match="damaged"):
        list(read_summaries(path))


@pytest.mark.parametrize("size", [None, 123_456_789])
def test_parts_and_trained_agents_keep_it(tmp_path: Path, size: int | None) -> None:
    made, path = trained(), tmp_path / "part.parquet"
    made = made._replace(training=Training(1.5, 0.5, size))
    experiment = made_experiment()
    played = play_part(made.agent, experiment, Part(0, 2), keep_decisions=True, keep_paths=False)
    played = played._replace(seconds=0.5, peak_bytes=size)
    part = make_part(made.agent, experiment, made.training, played, {})
    path.write_bytes(pack_part(part))
    again = read_part(path)
    assert (again.offline_seconds, again.offline_cpu_seconds) == (1.5, 0.5)
    assert (again.measured["playing_seconds"], again.peak_bytes) == (0.5, size)
    file = pack_agent(save(made))
    assert unpack_agent(file, "it").training == made.training


def test_tables_and_exports_have_it() -> None:
    for table in (agents_table, best_table, everyone_table):
        found = table([FOUND])
        assert found["peak_bytes"].dtype == pl.Int64
        assert dict(zip(found["agent"], found["peak_bytes"], strict=True)) == SIZES
    csv = pl.read_csv(io.BytesIO(csv_of(agents_table([FOUND]))))
    assert csv["peak_bytes"].to_list() == list(SIZES.values())
    (content,) = json.loads(agents_json(ReportData([FOUND.experiment], []), [FOUND]))["experiments"]
    assert [row["peak_bytes"] for row in content["agents"]] == list(SIZES.values())
    unknown = agents_table([answer(experiment([summary("a", np.arange(40.0))]))])
    assert unknown["peak_bytes"].dtype == pl.Int64


def test_latex_has_it() -> None:
    table = render_table("agents", FOUND)
    rows = [line.split(" & ") for line in table.splitlines() if line.count(" & ") == 6]
    mine = "$\\diamond$~"  # the mark of users' agents
    cells = {row[0].strip().removeprefix(mine): row[3] for row in rows}
    assert table.count(mine) == 3
    assert cells == {"Agent": "Memory", "a": "5.0 MiB", "b": "--", "c": "300 MiB"}


def test_notebooks_and_the_terminal_show_it(tmp_path: Path, shell: Shell) -> None:
    assert "5.0 MiB" in result(5 * 2**20)._repr_html_()
    assert "MiB" not in result(None)._repr_html_()
    path, older = tmp_path / "new.parquet", tmp_path / "older.parquet"
    write_summaries(path, [(FOUND.experiment.header, AGENTS)])
    done = shell("compare", path, "--all")
    assert done.code == 0, done
    assert "memory" in done.out and "300 MiB" in done.out
    write_summaries(older, [(FOUND.experiment.header, [summary("a", np.arange(40.0))])])
    done = shell("compare", older, "--all")
    assert done.code == 0, done
    assert "memory" not in done.out
