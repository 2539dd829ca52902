import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from brlbench.errors import ExecutorError, InvalidInput
from brlbench.executors import Slurm, SlurmOptions
from brlbench.executors.base import Done, Failed, Limits
from helpers.processes import PATIENCE, Gate, environment, wait_for
from helpers.slurm_cluster import jobs, run


def options(**changes: Any) -> SlurmOptions:
    small = {"memory": "500MB", "interface": "lo", "check_seconds": 0.3}
    return SlurmOptions.read({**small, **changes})


# On a real cluster.


def test_jobs_that_are_cancelled_are_replaced_and_change_no_results(
    slurm: Path, tmp_path: Path
) -> None:
    with Slurm(options(partition="main"), workers=2) as executor:
        assert executor.num_workers == 2
        cancelled = cancel_one_while_units_run(executor, tmp_path)
        wait_for(lambda: len(jobs("running")) == 2 and cancelled not in jobs())
        limited = executor.submit("helpers.work:hang", None, Limits(seconds=0.3))
        assert limited.result(PATIENCE) == Failed("took more than 0.3 s")
    wait_for(lambda: not jobs())


def test_a_job_with_several_workers_is_replaced_too(slurm: Path, tmp_path: Path) -> None:
    with Slurm(options(cores=2, processes=2), workers=2) as executor:
        assert executor.num_workers == 2
        cancel_one_while_units_run(executor, tmp_path)


def cancel_one_while_units_run(executor: Slurm, folder: Path) -> str:
    """Cancel a job that has a unit to perform, and check the results; the job's id."""
    gate = Gate(folder)
    units = [(str(folder), number) for number in range(10)]
    futures = [executor.submit("helpers.work:gated_square", unit) for unit in units]
    gate.wait_for_units(2)
    [cancelled, *others] = jobs("running")
    assert len(others) + 1 == executor.num_workers // executor._options.cores
    run("scancel", cancelled)
    wait_for(lambda: cancelled not in jobs())
    gate.open()
    assert [future.result(PATIENCE) for future in futures] == [Done(n**2) for n in range(10)]
    return cancelled


def test_a_job_cancelled_before_it_begins_is_replaced(slurm: Path) -> None:
    with Slurm(options(cores=3), workers=6) as executor:
        wait_for(lambda: jobs("running") and jobs("pending"))
        waiting = jobs("pending")
        run("scancel", *waiting)
        wait_for(lambda: jobs("pending") and jobs("pending") != waiting)
        assert executor.submit("helpers.work:square", 3).result(PATIENCE) == Done(9)


def test_jobs_that_never_get_anything_done_are_an_error(slurm: Path, tmp_path: Path) -> None:
    with Slurm(options(prologue=["exit 1"], log_directory=tmp_path), workers=1) as executor:
        future = executor.submit("helpers.work:square", 3)
        expected = r"^4 SLURM jobs have ended without finishing a unit, the last was job \d+: see"
        with pytest.raises(ExecutorError, match=expected):
            future.result(PATIENCE)
    assert list(tmp_path.glob("*.out"))


MAIN = """
import time
from brlbench.executors import Slurm, SlurmOptions
if __name__ == "__main__":
    with Slurm(SlurmOptions(memory=500_000_000, interface="lo"), workers=1) as executor:
        assert executor.submit("helpers.work:square", 3).result()
        executor.submit("helpers.work:hang", None)
        print("ready", flush=True)
        time.sleep(900)
"""


def test_jobs_end_after_a_main_process_that_is_killed(slurm: Path, tmp_path: Path) -> None:
    script = tmp_path / "main.py"
    script.write_text(MAIN)
    with subprocess.Popen(
        [sys.executable, str(script)], env=environment(), stdout=subprocess.PIPE
    ) as main:
        assert main.stdout is not None and main.stdout.readline() == b"ready\n"
        assert jobs()
        main.kill()
    wait_for(lambda: not jobs())


def test_a_job_that_slurm_refuses_is_an_error(slurm: Path) -> None:
    expected = r"^SLURM refuses such a job: .*[Ii]nvalid partition"
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


@pytest.mark.dask
def test_without_slurm_its_command_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(InvalidInput, match=r"^sbatch can't be found: "):
        Slurm(SlurmOptions(), workers=1)
