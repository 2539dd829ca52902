"""Ways to run a study with the same results: on every executor, and killed in between."""

import os
import signal
from collections.abc import Iterable
from pathlib import Path

import pytest

from helpers.made_studies import command, write_study
from helpers.processes import address_of, children_of, wait_for, wait_for_the_end_of
from helpers.shell import Done, Shell
from helpers.slurm_cluster import SETTINGS, jobs

EXECUTORS = [
    "local",
    pytest.param("dask", marks=pytest.mark.dask),
    pytest.param("slurm", marks=pytest.mark.slurm),
]
EXECUTION = """
[execution]
part = "500us"
workers = 2
"""


def run_on(
    executor: str, folder: Path, text: str, shell: Shell, request: pytest.FixtureRequest
) -> Done:
    """Run a study with two workers, with results in `out`."""
    options = ["--executor", executor]
    if executor == "slurm":
        request.getfixturevalue("slurm")
    if executor == "dask":
        options += ["--scheduler", address_of(request.getfixturevalue("dask_executor"))]
    path = write_study(folder, text + EXECUTION + SETTINGS)
    done = shell("run", path, "-r", folder / "out", *options)
    assert done.code == 0, done
    if executor == "slurm":
        wait_for(lambda: not jobs())
    return done


def run_killed(moments: Iterable[int], folder: Path, text: str, shell: Shell) -> Done:
    """Run a study that is killed whenever it has written so many parts, and then resumed."""
    path, out = write_study(folder, text + '\n[execution]\npart = "20us"\n'), folder / "out"
    for written in moments:
        with command("run", path, "-r", out, "--workers", "1") as process:

            def has_ended_or_written(number: int = written) -> bool:
                return process.poll() is not None or len(list(out.glob("parts/*/*"))) >= number

            wait_for(has_ended_or_written)
            workers = children_of(process.pid)
            os.kill(process.pid, signal.SIGKILL)
            process.communicate()
        wait_for_the_end_of(workers)
    done = shell("run", path, "-r", out)
    assert done.code == 0, done
    return done
