"""Comparing and reporting from Python: results, files and folders."""

import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import brlbench as bb
from brlbench.report.loading import load
from brlbench.results.result import Result
from brlbench.storage import write_result
from helpers.made_results import result, write_study

RNG = np.random.default_rng(7)
SHARED = RNG.random((40, 1, 5))


def made(algorithm: str, gain: float, online: int = 1000, **changes: Any) -> Result:
    rewards = SHARED + gain + 0.01 * RNG.random(SHARED.shape)
    return result(algorithm, rewards, nanoseconds=np.full(SHARED.shape, online), **changes)


@pytest.fixture
def results() -> list[Result]:
    """A slow good agent, a quick bad one, one in between, and the optimal one."""
    return [
        made("optimal", 2.0, 10),
        made("slow", 1.0, 9_000_000),
        made("quick", 0.0, 1000, offline_seconds=1e-6),
        made("middle", 0.5, 100_000),
    ]


def test_the_winners_the_table_and_the_tests(results: list[Result]) -> None:
    found = bb.compare(results, honest=False)
    assert [winner.label for winner in found.winners] == ["slow"]
    assert found.table["agent"].to_list() == ["slow", "middle", "quick"]
    assert found.table["winner"].to_list() == [True, False, False]
    assert found.tests["agent"].to_list() == ["middle", "quick"]
    expected = bb.paired_z_test(results[1], results[3])
    assert found.tests["z"][0] == pytest.approx(expected.z)
    assert found.tests["difference"][0] == pytest.approx(results[1].mean - results[3].mean)
    assert (found.tests["low"] < found.tests["difference"]).all()
    assert repr(found).startswith("GC: slow is best with ")
    assert found.notes == []
    # By default, the first quarter of the MDPs has no part in tests.
    others = bb.paired_z_test(results[1].returns[10:], results[3].returns[10:])
    assert bb.compare(results).tests["z"][0] == pytest.approx(others.z)


@pytest.mark.parametrize(
    ("offline", "online", "best"),
    [
        (None, "5ms", "middle"),
        (None, 5e-6, "quick"),
        ("1us", None, "quick"),
        (math.inf, "1m", "slow"),
    ],
)
def test_bounds(results: list[Result], offline: Any, online: Any, best: str) -> None:
    assert bb.compare(results, offline=offline, online=online).winners[0].label == best
    nothing = bb.compare(results, online="1ns")
    assert (nothing.winners, nothing.table.height, nothing.tests.height) == ([], 0, 0)
    assert "no agent is within the bounds" in nothing._repr_html_()


def test_a_notebook_shows_the_sentence_the_table_and_the_notes(results: list[Result]) -> None:
    shown = bb.compare([made("<b>", 3.0, machine={"processor": "other"}), *results])._repr_html_()
    assert "&lt;b&gt; is best" in shown
    assert "<td>★◆</td><td>&lt;b&gt;</td>" in shown
    assert "note: times come from different machines" in shown


def test_files_and_folders_join_results(results: list[Result], tmp_path: Path) -> None:
    for number, each in enumerate(results[:2]):
        write_result(tmp_path / f"{number}.parquet", each)
    found = bb.compare([str(tmp_path), *results[2:]])
    assert found.table.equals(bb.compare(results).table)
    assert bb.compare(tmp_path / "1.parquet").table["agent"].to_list() == ["slow"]


def test_one_experiment_at_a_time(results: list[Result], tmp_path: Path) -> None:
    write_study(tmp_path, ("beb", "random"))
    said = r"of 2 experiments \(GC, Grid\): choose one with experiment="
    with pytest.raises(ValueError, match=said):
        bb.compare(tmp_path)
    assert bb.compare(tmp_path, experiment="Grid").experiment.name == "Grid"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([], "^the list has no results"),
        (3, "^results = 3: must be results, or files or folders$"),
        ([3], "^3 is no result: must be one, or a file or a folder$"),
        ("nowhere", "^there is no nowhere"),
    ],
)
def test_what_is_no_result_is_named(given: Any, said: str) -> None:
    with pytest.raises(bb.InvalidInput, match=said):
        bb.compare(given)


def test_two_different_results_under_one_label_are_refused(tmp_path: Path) -> None:
    one, other = made("mine:Agent", 0.0), made("mine:Agent", 1.0)
    said = "hold different results of mine:Agent on GC: give one agent another name"
    with pytest.raises(bb.InvalidInput, match=said):
        bb.compare([one, other])
    for name, each in (("one", one), ("other", other)):
        write_result(tmp_path / f"{name}.parquet", each)
    with pytest.raises(bb.InvalidInput, match=rf"other\.parquet and .*one\.parquet {said}"):
        load(tmp_path)
    # The same result twice is one, and that is told.
    assert bb.compare([one, one]).notes == [f"left out: {one} repeats mine:Agent on GC"]
    # Runs under a deadline differ.
    settings = one.settings | {"deadline": 1.0}
    timed = [made("mine:Agent", gain, settings=settings) for gain in (0.0, 1.0)]
    assert len(bb.compare(timed).table) == 1


def test_a_report(results: list[Result], tmp_path: Path) -> None:
    built = bb.report(results, tmp_path / "report", ["csv", "html"])
    assert {path.name for path in built.files} == {"agents.csv", "report.html"}
    assert all(path.exists() for path in built.files)
    assert str(tmp_path / "report/agents.csv") in repr(built)
    bb.report(results, tmp_path / "report", "csv")  # nobody has changed what it made
    (tmp_path / "report/agents.csv").write_text("mine")
    with pytest.raises(bb.StoreError, match="exists already"):
        bb.report(results, tmp_path / "report", "csv")
    bb.report(results, tmp_path / "report", "csv", overwrite=True)


def test_the_report_can_be_called_whatever_was_imported() -> None:
    code = """
import importlib, sys
for first in ("brlbench", "brlbench.report.data"):
    for name in [name for name in sys.modules if name.startswith("brlbench")]:
        del sys.modules[name]
    importlib.import_module(first)
    import brlbench as bb
    try:
        bb.report([], "x")
    except ValueError:
        print("ok")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "ok\nok\n"


def test_importing_the_package_loads_little() -> None:
    code = """
import sys
before = set(sys.modules)
import brlbench
print(sorted(name for name in set(sys.modules) - before if "." not in name and name[0] != "_"))
dir(brlbench)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(eval(done.stdout))
    assert not loaded & {"numpy", "numba", "polars", "matplotlib", "pydantic", "rich", "html"}
