import json
import re
import shutil
from pathlib import Path

import numpy as np

from brlbench import storage
from helpers.shell import Shell


def test_the_demo_ends_in_one_screen(demo: Path) -> None:
    """Winners in one table, where the page is, and the next two commands."""
    lines = (demo.parent / "printed.txt").read_text().splitlines()
    assert len(lines) <= 36
    assert any(line.startswith("Two cores take about a minute") for line in lines[:3])
    start = next(i for i, line in enumerate(lines) if line.startswith("Winners: "))
    before, table, (page, figure, *rest) = lines[:start], lines[start:-5], lines[-5:]
    assert "72 of 72 jobs done" in before
    for problem in ("GC", "GDL", "Grid"):
        for name in (f"{problem}  ", f"{problem} from uniform:{problem} "):
            (row,) = (line for line in table if line.startswith(name))
            assert re.search(r"\d ± \d+\.\d+  +[a-z]", row), row
    assert page.startswith("Page:    demo-results/report.html (")
    assert figure == "Figure:  demo-results/score-against-online-time.png"
    assert [line.split("  #")[0].strip() for line in rest] == [
        "Next:",
        "brlbench compare demo-results --offline 100ms --online 20us",
        "brlbench report demo-results",
    ]


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
