"""Running a study from Python."""

import threading
from pathlib import Path

import numpy as np
import pytest

import brlbench as bb
from brlbench.protocol import luck
from brlbench.results.adjusted import StartValues
from brlbench.storage import read_result
from helpers.made_studies import TINY, assert_complete, write_study

TROUBLED = """
[[agents]]
algorithm = "study_agents:Troubled"
parameters.trouble = "raise"
"""


@pytest.mark.usefixtures("in_process")
def test_a_study_runs_and_is_compared(tmp_path: Path) -> None:
    path = write_study(tmp_path, TINY + TROUBLED)
    status = bb.run(path, results=tmp_path / "out", workers=1)
    assert (status.done, status.total, status.left) == (1, 2, 0)
    assert_complete(path, tmp_path / "out", failures=1)
    said = repr(status)
    assert said.startswith("Status(1 of 2 jobs done, 1 failed, 0 left)\n  failed: study_agents:")
    assert "lost" in said
    assert bb.compare(tmp_path / "out").winners[0].label == "random"
    # A second run, in a thread without signals, has nothing to do.
    found = []
    again = threading.Thread(target=lambda: found.append(bb.run(str(path), str(tmp_path / "out"))))
    again.start()
    again.join()
    assert found[0].done == 1


@pytest.mark.usefixtures("in_process")
def test_a_thread_can_run_a_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_study(tmp_path, TINY)
    monkeypatch.chdir(tmp_path)
    found = []
    running = threading.Thread(target=lambda: found.append(bb.run(path, workers=1)))
    running.start()
    running.join()
    assert found[0].done == 1
    assert (tmp_path / "study-results").is_dir()


@pytest.mark.slow
def test_workers_are_told_the_expected_luck(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else each of them would estimate it, which can take a minute, within its limits."""
    made_up = StartValues([1.0, 2.0, 3.0], np.eye(3).tolist(), num_mdps=10**6)
    monkeypatch.setattr(luck, "estimate_start_values", lambda *_: made_up)
    monkeypatch.setattr(luck, "cache_folder", lambda name: None)
    monkeypatch.setattr(luck, "_known", {})
    text = "[[experiments]]\ntest = 'GC'\nnum_mdps = 100\nhorizon = 4\n"
    path = write_study(tmp_path, f"{text}[[agents]]\nalgorithm = 'random'\n")
    bb.run(path, tmp_path / "out", workers=1)
    [file] = (tmp_path / "out/results").rglob("*.parquet")
    expected = read_result(file).expected
    assert expected is not None
    assert expected.mean == [1.0, 2.0, 3.0]


def test_a_study_that_can_not_run_leaves_no_folder(tmp_path: Path) -> None:
    path = write_study(tmp_path, TINY)
    with pytest.raises(bb.InvalidInput, match="executor"):
        bb.run(path, tmp_path / "out", executor="nobody")
    with pytest.raises(bb.InvalidInput, match="workers"):
        bb.run(path, tmp_path / "out", workers=0)
    assert not (tmp_path / "out").exists()
