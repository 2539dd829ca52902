"""CONTRIBUTING's example of a new agent works as it is printed."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COPIED = ("src", "tests", "docs", "benchmarks", "README.md", "pyproject.toml")


def new_files() -> dict[str, str]:
    """The blocks of "Add an agent" by the paths in the sentences before them."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    section = text.partition("## Add an agent\n")[2].partition("\n## Add a problem")[0]
    found = re.findall(r"^`(\S+)`[^`]*(?:`\w+`[^`]*)*:\n\n```\w+\n(.*?)^```$", section, re.M | re.S)
    assert len(found) == section.count("\n```") / 2
    return dict(found)


def apply(changes: str, path: Path) -> None:
    """Add the lines marked with + between the lines shown around them."""
    text = path.read_text()
    for change in changes.split("\n\n"):
        lines = change.strip("\n").split("\n")
        before = "\n".join(line[1:] for line in lines if not line.startswith("+"))
        assert text.count(before) == 1
        text = text.replace(before, "\n".join(line[1:] for line in lines))
    path.write_text(text)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project with the new agent."""
    folder = tmp_path_factory.mktemp("project")
    for name in COPIED:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, folder / name)
    for name, text in new_files().items():
        path = folder / name
        if path.exists():
            apply(text, path)
        else:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
    return folder


def run(project: Path, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=project,
        env={**os.environ, "PYTHONPATH": f"{project / 'src'}:{project}", "COLUMNS": "200"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_new_agent_is_listed(project: Path) -> None:
    assert "taking-turns" in run(project, "-m", "brlbench", "agents")
    index, page = (f"docs/algorithms/{name}.md" for name in ("index", "taking-turns"))
    run(project, "docs/generated.py", index, page)
    assert "(taking-turns.md)" in (project / index).read_text()
    assert "times an action is taken before the next" in (project / page).read_text()


@pytest.mark.slow  # it is compiled
def test_the_new_agent_keeps_the_contract(project: Path) -> None:
    tests = ["test_contract", "test_registry", "test_taking_turns"]
    files = [f"tests/agents/{name}.py" for name in tests]
    told = run(project, "-m", "pytest", "-q", *files, "-k", "taking-turns or taking_turns")
    assert int(re.findall(r"(\d+) passed", told)[0]) > 12
