import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from brlbench.errors import ExecutorError, InvalidInput
from brlbench.executors import Slurm, SlurmOptions
from brlbench.executors.base import Done, Failed, Limits
from helpers.processes import wait_for
from helpers.slurm_cluster import jobs, needs_slurm, run, running_slurm


@pytest.fixture(scope="module")
def cluster() -> Iterator[Path]:
    with running_slurm() as folder:
        yield folder


def options(**changes: Any) -> SlurmOptions:
    small = {"memory": "500MB", "interface": "lo", "check_seconds": 0.3}
    return SlurmOptions.read({**small, **changes})


# On a real cluster.


@needs_slurm
def test_jobs_that_are_cancelled_are_replaced_and_change_no_results(cluster: Path) -> None:
    with Slurm(options(partition="main"), workers=2) as executor:
        assert executor.num_workers == 2
        futures = [executor.submit("helpers.work:slow_square", number) for number in range(40)]
        wait_for(futures[8].done, seconds=30)
        cancelled = jobs("running")[0]
        run("scancel", cancelled)
        assert [future.result(timeout=30) for future in futures] == [Done(n**2) for n in range(40)]
        wait_for(lambda: len(jobs("running")) == 2 and cancelled not in jobs(), seconds=20)
        limited = executor.submit("helpers.work:hang", None, Limits(seconds=0.3))
        assert limited.result(timeout=30) == Failed("took more than 0.3 s")
    wait_for(lambda: not jobs())


@needs_slurm
def test_a_job_with_several_workers_is_replaced_too(cluster: Path) -> None:
    with Slurm(options(cores=2, processes=2), workers=2) as executor:
        assert executor.num_workers == 2
        futures = [executor.submit("helpers.work:slow_square", number) for number in range(20)]
        wait_for(futures[4].done, seconds=30)
        assert len(jobs("running")) == 1
        run("scancel", *jobs("running"))
        assert [future.result(timeout=30) for future in futures] == [Done(n**2) for n in range(20)]


@needs_slurm
def test_a_job_cancelled_before_it_begins_is_replaced(cluster: Path) -> None:
    with Slurm(options(cores=3), workers=6) as executor:
        wait_for(lambda: jobs("running") and jobs("pending"), seconds=20)
        waiting = jobs("pending")
        run("scancel", *waiting)
        wait_for(lambda: jobs("pending") and jobs("pending") != waiting, seconds=10)
        assert executor.submit("helpers.work:square", 3).result(timeout=20) == Done(9)


@needs_slurm
def test_jobs_that_never_get_anything_done_are_an_error(cluster: Path, tmp_path: Path) -> None:
    with Slurm(options(prologue=["exit 1"], log_directory=tmp_path), workers=1) as executor:
        future = executor.submit("helpers.work:square", 3)
        expected = r"^4 SLURM jobs have ended without finishing a unit, the last was job \d+: see"
        with pytest.raises(ExecutorError, match=expected):
            future.result(timeout=30)
    assert list(tmp_path.glob("*.out"))


MAIN = """
import sys, time
from brlbench.executors import Slurm, SlurmOptions
if __name__ == "__main__":
    with Slurm(SlurmOptions(memory=500_000_000, interface="lo"), workers=1) as executor:
        assert executor.submit("helpers.work:square", 3).result()
        executor.submit("helpers.work:hang", None)
        print("ready", flush=True)
        time.sleep(60)
"""


@needs_slurm
def test_jobs_end_after_a_main_process_that_is_killed(cluster: Path, tmp_path: Path) -> None:
    script = tmp_path / "main.py"
    script.write_text(MAIN)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    with subprocess.Popen(
        [sys.executable, str(script)], env=environment, stdout=subprocess.PIPE
    ) as main:
        assert main.stdout is not None and main.stdout.readline() == b"ready\n"
        assert jobs()
        main.kill()
    wait_for(lambda: not jobs(), seconds=20)


@needs_slurm
def test_a_job_that_slurm_refuses_is_an_error(cluster: Path) -> None:
    expected = r"^SLURM would not run such a job: .*[Ii]nvalid partition"
    with pytest.raises(InvalidInput, match=expected), Slurm(options(partition="absent"), 1):
        pass


# What users see of wrong options.


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"partitoin": "x"}, r"slurm.partitoin: there is no such option \(did .*'partition'\?\)"),
        ({"cores": 0}, "slurm.cores = 0: .* greater than or equal to 1"),
        ({"memory": "much"}, "slurm.memory = 'much': could not parse value and unit .*"),
        ({"walltime": "an hour"}, "slurm.walltime = 'an hour': String should match pattern .*"),
        ({"directives": "--x"}, "slurm.directives = '--x': Input should be a valid tuple"),
    ],
)
def test_wrong_options_are_named(values: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=f"^{message}$"):
        SlurmOptions.read(values)


def test_without_slurm_its_command_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(InvalidInput, match=r"^sbatch can't be found: "):
        Slurm(SlurmOptions(), workers=1)
