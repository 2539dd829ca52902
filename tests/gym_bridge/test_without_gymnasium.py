"""Gymnasium is an extra: all else works without it, and what does not names the extra."""

import subprocess
import sys
from pathlib import Path

import pytest

PIP = "pip install 'brlbench[gym]'"


def run(code: str, folder: Path) -> str:
    """Run code in a process that has no Gymnasium."""
    without = f"import sys; sys.modules['gymnasium'] = None\n{code}"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", without], cwd=folder, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_importing_works(tmp_path: Path) -> None:
    code = "import brlbench, brlbench.gym; print(brlbench.gym.PolicyAgent().name)"
    assert run(code, tmp_path) == "policy\n"


@pytest.mark.parametrize(
    "use",
    [
        "brlbench.gym.MdpEnv",
        "brlbench.gym.from_gym",
        "brlbench.distribution('gym:FrozenLake-v1')",
    ],
)
def test_using_it_names_the_extra(use: str, tmp_path: Path) -> None:
    code = f"""
import brlbench, brlbench.gym
try:
    {use}
except brlbench.InvalidInput as error:
    print(error)
"""
    assert run(code, tmp_path) == f"gymnasium is not installed: {PIP}\n"


def test_on_the_command_line(tmp_path: Path) -> None:
    code = """
sys.argv = ["brlbench", "distribution", "--from-gym", "FrozenLake-v1"]
from brlbench.cli import main
try:
    main()
except SystemExit as end:
    print(end.code)
"""
    assert run(code, tmp_path) == "1\n"


@pytest.mark.parametrize("module", ["gymnasium", "torch", "stable_baselines3"])
def test_nothing_else_imports_it(module: str, tmp_path: Path) -> None:
    code = "import sys, brlbench, brlbench.cli; brlbench.distribution('Maze'); brlbench.evaluate\n"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}print({module!r} in sys.modules)"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "False\n"
