"""Gymnasium is an extra: all else works without it, and what does not names the extra."""

import subprocess
import sys
from pathlib import Path


def run(code: str, folder: Path) -> str:
    """Run code in a process that has no Gymnasium."""
    without = f"import sys; sys.modules['gymnasium'] = None\n{code}"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", without], cwd=folder, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_importing_works_and_using_it_names_the_extra(tmp_path: Path) -> None:
    code = """
import brlbench, brlbench.gym
from brlbench.cli import main

print(brlbench.gym.PolicyAgent().name)
for use in (
    lambda: brlbench.gym.MdpEnv,
    lambda: brlbench.gym.from_gym,
    lambda: brlbench.distribution("gym:FrozenLake-v1"),
):
    try:
        use()
    except brlbench.InvalidInput as error:
        print(error)
sys.argv = ["brlbench", "distribution", "--from-gym", "FrozenLake-v1"]
try:
    main()
except SystemExit as end:
    print(end.code)
"""
    refused = "gymnasium is not installed: pip install 'brlbench[gym]'"
    assert run(code, tmp_path).splitlines() == ["policy", *[refused] * 3, "1"]


def test_nothing_else_imports_it(tmp_path: Path) -> None:
    code = "import sys, brlbench, brlbench.cli; brlbench.distribution('Maze'); brlbench.evaluate\n"
    code += "print({'gymnasium', 'torch', 'stable_baselines3'} & sys.modules.keys())"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout == "set()\n"
