"""The examples run, where what they need is installed."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.slow
def test_recurrent_ppo(tmp_path: Path) -> None:
    pytest.importorskip("sb3_contrib", reason="pip install 'brlbench[sb3]'")
    done = subprocess.run(
        [sys.executable, EXAMPLES / "recurrent_ppo.py", "--steps", "3200", "--mdps", "5"],
        cwd=tmp_path, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    random, ppo, greedy, test = done.stdout.splitlines()
    assert random.startswith("random ")
    assert ppo.startswith("recurrent PPO(steps=3200) ")
    assert greedy.startswith("epsilon-greedy(epsilon=0.1) ")
    assert test.startswith("against random: ZTest(z=")
