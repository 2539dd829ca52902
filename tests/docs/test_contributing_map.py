"""CONTRIBUTING's map is complete and in order; its examples of a problem and a figure work."""

import re
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

import brlbench as bb
from brlbench.report.data import ExperimentData
from brlbench.results.summary import Summary

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src/brlbench"
TEXT = (ROOT / "CONTRIBUTING.md").read_text()


def section(title: str) -> str:
    """The text below a heading, until the next one of the same level."""
    return re.split(r"^## ", TEXT.partition(f"\n## {title}\n")[2], flags=re.MULTILINE)[0]


def rooms() -> list[str]:
    """What the first column of the map names, in its order."""
    table = section("Where things are").partition("\n###")[0]
    first_cells = re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)
    return [name.removesuffix("/") for cell in first_cells for name in re.findall("`(.*?)`", cell)]


def example(title: str, room: str) -> dict[str, Any]:
    """The names that a section's Python block defines, as a module of a room."""
    (code,) = re.findall(r"```python\n(.*?)```", section(title), re.DOTALL)
    namespace = {"__name__": f"brlbench.{room}.example", "__package__": f"brlbench.{room}"}
    exec(code, namespace)
    return namespace


def test_the_map_names_every_room_and_file() -> None:
    there = {path.name for path in PACKAGE.iterdir() if path.is_file() or any(path.glob("*.py"))}
    assert sorted(rooms()) == sorted(there)


def test_the_map_has_the_order_of_imports() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    layers = settings["contracts"][0]["layers"]
    assert [Path(room).stem for room in rooms()][-len(layers) :] == layers[::-1]


def test_what_the_map_names_exists() -> None:
    text = section("Where things are")
    named = re.findall(r"`([\w/]+/|[\w/]+\.(?:py|js))`", text)
    assert len(named) > 30
    missing = {
        name for name in named if not (PACKAGE / name).exists() and not (ROOT / name).exists()
    }
    assert missing == {"kernel.py"}  # each agent's folder has one


def test_the_problem_works(monkeypatch: pytest.MonkeyPatch) -> None:
    made = example("Add a problem", "problems")
    assert '`"Coins": coins`' in section("Add a problem")
    monkeypatch.setitem(bb.PROBLEMS, "Coins", made["coins"])
    experiment = bb.Experiment("Coins:number=3", "Coins:number=3", num_mdps=5, horizon=10)
    assert experiment.test.num_actions == 3
    result = bb.evaluate(bb.make_agent("random"), experiment)
    assert 0 < result.mean < sum(0.95**t for t in range(10))


def test_the_figure_works() -> None:
    summaries = [
        Summary(name, {}, name, np.ones(2), {"offline": seconds}, {})
        for name, seconds in (("psrl", 0.5), ("opps-ds", 2.0))
    ]
    figure = example("Add a figure", "report")["training_times"](
        ExperimentData("GC", "", {}, summaries)
    )
    assert isinstance(figure, Figure)
    (axes,) = figure.axes
    bars = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    assert [bar.get_width() for bar in bars] == [0.5, 2.0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["psrl", "opps-ds"]
