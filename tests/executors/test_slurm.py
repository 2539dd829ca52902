import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from brlbench.errors import ExecutorError, InvalidInput
from brlbench.executors.base import Call, Done, Failed, Limits
from brlbench.executors.slurm import Slurm, shares
from brlbench.executors.slurm_options import SlurmOptions, walltime_seconds
from brlbench.schemas import parse_written
from helpers.processes import PATIENCE, Gate, environment, wait_for
from helpers.sizes import thinned
from helpers.slurm_cluster import jobs, run


def options(**changes: Any) -> SlurmOptions:
    small = {"memory": "500MB", "interface": "lo", "check_seconds": 0.3}
    return SlurmOptions.model_validate({**small, **changes})


# On a real cluster.


@pytest.mark.parametrize(
    "shape", thinned(["one worker per job", "two workers per job"], ["two workers per job"])
)
def test_jobs_that_are_cancelled_are_replaced_and_change_no_results(
    shape: str, slurm: Path, tmp_path: Path
) -> None:
    cores = 1 if shape == "one worker per job" else 2
    with Slurm(options(partition="main", cores=cores, processes=cores), workers=2) as executor:
        assert executor.num_workers == 2
        cancel_one_while_units_run(executor, tmp_path)
        limited = executor.submit(Call("helpers.work:hang", None, Limits(seconds=0.3)))
        assert limited.result(PATIENCE) == Failed("took more than 0.3 s")
    wait_for(lambda: not jobs())


def cancel_one_while_units_run(executor: Slurm, folder: Path) -> None:
    """Cancel a job that has a unit to perform; check that it is replaced, and the results."""
    gate = Gate(folder)
    units = [(str(folder), number) for number in range(10)]
    futures = [executor.submit(Call("helpers.work:gated_square", unit)) for unit in units]
    gate.wait_for_units(2)
    [cancelled, *others] = jobs("running")
    assert len(others) + 1 == executor.num_workers // executor._options.cores
    run("scancel", cancelled)
    wait_for(lambda: cancelled not in jobs() and len(jobs("running")) == len(others) + 1)
    gate.open()
    assert [future.result(PATIENCE) for future in futures] == [Done(n**2) for n in range(10)]


def test_a_job_cancelled_before_it_begins_is_replaced(slurm: Path, tmp_path: Path) -> None:
    with Slurm(options(cores=3), workers=6) as executor:
        gate = Gate(tmp_path)
        units = [(str(tmp_path), number) for number in range(6)]
        futures = [executor.submit(Call("helpers.work:gated_square", unit)) for unit in units]
        wait_for(lambda: jobs("running") and jobs("pending"))
        waiting = jobs("pending")
        run("scancel", *waiting)
        wait_for(lambda: jobs("pending") and jobs("pending") != waiting)
        gate.open()
        assert [future.result(PATIENCE) for future in futures] == [Done(n**2) for n in range(6)]


def test_jobs_have_the_size_that_limits_need(slurm: Path, tmp_path: Path) -> None:
    wait_for(lambda: not jobs())  # of other tests
    gate = Gate(tmp_path)
    with Slurm(options(), workers=3) as executor:
        sized = [Limits(), Limits(memory=300_000_000), Limits(total=7200, preparation=600)]
        futures = [
            executor.submit(Call("helpers.work:gated_square", (str(tmp_path), number), limits))
            for number, limits in enumerate(sized)
        ]
        gate.wait_for_units(3)
        mebibytes = {
            limits: f"{-(-size // 2**20)}M"
            for limits, size in zip(
                sized, (500_000_000, 300_000_000 + 500_000_000, 500_000_000), strict=True
            )
        }
        assert sorted(asked_for()) == sorted(
            [
                (mebibytes[sized[0]], "1:00:00"),
                (mebibytes[sized[1]], "1:00:00"),
                (mebibytes[sized[2]], "2:10:00"),
            ]
        )
        gate.open()
        assert [future.result(PATIENCE) for future in futures] == [Done(0), Done(1), Done(4)]


