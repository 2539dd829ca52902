"""The same study on other executors has the same results, whatever is killed or cancelled."""

import os
import signal
from pathlib import Path

import pytest

from brlbench.executors import dask
from brlbench.study.status import read_status
from helpers.made_studies import (
    assert_complete,
    command,
    ended,
    open_gate,
    run,
    wait_at_gate,
    write_study,
)
from helpers.processes import descendants_of, wait_for
from helpers.shell import Shell, assert_error
from helpers.slurm_cluster import SETTINGS, jobs
from helpers.slurm_cluster import run as command_of_slurm

STUDY = """
[defaults]
num_mdps = 15
horizon = 10

[[experiments]]
test = "GC"

[[agents]]
algorithm = "study_agents:Gated"
parameters.gate = "GATE"

[[agents]]
algorithm = "study_agents:Troubled"
parameters.trouble = ["none", "raise"]

[[agents]]
algorithm = "epsilon-greedy"

[execution]
part = "1us"
workers = 2
"""
STUDY += SETTINGS
END = "3 of 4 jobs done, 1 failed"


@pytest.mark.slow
@pytest.mark.dask
def test_dask_with_a_worker_killed_half_way(tmp_path: Path) -> None:
    path, out = write_study(tmp_path, STUDY), tmp_path / "out"
    with command("run", path, "-r", out, "--executor", "dask") as process:
        wait_at_gate(tmp_path)
        wait_for(lambda: any(out.glob("parts/*/*")))
        # What performs units is a process of a Dask worker, which is one of a nanny.
        workers = [pid for pid in descendants_of(process.pid) if _is_dask_worker(pid)]
        os.kill(workers[0], signal.SIGKILL)
        open_gate(tmp_path)
        assert END in ended(process)[1]
    assert_complete(path, out, failures=1)
    assert not list((out / "parts").glob("*/*.tmp"))


def _is_dask_worker(pid: int) -> bool:
    try:
        return b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def test_slurm_with_a_job_cancelled_half_way(tmp_path: Path, slurm: Path) -> None:
    path, out = write_study(tmp_path, STUDY), tmp_path / "out"
    with command("run", path, "-r", out, "--executor", "slurm") as process:
        wait_at_gate(tmp_path)
        wait_for(lambda: any(out.glob("parts/*/*")))
        command_of_slurm("scancel", jobs("running")[0])
        open_gate(tmp_path)
        assert END in ended(process)[1]
    assert_complete(path, out, failures=1)
    wait_for(lambda: not jobs())


def test_limits_of_an_agent_are_what_its_slurm_jobs_ask_for(tmp_path: Path, slurm: Path) -> None:
    limits = 'limits.training_memory = "600MB"\nlimits.playing_memory = "900MB"\n'
    limits += 'limits.training = "30m"\nlimits.playing = "2h"\n'
    text = STUDY.replace('gate = "GATE"\n', f'gate = "GATE"\n{limits}')
    path, out = write_study(tmp_path, text), tmp_path / "out"
    with command("run", path, "-r", out, "--executor", "slurm") as process:
        wait_at_gate(tmp_path)
        asked = command_of_slurm("squeue", "--noheader", "--format=%m %l")
        # 500 MB are for the Dask worker; 10 minutes to compile, 30 in case it has to be retrained.
        assert f"{-(-1_400_000_000 // 2**20)}M 2:40:00" in asked
        open_gate(tmp_path)
        assert END in ended(process)[1]
    assert_complete(path, out, failures=1)
    wait_for(lambda: not jobs())


def test_a_detached_run_on_slurm(tmp_path: Path, slurm: Path) -> None:
    """The shell that started it need not stay open."""
    path, out, profile = write_study(tmp_path, STUDY), tmp_path / "out", tmp_path / "profile.toml"
    open_gate(tmp_path)
    profile.write_text('executor = "slurm"\nworkers = 1\n')
    code, output = run("run", path, "-r", out, "--profile", profile, "--detach")
    assert code == 0, output
    wait_for(lambda: END in (out / "run.log").read_text())
    assert read_status(out).owner is None
    assert_complete(path, out, failures=1)
    wait_for(lambda: not jobs())


@pytest.mark.dask
def test_what_is_wrong_with_an_executor_is_told_in_a_sentence(
    tmp_path: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask, "_CONNECT_SECONDS", 0.5)
    misspelt = tmp_path / "misspelt.toml"
    misspelt.write_text('[slurm]\npartitoin = "main"\n')
    wrong_ones: list[tuple[tuple[str | Path, ...], str]] = [
        (("--executor", "cloud"), "executor = 'cloud': must be "),
        (("--scheduler", "tcp://127.0.0.1:1"), "no Dask scheduler could be reached"),
        (("--profile", tmp_path / "none.toml"), "can't be read"),
        (("--executor", "slurm", "--profile", misspelt), "did you mean 'partition'"),
    ]
    path = write_study(tmp_path, STUDY)
    for arguments, message in wrong_ones:
        assert_error(shell("run", path, "-r", tmp_path / "out", *arguments), message)
