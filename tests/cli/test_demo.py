import json
import re
import shutil
from pathlib import Path

import numpy as np

from brlbench import storage
from helpers.shell import Shell


def test_the_demo_prints_tables_and_winners(demo: Path) -> None:
    printed = (demo.parent / "printed.txt").read_text()
    for experiment in ("GC", "GDL", "Grid"):
        assert f"{experiment}, 3 MDPs" in printed
        assert f"{experiment} from uniform:{experiment}, 3 MDPs" in printed
    assert printed.count("optimal") >= 6
    assert "72 of 72 jobs done" in printed
    assert "score-against-online-time.png" in printed
    *_, winners, commands = re.split("Winners:|Next:", printed)
    assert " ".join(winners.split()).count(" is best with ") >= 6
    assert "brlbench compare demo-results --offline 100ms --online 20us" in commands


def results_in(folder: Path) -> list[Path]:
    return sorted((folder / "results").rglob("*.parquet"))


def test_the_demo_leaves_results_a_figure_and_a_page(demo: Path) -> None:
    results = [storage.read_result(path) for path in results_in(demo)]
    assert len({(result.label, result.experiment_hash) for result in results}) == 72
    assert {result.settings["num_mdps"] for result in results} == {3}
    assert {result.settings["seed"] for result in results} == {1}
    figure = demo / "score-against-online-time.png"
    assert figure.read_bytes().startswith(b"\x89PNG")
    page = (demo / "report.html").read_text()
    assert page.startswith("<!doctype html>")
    assert page.count('"learning": {') == 6
    assert '"learning": null' not in page


def test_the_folder_says_what_was_run(demo: Path) -> None:
    """The study in it is the shipped one, with the chosen number of MDPs and seed."""
    study = (demo / "study.toml").read_text()
    assert study.startswith("# run with num_mdps = 3\n# run with seed = 1\n")


def test_the_demo_goes_on_where_it_stopped(demo: Path, shell: Shell) -> None:
    """Complete results stay; missing or damaged ones are played, and come out the same."""
    shutil.copytree(demo, "demo-results")
    first, second, *others = results_in(Path("demo-results"))
    complete = {path: path.stat().st_mtime_ns for path in others}
    rewards = [storage.read_result(path).rewards for path in (first, second)]
    first.unlink()
    second.write_bytes(second.read_bytes()[:-100])
    shell.monkeypatch.setattr("brlbench.cli.demo._write_figure_and_page", lambda *_: None)
    done = shell("demo", "--mdps", 3, "--seed", 1, "--workers", 1)
    assert (done.code, done.err) == (0, "")
    assert "72 jobs: 70 done, 0 failed, 2 to do" in done.out
    assert f"{second} is damaged: set aside" in done.out
    assert {path: path.stat().st_mtime_ns for path in others} == complete
    for path, before in zip((first, second), rewards, strict=True):
        np.testing.assert_array_equal(storage.read_result(path).rewards, before)


def test_results_say_how_they_were_made(demo: Path) -> None:
    results = [storage.read_result(path) for path in results_in(demo)]
    [result] = [
        r for r in results if r.parameters.get("beta") == 0.5 and r.settings["name"] == "Grid"
    ]
    assert json.loads(json.dumps(result.parameters)) == result.parameters
    assert result.settings["horizon"] == 250
