"""What `brlbench run` does: run a study here or in the background, or estimate its time."""

import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ..arguments import num_workers
from ..errors import StoreError
from ..executors import Dask, Executor, Local, Slurm, SlurmOptions
from ..study.estimate import Estimate, estimate
from ..study.folder import Folder
from ..study.plan import Study, read_study
from ..study.run import Run, look
from ..study.schema import ExecutionTable, explain, read_toml
from ..study.status import read_status
from .bars import probes_bar, study_bar
from .ending import sentence_about
from .output import console, say
from .progress import print_estimates, print_outlook, print_status


def prepare(
    path: Path, options: Mapping[str, Any], profile: Path | None = None, **defaults: Any
) -> tuple[Study, ExecutionTable]:
    """Read a study, with other defaults where given, and decide where it runs.

    Options of the command line override the profile, which overrides the study.
    """
    study = read_study(path, **defaults)
    chosen = study.table.execution.model_dump(exclude_unset=True)
    source = str(study.path)
    if profile is not None:
        source = str(profile)
        chosen |= read_toml(profile)
    chosen |= {name: value for name, value in options.items() if value is not None}
    if "scheduler" in chosen:
        chosen.setdefault("executor", "dask")
    try:
        execution = ExecutionTable.model_validate(chosen)
    except ValidationError as error:
        raise explain(error, source) from None
    if execution.executor != "slurm" and execution.scheduler is None:
        num_workers(execution.workers)  # fail before the folder is made
    return study, execution


def run(study: Study, execution: ExecutionTable, results: Path, retry_failed: bool = False) -> bool:
    """Run the jobs of a study that have no result yet; returns True if all have one now."""
    folder = Folder(results)
    folder.open(study)
    try:
        for message in folder.set_aside_damaged() + folder.set_aside_outdated(study):
            say(f"note: {message}, and made again")
        if retry_failed:
            for job in look(folder, study).failed:
                folder.failure(job).unlink()
        folder.write_plan(study)
        outlook = look(folder, study)
        print_outlook(study, outlook)
        if outlook.missing:
            with (
                _resumable(),
                _executor(execution) as executor,
                study_bar(console, len(study.jobs)) as show,
            ):
                finished = Run(study, folder, executor, execution.part, show)()
            if not finished:
                say("stopped; the same command resumes it")
    finally:
        folder.close()
    status = read_status(results)
    print_status(status, is_over=True)
    return status.done == status.total


@contextmanager
def _resumable() -> Iterator[None]:
    """Say that nothing is lost if the folder can't be used any more."""
    try:
        yield
    except (OSError, StoreError) as error:
        raise StoreError(
            f"the run stopped: {sentence_about(error)}; the same command resumes it"
        ) from error


def dry_run(study: Study, execution: ExecutionTable, results: Path, probes: bool) -> None:
    """Print the jobs of a study, and what the missing ones will take."""
    folder = Folder(results)
    outlook = look(folder, study)
    print_outlook(study, outlook)
    estimates: list[Estimate] = []
    workers = 1
    if probes and outlook.missing:
        with _executor(execution) as executor:
            with probes_bar(console, len(outlook.missing)) as advance:
                estimates = estimate(outlook.missing, folder, executor, advance=advance)
            workers = executor.num_workers
    print_estimates(study, outlook, estimates, workers)


def detach(path: Path, results: Path, arguments: Sequence[str]) -> None:
    """Start the same command again, in the background."""
    read_study(path)  # fail before detaching
    log = results / "run.log"
    try:
        results.mkdir(parents=True, exist_ok=True)
        output = log.open("ab")
    except OSError as error:
        raise StoreError(f"{log} can't be written: {error.strerror}") from None
    with output:
        process = subprocess.Popen(
            [sys.executable, "-m", "brlbench", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    say(
        f"running as process {process.pid}; follow it with: "
        f"brlbench status {shlex.quote(str(results))}\n"
        f"stop it with: kill {process.pid}    its output: {log}"
    )


def _executor(execution: ExecutionTable) -> Executor:
    if execution.executor == "dask":
        return Dask(execution.scheduler, execution.workers)
    if execution.executor == "slurm":
        options = SlurmOptions.read(execution.slurm, "execution.slurm")
        return Slurm(options, execution.workers)
    return Local(execution.workers)
