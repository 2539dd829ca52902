"""Studies for tests, and what comes of them."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from brlbench.protocol.evaluate import evaluate
from brlbench.storage import read_result
from brlbench.study.folder import Folder
from brlbench.study.plan import read_study
from helpers.processes import wait_for

# Agents in Python: one does nothing special, one waits at a gate, one waits there after its first
# trajectory, one fails when it is told to.
AGENTS = """
import os
import time
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Plain:
    luck: int = 0

    def train(self, prior, task, rng):
        self.actions = prior.num_actions

    def start(self, state, rng):
        self.rng = rng

    def act(self, state):
        return int(self.rng.integers(self.actions))

    def observe(self, state, action, next_state, reward):
        pass


@dataclass
class Gated(Plain):
    gate: str = ""

    def act(self, state):
        (Path(self.gate) / "reached").touch()
        while not (Path(self.gate) / "open").exists():
            time.sleep(0.01)
        return super().act(state)


@dataclass
class GatedLater(Gated):
    def start(self, state, rng):
        super().start(state, rng)
        first = Path(self.gate) / "first"
        self.is_free = not first.exists()
        first.touch()

    def act(self, state):
        return Plain.act(self, state) if self.is_free else super().act(state)


@dataclass
class Chatty(Plain):
    def act(self, state):
        print(self.luck, "blah " * 200_000)
        return super().act(state)


@dataclass
class Forger(Plain):
    def act(self, state):
        from brlbench.study import worker

        worker.PartFile = lambda *anything: "a lot of money"
        return 0


@dataclass
class Troubled(Plain):
    trouble: str = "none"

    def train(self, prior, task, rng):
        super().train(prior, task, rng)
        if self.trouble == "training":
            raise RuntimeError("no idea")
        if self.trouble == "long training":
            time.sleep(10_000)
        if self.trouble == "training memory":
            self.hoard = [b"x" * 10_000_000 for _ in range(80)]
            time.sleep(10_000)

    def act(self, state):
        if self.trouble == "raise":
            raise ValueError("lost")
        if self.trouble == "nonsense":
            return 99
        if self.trouble == "hang":
            time.sleep(10_000)
        if self.trouble == "slow" and not hasattr(self, "has_slept"):
            self.has_slept = time.sleep(0.15)
        if self.trouble == "memory":
            self.hoard = [b"x" * 10_000_000 for _ in range(80)]
            time.sleep(10_000)
        if self.trouble == "exit":
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
trajectories_per_mdp = 2

[[agents]]
algorithm = "epsilon-greedy"
parameters.epsilon = [0.0, 0.5]

[[agents]]
algorithm = "opps-ds"
parameters.draws = 20

[[agents]]
algorithm = "study_agents:Plain"
parameters.luck = [1, 2]
"""

TINY = """
[defaults]
num_mdps = 2
horizon = 5

[[experiments]]
test = "GC"

[[agents]]
algorithm = "random"
"""

# Every trajectory is a part of its own, and one of two jobs waits until its gate is opened.
GATED = """
[defaults]
num_mdps = 8
horizon = 5

[[experiments]]
test = "GC"

[[agents]]
algorithm = "study_agents:Gated"
parameters.gate = "GATE"

[[agents]]
algorithm = "random"

[execution]
part = "1us"
workers = 2
"""

ONLY_GATED = GATED[: GATED.index("[[agents]]", GATED.index("GATE"))] + "[execution]\nworkers = 1\n"


def write_study(folder: Path, text: str, name: str = "study.toml") -> Path:
    """A study file with the agents above beside it; GATE is the place of its gate, closed."""
    (folder / "gate").mkdir(parents=True, exist_ok=True)
    sys.modules.pop("study_agents", None)  # of another test
    (folder / "study_agents.py").write_text(AGENTS)
    path = folder / name
    path.write_text(text.replace("GATE", str(folder / "gate")))
    return path


def wait_at_gate(folder: Path) -> None:
    """Wait until an agent is at the gate of the study in a folder."""
    wait_for((folder / "gate/reached").exists)


def open_gate(folder: Path) -> None:
    """Let the agents at the gate of the study in a folder go on."""
    (folder / "gate/open").touch()


@contextmanager
def command(*arguments: str | Path, **options: Any) -> Iterator["subprocess.Popen[str]"]:
    """Start brlbench in a process of its own, which is killed if it still runs at the end."""
    with python("-m", "brlbench", *arguments, **options) as process:
        yield process


@contextmanager
def python(*arguments: str | Path, **options: Any) -> Iterator["subprocess.Popen[str]"]:
    """Start Python, which is killed if it still runs at the end."""
    with subprocess.Popen(
        [sys.executable, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        **options,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def run(*arguments: str | Path, **options: Any) -> tuple[int, str]:
    """Run brlbench in a process of its own: its exit code and what it printed."""
    with command(*arguments, **options) as process:
        return ended(process)


def ended(process: "subprocess.Popen[str]") -> tuple[int, str]:
    """Wait for the end of a process: its exit code and what it printed."""
    output, _ = process.communicate(timeout=300)
    return process.returncode, output


def run_in_full(folder: Path, text: str) -> None:
    """Run a study in a folder, with results in `out`."""
    code, output = run("run", write_study(folder, text), "-r", folder / "out")
    assert code == 0, output


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


def assert_complete(study: Path, folder: Path, failures: int = 0) -> None:
    """A folder holds just the results that evaluating the agents one by one gives."""
    jobs = {Folder(folder).result(job): job for job in read_study(study).jobs}
    found = {path: read_result(path) for path in folder.glob("results/*/*.parquet")}
    assert found.keys() <= jobs.keys()
    assert len(found) == len(jobs) - failures
    for path, result in found.items():
        expected = evaluate(jobs[path].agent.agent, jobs[path].experiment)
        assert (result.label, result.experiment_hash) == (expected.label, expected.experiment_hash)
        np.testing.assert_array_equal(result.rewards, expected.rewards)
        if result.states is not None:
            np.testing.assert_array_equal(result.states, expected.states)
            np.testing.assert_array_equal(result.actions, expected.actions)


def assert_tidy(folder: Path) -> None:
    """Nothing is left but what a finished study keeps."""
    assert not list(folder.rglob("*.tmp"))
    assert not list((folder / "parts").iterdir())
    assert not (folder / "now.json").exists()
