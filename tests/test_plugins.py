"""Packages add agents and problems, which are listed without importing them."""

import sys
from pathlib import Path

import pytest

import brlbench as bb
from brlbench.cli.completion import agent_names, problem_names
from helpers.shell import Shell

MODULE = '''
import brlbench as bb


class Lazy:
    """Does nothing twice."""

    def __init__(self, action=0):
        self.action = action

    def train(self, prior, task, rng): ...
    def start(self, state, rng): ...
    def act(self, state): return self.action
    def observe(self, state, action, next_state, reward): ...


def twice(number=2):
    return bb.FlatDirichlet([[[1.0] * number] * 2] * number, 1)
'''
ENTRIES = """[brlbench.agents]
lazy-one = lazy_package:Lazy
[brlbench.problems]
Twice = lazy_package:twice
"""


@pytest.fixture(autouse=True)
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed package."""
    folder = tmp_path / "installed"
    (folder / "lazy_package-1.0.dist-info").mkdir(parents=True)
    (folder / "lazy_package-1.0.dist-info/METADATA").write_text(
        "Name: lazy-package\nVersion: 1.0\n"
    )
    (folder / "lazy_package-1.0.dist-info/entry_points.txt").write_text(ENTRIES)
    (folder / "lazy_package.py").write_text(MODULE)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, "lazy_package", raising=False)


def test_they_are_listed_but_not_imported(shell: Shell) -> None:
    assert "lazy-one  lazy_package:Lazy, of an installed package" in shell("agents").out
    assert "Twice" in shell("problems").out
    assert "did you mean 'lazy-one'" in shell("agents", "lazy-on").err
    assert "lazy_package" not in sys.modules
    assert agent_names("lazy") == ["lazy-one"]
    assert problem_names("uniform:Tw") == ["uniform:Twice"]
    shown = shell("agents", "lazy-one").out
    assert "lazy-one (lazy_package:Lazy): Does nothing twice." in shown
    assert "action = 0" in shown


def test_they_are_loaded_by_their_names() -> None:
    experiment = bb.Experiment("Twice:number=3", num_mdps=2, horizon=4)
    assert experiment.test.num_states == 3
    assert bb.Experiment("uniform:Twice", "Twice", num_mdps=1).test.num_states == 2
    result = bb.evaluate(bb.make_agent("lazy-one", action=1), experiment, keep_paths=True)
    assert result.label == "lazy_package:Lazy(action=1)"
    assert result.actions is not None
    assert (result.actions == 1).all()
    with pytest.raises(bb.InvalidInput, match="did you mean 'action'"):
        bb.make_agent("lazy-one", acton=1)


def test_a_study_names_them(shell: Shell, tmp_path: Path) -> None:
    study = tmp_path / "study.toml"
    study.write_text(
        '[[experiments]]\ntest = "Twice"\nnum_mdps = 2\nhorizon = 3\n'
        '[[agents]]\nalgorithm = "lazy-one"\nparameters.action = [0, 1]\n'
    )
    assert shell("run", study, "--results", "results", "--dry-run", "--no-probes").code == 0
