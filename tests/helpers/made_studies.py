"""Studies for tests, and what comes of them."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from brlbench.storage import read_result

# An agent in Python that takes its time, fails, hangs or grows when it is told to.
AGENTS = """
import time
from dataclasses import dataclass


@dataclass
class Slow:
    seconds: float = 0.0
    luck: int = 0

    def train(self, prior, task, rng):
        self.actions = prior.num_actions

    def start(self, state, rng):
        self.rng = rng

    def act(self, state):
        time.sleep(self.seconds)
        return int(self.rng.integers(self.actions))

    def observe(self, state, action, next_state, reward):
        pass


@dataclass
class Troubled(Slow):
    trouble: str = "none"

    def train(self, prior, task, rng):
        super().train(prior, task, rng)
        if self.trouble == "training":
            raise RuntimeError("no idea")
        if self.trouble == "long training":
            time.sleep(60)

    def act(self, state):
        if self.trouble == "raise":
            raise ValueError("lost")
        if self.trouble == "nonsense":
            return 99
        if self.trouble == "hang":
            time.sleep(60)
        if self.trouble == "slow" and not hasattr(self, "has_slept"):
            self.has_slept = time.sleep(0.3)
        if self.trouble == "memory":
            self.hoard = [b"x" * 10_000_000 for _ in range(200)]
            time.sleep(60)
        if self.trouble == "exit":
            import os
            os._exit(3)
        return super().act(state)
"""

SMALL = """
title = "A small one"

[defaults]
num_mdps = 6
horizon = 5

[[experiments]]
test = "GC"

[[experiments]]
test = "GC"
prior = "uniform:GC"
trajectories = 2

[[agents]]
algorithm = "epsilon-greedy"
parameters.epsilon = [0.0, 0.5]

[[agents]]
algorithm = "opps-ds"
parameters.draws = 20

[[agents]]
algorithm = "test_agents:Slow"
parameters.luck = [1, 2]
"""

# Some seconds of work in small parts.
LONG = """
[defaults]
num_mdps = 15
horizon = 10

[[experiments]]
test = "GC"

[[experiments]]
test = "GDL"

[[agents]]
algorithm = "test_agents:Slow"
parameters.luck = [1, 2, 3]
parameters.seconds = [0.002, 0.01]

[[agents]]
algorithm = "epsilon-greedy"
parameters.epsilon = [0.0, 0.5]

[execution]
part = "0.2s"
workers = 2
"""


def write_study(folder: Path, text: str, name: str = "study.toml") -> Path:
    """A study file with the agents above beside it."""
    folder.mkdir(exist_ok=True)
    sys.modules.pop("test_agents", None)  # of another test
    (folder / "test_agents.py").write_text(AGENTS)
    path = folder / name
    path.write_text(text)
    return path


def command(*arguments: str | Path, **options: Any) -> "subprocess.Popen[str]":
    """Start brlbench in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "brlbench", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        **options,
    )


def run(*arguments: str | Path, **options: Any) -> tuple[int, str]:
    """Run brlbench: its exit code and what it printed."""
    process = command(*arguments, **options)
    output, _ = process.communicate(timeout=300)
    return process.returncode, output


def returns_in(folder: Path) -> dict[tuple[str, str], Any]:
    """The rewards of every result, by agent and experiment; each has one result at most."""
    found: dict[tuple[str, str], Any] = {}
    for path in folder.glob("results/*/*.parquet"):
        result = read_result(path)
        key = (result.label, result.experiment_hash)
        assert key not in found
        found[key] = result.rewards
    return found


def assert_same_results(one: Path, other: Path) -> None:
    expected, found = returns_in(one), returns_in(other)
    assert expected.keys() == found.keys()
    for key, rewards in expected.items():
        np.testing.assert_array_equal(found[key], rewards)


def assert_tidy(folder: Path) -> None:
    """Nothing is left but what a finished study keeps."""
    assert not list(folder.rglob("*.tmp"))
    assert not list((folder / "parts").iterdir())
    assert not (folder / "now.json").exists()
