"""`brlbench play` loses nothing: the same command goes on after any end, to the same result."""

import os
import shutil
import signal
from concurrent.futures import Future
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from brlbench.agents import make_agent
from brlbench.errors import StoreError
from brlbench.executors.base import Call, Outcome
from brlbench.protocol.evaluate import evaluate
from brlbench.protocol.experiment import Experiment
from brlbench.protocol.training import save, train
from brlbench.storage import read_result, write_agent, write_experiment
from brlbench.study import one_job
from brlbench.study.folder import Folder, part_of
from brlbench.study.one_job import OneJob
from helpers.inline import Inline
from helpers.made_studies import open_gate, python, wait_at_gate, write_study
from helpers.processes import wait_for
from helpers.shell import Shell, assert_error

pytestmark = pytest.mark.slow  # starts processes

EXPERIMENT = Experiment("GC", num_mdps=6, horizon=5)
# Every trajectory is a part of its own.
PLAY = """
import sys
from brlbench.cli import main
from brlbench.study import one_job
one_job.PART_SECONDS = 1e-9
sys.argv = ["brlbench", "play", "agent.json", "gc.parquet", "-o", "result.parquet", *sys.argv[1:]]
main()
"""


def made(folder: Path, algorithm: str = "random", seed: int = 0, **parameters: Any) -> Any:
    """Write a trained agent and its experiment; the agent."""
    agent = make_agent(algorithm, **parameters)
    trained = train(agent, EXPERIMENT.prior, EXPERIMENT.task, seed)
    write_agent(folder / "agent.json", save(trained), overwrite=True)
    write_experiment(folder / "gc.parquet", EXPERIMENT, overwrite=True)
    return agent


@pytest.fixture
def gated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with an agent that waits at a gate after its first trajectory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    write_study(tmp_path, "")
    made(tmp_path, "study_agents:GatedLater", gate=str(tmp_path / "gate"))
    return tmp_path


def parts_in(folder: Path) -> list[Path]:
    return list((folder / "result.parquet.unfinished").glob("parts/*/*.parquet"))


def assert_finished(folder: Path) -> None:
    """The result is that of an undisturbed play, and nothing else is left."""
    gate = folder / "gate"
    undisturbed = evaluate(make_agent("study_agents:GatedLater", gate=str(gate)), EXPERIMENT)
    result = read_result(folder / "result.parquet")
    np.testing.assert_array_equal(result.rewards, undisturbed.rewards)
    assert {path.name for path in folder.iterdir()} - {"__pycache__"} == {
        "agent.json", "gc.parquet", "result.parquet", "gate", "study.toml", "study_agents.py"
    }  # fmt: skip


class Watched(Inline):
    """Plays in this process, and notes each part."""

    parts: ClassVar[list[Any]] = []

    def submit(self, call: Call) -> "Future[Outcome]":
        self.parts.append(call.argument.part)
        return super().submit(call)


