"""The same study on other executors has the same results, whatever is killed or cancelled."""

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from brlbench.executors import dask
from brlbench.executors.local import Local
from brlbench.study.start import make_executor, prepare
from brlbench.study.status import read_status
from helpers.made_studies import (
    GATED,
    TINY,
    assert_complete,
    open_gate,
    run,
    write_study,
)
from helpers.processes import address_of, wait_for, when
from helpers.shell import Shell, assert_error
from helpers.slurm_cluster import SETTINGS, jobs
from helpers.slurm_cluster import run as command_of_slurm

RANDOM = '[[agents]]\nalgorithm = "random"\n'
TROUBLED = """[[agents]]
algorithm = "study_agents:Troubled"
parameters.trouble = ["none", "raise"]

"""
STUDY = GATED.replace("num_mdps = 8", "num_mdps = 4").replace(RANDOM, TROUBLED + RANDOM)
STUDY += SETTINGS
END = "3 of 4 jobs done, 1 failed"


def when_half_done(folder: Path, disturb: Callable[[], object]) -> None:
    """Disturb the study in a folder once some of it is played; then open its gate."""

    def act() -> None:
        disturb()
        open_gate(folder)

    reached, out = folder / "gate/reached", folder / "out"
    played = ("parts/*/*", "results/*/*")  # a complete job's parts are joined
    when(lambda: reached.exists() and any(any(out.glob(each)) for each in played), act)


@pytest.mark.slow
@pytest.mark.dask
def test_dask_with_a_worker_killed_half_way(
    tmp_path: Path, shell: Shell, dask_executor: dask.Dask
) -> None:
    path, out = write_study(tmp_path, STUDY), tmp_path / "out"
    workers = list(dask_executor.client.run(os.getpid).values())
    when_half_done(tmp_path, lambda: os.kill(workers[0], signal.SIGKILL))
    done = shell("run", path, "-r", out, "--scheduler", address_of(dask_executor))
    assert END in done.out, done
    assert_complete(path, out, failures=1)
    assert not list((out / "parts").glob("*/*.tmp"))


def test_slurm_with_a_job_cancelled_half_way_and_limits_that_jobs_ask_for(
    tmp_path: Path, slurm: Path, shell: Shell
) -> None:
    limits = 'limits.training_memory = "600MB"\nlimits.playing_memory = "900MB"\n'
    limits += 'limits.training = "30m"\nlimits.playing = "2h"\n'
    path = write_study(tmp_path, STUDY.replace('gate = "GATE"\n', f'gate = "GATE"\n{limits}'))
    asked: list[str] = []

    def ask_and_cancel() -> None:
        asked.append(command_of_slurm("squeue", "--noheader", "--format=%m %l"))
        command_of_slurm("scancel", jobs("running")[0])

    when_half_done(tmp_path, ask_and_cancel)
    done = shell("run", path, "-r", tmp_path / "out", "--executor", "slurm")
    assert END in done.out, done
    # 500 MB are for the Dask worker; 10 minutes to compile, 30 in case it has to be retrained.
    assert f"{-(-1_400_000_000 // 2**20)}M 2:40:00" in asked[0]
    assert_complete(path, tmp_path / "out", failures=1)
    wait_for(lambda: not jobs())


def test_a_detached_run_on_slurm(tmp_path: Path, slurm: Path) -> None:
    """The shell that started it need not stay open."""
    path, out = write_study(tmp_path, TINY + SETTINGS), tmp_path / "out"
    profile = tmp_path / "profile.toml"
    profile.write_text('executor = "slurm"\nworkers = 1\n')
    code, output = run("run", path, "-r", out, "--profile", profile, "--detach")
    assert code == 0, output
    wait_for(lambda: "1 of 1 job done" in (out / "run.log").read_text())
    assert read_status(out).owner is None
    assert_complete(path, out)
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


@pytest.mark.dask
def test_executors_have_the_workers_of_the_study(tmp_path: Path) -> None:
    for name, kind in {"local": Local, "dask": dask.Dask}.items():
        _, execution = prepare(write_study(tmp_path, STUDY), {"executor": name})
        executor = make_executor(execution)
        assert (type(executor), executor.num_workers) == (kind, 2)
