"""The README's and CONTRIBUTING's examples run as they are printed."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)


def run(code: str, folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], cwd=folder, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_two_commands_come_first() -> None:
    assert (ROOT / "README.md").read_text().splitlines()[2:5] == [
        "```sh",
        "scripts/demo   # sets up, then compares agents on the paper's six experiments: "
        "about a minute",
        "scripts/test   # sets up, then runs all tests",
    ]


@pytest.mark.slow
def test_python_examples(tmp_path: Path) -> None:
    use, agent, compare = blocks("python")
    (tmp_path / "my_agent.py").write_text(agent)
    score, seconds, test = run(use, tmp_path).splitlines()
    assert 35 < float(score.split()[0]) < 47
    assert 0 < float(seconds) < 1
    assert test.startswith("ZTest(z=")
    assert len(agent.splitlines()) <= 30
    assert 30 < float(run(compare, tmp_path).split()[0]) < 55


def test_problem_example(tmp_path: Path) -> None:
    (problem,) = blocks("toml")
    (tmp_path / "two-rooms.toml").write_text(problem)
    code = 'import brlbench as bb; print(bb.Experiment("two-rooms.toml", "two-rooms.toml"))'
    assert "two-rooms" in run(code, tmp_path)


def test_command_line_example(tmp_path: Path) -> None:
    _, commands, answers = blocks("sh")
    assert "brlbench compare" in answers
    lines = [line.split("#")[0].strip() for line in commands.splitlines()]
    script = "set -e\n" + "\n".join(line.replace("--mdps 500", "--mdps 5") for line in lines)
    folder = str(Path(sys.executable).parent)
    subprocess.run(
        ["bash", "-c", f'PATH="{folder}:$PATH"\n{script}'], cwd=tmp_path, check=True,
        capture_output=True,
    )  # fmt: skip
    assert (tmp_path / "result.parquet").exists()