def test_a_play_that_is_killed_is_resumed(
    gated: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    with python("-c", PLAY, "--workers", "1", cwd=gated) as process:
        wait_at_gate(gated)
        wait_for(lambda: len(parts_in(gated)) == 1)
        with pytest.raises(StoreError, match=f"unfinished is in use by process {process.pid} "):
            play_here(gated)
        process.send_signal(signal.SIGKILL)
    [path] = parts_in(gated)
    assert part_of(path) == (0, 1)
    open_gate(gated)
    monkeypatch.setattr("brlbench.executors.local.Local", Watched)
    done = shell("play", "agent.json", "gc.parquet", "-o", "result.parquet")
    assert done.code == 0, done
    assert "score ± 95%" in done.out
    assert min(Watched.parts) == (1, 6)  # the first is not played again
    assert_finished(gated)


def test_a_play_that_is_interrupted_is_resumed(gated: Path) -> None:
    with python("-c", PLAY, "--workers", "1", cwd=gated) as process:
        wait_at_gate(gated)
        process.send_signal(signal.SIGINT)
        open_gate(gated)
        output, _ = process.communicate()
        assert process.returncode == 1
        assert "stopped; the same command resumes it" in output
    assert 1 <= len(parts_in(gated)) < 6
    assert not (gated / "result.parquet").exists()
    assert play_here(gated)
    assert_finished(gated)


def killed(*_: object, **__: object) -> None:
    raise KeyboardInterrupt  # what follows it does not happen, as after a kill


def play_here(folder: Path, **options: bool) -> bool:
    agent, experiment = folder / "agent.json", folder / "gc.parquet"
    job = OneJob(agent, experiment, folder / "result.parquet", **options)
    return job.play(Inline(), lambda progress: None)


@pytest.mark.parametrize(
    ("place", "name"),
    [
        (OneJob, "_write_claim"), (one_job, "StudyRun"), (OneJob, "_check_failure"),
        (os, "replace"), (OneJob, "_remove_folder"), (shutil, "rmtree"),
    ],
)  # fmt: skip
def test_killed_between_any_two_steps(
    place: Any, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = evaluate(made(tmp_path), EXPERIMENT)
    with monkeypatch.context() as patch:
        if name == "replace":
            patch.setattr("brlbench.study.one_job.os.replace", _unless_internal(os.replace))
        else:
            patch.setattr(place, name, killed)
        with pytest.raises(KeyboardInterrupt):
            play_here(tmp_path)
    assert (tmp_path / "result.parquet.unfinished").exists()
    assert play_here(tmp_path)
    result = read_result(tmp_path / "result.parquet")
    np.testing.assert_array_equal(result.rewards, expected.rewards)
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"agent.json", "gc.parquet", "result.parquet"}


def _unless_internal(replace: Any) -> Any:
    """Killed when the result is to become the output."""

    def replace_or_end(source: Path, target: Path) -> None:
        if Path(target).name == "result.parquet":
            killed()
        replace(source, target)

    return replace_or_end


def test_what_remains_of_a_play_that_removed_almost_all(tmp_path: Path) -> None:
    made(tmp_path)
    assert play_here(tmp_path)
    (tmp_path / "result.parquet.unfinished").mkdir()
    with pytest.raises(StoreError, match=r"result\.parquet exists already"):
        play_here(tmp_path)
    assert not (tmp_path / "result.parquet.unfinished").exists()


def test_results_are_not_overwritten(tmp_path: Path) -> None:
    made(tmp_path)
    output = tmp_path / "result.parquet"
    output.write_text("precious")
    with pytest.raises(StoreError, match=r"result\.parquet exists already"):
        play_here(tmp_path)
    assert output.read_text() == "precious"
    assert not (tmp_path / "result.parquet.unfinished").exists()
    assert play_here(tmp_path, overwrite=True)
    assert read_result(output).algorithm == "random"


def test_parts_of_another_play_are_not_mixed_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(one_job, "StudyRun", killed)
        with pytest.raises(KeyboardInterrupt):
            play_here(tmp_path)
    made(tmp_path, seed=1)  # the same agent, but trained again
    with pytest.raises(StoreError, match=r"unfinished holds parts of another play: remove it, "):
        play_here(tmp_path)
    assert play_here(tmp_path, overwrite=True)
    assert not (tmp_path / "result.parquet.unfinished").exists()


def test_an_agent_that_fails_leaves_nothing(
    tmp_path: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    write_study(tmp_path, "")
    made(tmp_path, "study_agents:Troubled", trouble="raise")
    monkeypatch.setattr("brlbench.executors.local.Local", Inline)
    done = shell("play", "agent.json", "gc.parquet", "-o", "result.parquet")
    assert_error(done, "failed on MDP 0 at step 0: ValueError: lost")
    assert not list(tmp_path.glob("result*"))


def test_damaged_parts_are_played_again(gated: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    open_gate(gated)
    with monkeypatch.context() as patch:
        patch.setattr(one_job, "PART_SECONDS", 1e-9)
        patch.setattr(Folder, "write_result", killed)
        with pytest.raises(KeyboardInterrupt):
            play_here(gated)
    path = max(parts_in(gated))
    path.write_bytes(path.read_bytes()[:-1])
    assert play_here(gated)
    assert_finished(gated)