def test_idle_jobs_make_room_for_those_of_another_size(slurm: Path) -> None:
    with Slurm(options(), workers=1) as executor:
        # One that is too large for SLURM fails alone.
        refused = executor.submit(Call("helpers.work:square", 2, Limits(memory=10**12)))
        outcome = refused.result(PATIENCE)
        assert isinstance(outcome, Failed)
        assert outcome.reason.startswith("SLURM refuses such a job: ")
        assert executor.submit(Call("helpers.work:square", 2)).result(PATIENCE) == Done(4)
        large = Limits(memory=600_000_000)
        assert executor.submit(Call("helpers.work:square", 3, large)).result(PATIENCE) == Done(9)
        assert executor.submit(Call("helpers.work:square", 4)).result(PATIENCE) == Done(16)


def asked_for() -> list[tuple[str, ...]]:
    """The memory and the time that each running job was given."""
    lines = run("squeue", "--noheader", "--states=running", "--format=%m %l").splitlines()
    return [tuple(line.split()) for line in lines]


def test_jobs_that_never_get_anything_done_are_an_error(slurm: Path, tmp_path: Path) -> None:
    with Slurm(options(prologue=["exit 1"], log_directory=tmp_path), workers=1) as executor:
        future = executor.submit(Call("helpers.work:square", 3))
        expected = r"^4 SLURM jobs have ended without finishing a call, the last was job \d+: see"
        with pytest.raises(ExecutorError, match=expected):
            future.result(PATIENCE)
    assert list(tmp_path.glob("*.out"))


MAIN = """
import time
from brlbench.executors.base import Call
from brlbench.executors.slurm import Slurm
from brlbench.executors.slurm_options import SlurmOptions
if __name__ == "__main__":
    with Slurm(SlurmOptions(memory=500_000_000, interface="lo"), workers=1) as executor:
        assert executor.submit(Call("helpers.work:square", 3)).result()
        executor.submit(Call("helpers.work:hang", None))
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


# How large jobs are, and how many each size gets.


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90", 5400), ("90:30", 5430), ("1:30:00", 5400), ("01:00:00", 3600),
        ("2-12", 216_000), ("2-12:30", 217_800), ("0-0:0:5", 5),
    ],
)  # fmt: skip
def test_walltimes(text: str, seconds: int) -> None:
    assert walltime_seconds(text) == seconds


def test_limits_make_jobs_larger_and_never_shorter() -> None:
    profile = options(memory="8GB", cores=4, processes=2, walltime="2:00:00")
    assert profile.for_limits(Limits(seconds=1e6)) == profile
    assert profile.for_limits(Limits(memory=10**9)).memory == 4 * 10**9 + 2 * 500_000_000
    assert profile.for_limits(Limits(total=6000.0, preparation=600.0)) == profile
    assert profile.for_limits(Limits(total=7200.0, preparation=660.0)).walltime == "131"
    # Training takes nobody knows how long: the profile's walltime is added.
    assert profile.for_limits(Limits(total=7200.0, preparation=math.inf)).walltime == "240"


@pytest.mark.parametrize(
    ("wanted", "total", "given"),
    [
        ([5], 3, [3]), ([2], 3, [2]), ([9, 9], 4, [2, 2]), ([9, 1, 9], 8, [4, 1, 3]),
        ([1, 1, 1], 2, [1, 1, 0]), ([0, 4], 3, [0, 3]), ([], 2, []),
    ],
)  # fmt: skip
def test_jobs_are_shared_evenly(wanted: list[int], total: int, given: list[int]) -> None:
    assert shares(wanted, total) == given


# What users see of wrong options.


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            {"partitoin": "x"},
            r"the file has an unknown key 'partitoin' \(did .*'partition'.*",
        ),
        ({"cores": 0}, "cores = 0: must be a whole number at least 1"),
        ({"memory": "much"}, "memory = 'much': must be a size like 500MB or 4GB"),
        ({"walltime": "an hour"}, "walltime = 'an hour': must be a time of SLURM, .*"),
        ({"directives": "--x"}, "directives = '--x': must be a list"),
    ],
)
def test_wrong_options_are_named(values: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=f"^slurm.toml: {message}$"):
        parse_written(SlurmOptions, values, "slurm.toml")


@pytest.mark.dask
def test_without_slurm_its_command_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(InvalidInput, match=r"^sbatch can't be found: "):
        Slurm(SlurmOptions(), workers=1)
