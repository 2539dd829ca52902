"""The project that `brlbench new` makes works."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from helpers.shell import Shell, assert_error


@pytest.mark.slow  # its tests start processes
def test_a_new_project_runs(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = shell("new", "two-words")
    assert done.code == 0, done.err
    project = tmp_path / "two-words"
    assert not re.search("my.?agent", "".join(map(str, project.rglob("*"))), re.IGNORECASE)
    settings = tomllib.loads((project / "pyproject.toml").read_text())["project"]
    assert settings["entry-points"] == {"brlbench.agents": {"two-words": "two_words:TwoWords"}}
    steps = yaml.safe_load((project / ".github/workflows/test.yml").read_text())["jobs"]["test"]
    commands = [step["run"] for step in steps["steps"] if "run" in step]
    assert commands[0] == "pip install '.[test]'"
    assert set(settings["optional-dependencies"]) == {"test"}
    test = subprocess.run(
        [sys.executable, *commands[1].split()[1:], "-q", "-p", "no:cacheprovider"],
        cwd=project,
        env={**os.environ, "PYTEST_ADDOPTS": "-k 'plays or parameters or random'"},
        capture_output=True,
        text=True,
    )
    assert test.returncode == 0, test.stdout
    assert "4 passed" in test.stdout  # three rules, and the comparison with random actions
    study = project / "study.toml"
    study.write_text(study.read_text().replace("num_mdps = 100", "num_mdps = 2"))
    monkeypatch.chdir(project)
    monkeypatch.syspath_prepend(project / "src")
    for command in commands[2:]:
        done = shell(*command.split()[1:])
        assert done.code == 0, done.err
    assert (project / "report/report.html").exists()


@pytest.mark.parametrize("name", ["Mine", "my_agent", "-x", "random", "json", "psrl", "../x"])
def test_refused_names(shell: Shell, tmp_path: Path, name: str) -> None:
    done = shell("new", "--", name)
    assert done.code == 1
    assert f"name = {name!r}: " in done.err
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_replaced(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    assert_error(shell("new", "mine"), "mine exists already: choose another folder")
