"""The same study on other executors has the same results, whatever is killed or cancelled."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from brlbench.study.status import read_status
from helpers.made_studies import assert_same_results, command, run, write_study
from helpers.processes import descendants_of, wait_for
from helpers.slurm_cluster import jobs, needs_slurm, running_slurm
from helpers.slurm_cluster import run as slurm

STUDY = """
[defaults]
num_mdps = 15
horizon = 10

[[experiments]]
test = "GC"

[[agents]]
algorithm = "test_agents:Slow"
parameters.luck = [1, 2]
parameters.seconds = [0.005, 0.01]

[[agents]]
algorithm = "test_agents:Troubled"
parameters.trouble = ["none", "raise"]

[[agents]]
algorithm = "epsilon-greedy"

[execution]
part = "0.2s"
workers = 2

[execution.slurm]
partition = "main"
memory = "800MB"
interface = "lo"
check_seconds = 0.5
"""


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("local")
    _, output = run("run", write_study(folder, STUDY), "-r", folder / "out")
    assert "6 of 7 jobs done, 1 failed" in output
    return folder


@pytest.fixture(scope="module")
def cluster() -> Iterator[Path]:
    with running_slurm() as folder:
        yield folder


def parts(folder: Path) -> int:
    return len([*folder.glob("parts/*/*"), *folder.glob("results/*/*")])


def test_dask_with_a_worker_killed_half_way(local: Path) -> None:
    out = local / "dask"
    process = command("run", local / "study.toml", "-r", out, "--executor", "dask")
    wait_for(lambda: parts(out) > 3)
    # What performs units is a process of a Dask worker, which is one of a nanny.
    workers = [pid for pid in descendants_of(process.pid) if _is_dask_worker(pid)]
    os.kill(workers[0], signal.SIGKILL)
    output, _ = process.communicate(timeout=120)
    assert "6 of 7 jobs done, 1 failed" in output
    assert_same_results(local / "out", out)
    assert not list((out / "parts").glob("*/*.tmp"))


def _is_dask_worker(pid: int) -> bool:
    try:
        return b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


@needs_slurm
def test_slurm_with_a_job_cancelled_half_way(local: Path, cluster: Path) -> None:
    out = local / "slurm"
    process = command("run", local / "study.toml", "-r", out, "--executor", "slurm")
    wait_for(lambda: parts(out) > 3)
    slurm("scancel", jobs("running")[0])
    output, _ = process.communicate(timeout=180)
    assert "6 of 7 jobs done, 1 failed" in output
    assert_same_results(local / "out", out)
    wait_for(lambda: not jobs())


@needs_slurm
def test_a_detached_run_on_slurm(local: Path, cluster: Path) -> None:
    """The shell that started it need not stay open."""
    out, profile = local / "detached", local / "profile.toml"
    profile.write_text('executor = "slurm"\nworkers = 1\n')
    arguments = ("run", local / "study.toml", "-r", out, "--profile", profile, "--detach")
    code, output = run(*arguments)
    assert code == 0, output
    wait_for(lambda: (out / "plan.json").exists() and read_status(out).left == 0, seconds=120)
    wait_for(lambda: read_status(out).owner is None)
    assert_same_results(local / "out", out)
    wait_for(lambda: not jobs())


def test_what_is_wrong_with_an_executor_is_told_in_a_sentence(local: Path) -> None:
    wrong_ones: list[tuple[tuple[str | Path, ...], str]] = [
        (("--executor", "cloud"), "executor = 'cloud': input should be 'local', 'dask' or"),
        (("--scheduler", "tcp://127.0.0.1:1"), "no Dask scheduler could be reached"),
        (("--profile", local / "none.toml"), "can't be read"),
    ]
    for arguments, message in wrong_ones:
        code, output = run("run", local / "study.toml", "-r", local / "wrong", *arguments)
        assert code == 1
        assert message in output
        assert "Traceback" not in output
    wrong = local / "wrong.toml"
    wrong.write_text('[slurm]\npartitoin = "main"\n')
    code, output = run("run", local / "study.toml", "-r", local / "wrong", "--executor", "slurm",
                       "--profile", wrong)  # fmt: skip
    assert code == 1
    assert "did you mean 'partition'" in output
