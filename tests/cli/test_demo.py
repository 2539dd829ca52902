import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import brlbench.cli.demo
from brlbench.protocol.evaluate import evaluate
from brlbench.protocol.result import Result
from brlbench import storage
from helpers.shell import Shell, outside


@pytest.fixture(scope="module")
def demo_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results of a demo with three MDPs in each experiment."""
    folder = tmp_path_factory.mktemp("demo")
    done = outside(folder, "demo", "--mdps", 3, "--seed", 1)
    assert (done.code, done.err) == (0, "")
    for experiment in ("GC", "GDL", "Grid"):
        assert f"{experiment}, 3 MDPs" in done.out
        assert f"{experiment} from uniform:{experiment}, 3 MDPs" in done.out
    assert done.out.count("optimal") >= 6
    assert "180/180 trajectories" in done.out
    assert "score-against-online-time.png" in done.out
    return folder / "demo-results"


def test_the_demo_leaves_results_a_figure_and_a_page(demo_folder: Path) -> None:
    files = sorted(demo_folder.iterdir())
    results = [storage.read_result(path) for path in files if path.suffix == ".parquet"]
    assert len(results) == 60
    assert len({(result.label, result.experiment_hash) for result in results}) == 60
    assert {result.settings["num_mdps"] for result in results} == {3}
    page, figure = [path for path in files if path.suffix != ".parquet"]
    assert figure.read_bytes().startswith(b"\x89PNG")
    assert page.name == "report.html"
    assert page.read_text().startswith("<!doctype html>")


def test_the_demo_goes_on_where_it_stopped(
    demo_folder: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is there is kept; what is missing or damaged is played, and comes out the same."""
    first, second, *others = sorted(demo_folder.glob("*.parquet"))
    kept = {path: path.stat().st_mtime_ns for path in others}
    rewards = [storage.read_result(path).rewards for path in (first, second)]
    first.unlink()
    second.write_bytes(second.read_bytes()[:-100])
    played = []

    def noted(*arguments: Any) -> Result:
        played.append(arguments)
        return evaluate(*arguments)

    monkeypatch.setattr(brlbench.cli.demo, "evaluate", noted)
    done = shell("demo", "--mdps", 3, "--seed", 1, "--output", demo_folder, "--workers", 1)
    assert (done.code, done.err) == (0, "")
    assert len(played) == 2
    assert {path: path.stat().st_mtime_ns for path in others} == kept
    for path, before in zip((first, second), rewards, strict=True):
        np.testing.assert_array_equal(storage.read_result(path).rewards, before)


def test_results_say_how_they_were_made(demo_folder: Path) -> None:
    path = next(demo_folder.glob("beb-beta=0.5_Grid_*.parquet"))
    result = storage.read_result(path)
    assert json.loads(json.dumps(result.parameters)) == result.parameters
    assert result.parameters["beta"] == 0.5
    assert result.settings["seed"] == 1
    assert result.settings["horizon"] == 250
