"""The README's and CONTRIBUTING's examples run as they are printed."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from helpers.forgetting import forgotten_modules
from helpers.run_page import Block, run_python

ROOT = Path(__file__).parents[2]


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The test's folder, from which code and commands run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    with forgotten_modules(tmp_path):
        yield tmp_path


def run(code: str) -> str:
    return run_python(Block(1, "python", None, code), "README.md", {})


def mean(printed: str) -> float:
    """The score in the first line, which is a result."""
    return float(re.findall(r" on GC: (?:score|mean return) (\S+)", printed)[0])


def test_two_commands_come_first() -> None:
    assert (ROOT / "README.md").read_text().splitlines()[2:5] == [
        "```sh",
        "scripts/demo   # sets up, then compares agents on the paper's six experiments: "
        "a few minutes",
        "scripts/test   # sets up, then runs all tests",
    ]


def test_it_is_short() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= 150


@pytest.mark.slow
def test_python_examples(here: Path) -> None:
    use, agent = blocks("python")
    use = use.replace("num_mdps=500", "num_mdps=100")
    score, winners, pair = run(use).splitlines()
    assert 35 < mean(score) < 47
    assert winners.startswith("GC within online ≤ 100 µs: epsilon-greedy(epsilon=0.0) is best")
    assert pair.startswith(
        "GC: epsilon-greedy(epsilon=0.0) is better than bamcp(simulations=100), by"
    )
    assert (here / "learning.pdf").exists()
    (here / "my_agent.py").write_text(agent)
    own = "from my_agent import Thompson\n" + use.replace(
        'bb.make_agent("epsilon-greedy", epsilon=0.0)', "Thompson(every=20)"
    )
    assert len(agent.splitlines()) <= 22
    assert 28 < mean(run(own.partition("found = ")[0])) < 45


@pytest.mark.slow
def test_as_a_new_user(demo: Path, tmp_path: Path) -> None:
    """All lines of the opening in order, in a copy of the project.

    The demo goes on with most of its results there.
    """
    project = tmp_path / "brlbench"
    shutil.copytree(ROOT, project, ignore=shutil.ignore_patterns(".*_cache", ".venv", ".git"))
    (project / ".venv").symlink_to(sys.prefix)  # what setting up would make; CI starts without
    os.utime(project / "pyproject.toml", (0, 0))
    shutil.copytree(demo, project / "demo-results")
    (project / "demo-results/report.html").unlink()
    next((project / "demo-results/results").rglob("*.parquet")).unlink()
    two_commands, join, *_ = blocks("sh")
    small = two_commands.replace("scripts/demo", "scripts/demo --mdps 3 --seed 1")
    here_only = "scripts/test --numprocesses 0 tests/test_streams.py"
    run_script(small.replace("scripts/test", here_only), project)
    assert (project / "demo-results/report.html").exists()
    (project / "my_agent.py").write_text(blocks("python")[1])
    (project / "mine.toml").write_text(blocks("toml")[0].replace("[10, 50]", "250"))
    run_script(join.replace("--results mine", "--results mine --workers 1"), project)
    report = (project / "mine/report/report.html").read_text()
    assert "my_agent:Thompson" in report
    assert "bamcp" in report


def run_script(commands: str, folder: Path) -> None:
    lines = [line.split("#")[0].strip() for line in commands.splitlines()]
    path = f"{Path(sys.executable).parent}:$PATH"
    script = f'set -e\nPATH="{path}"\n' + "\n".join(lines)
    done = subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
