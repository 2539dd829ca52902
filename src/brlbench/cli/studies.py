"""What `brlbench run` and `brlbench status` do and print."""

import shlex
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, SpinnerColumn, TextColumn
from rich.progress import Progress as Bar
from rich.table import Table
from rich.text import Text

from ..arguments import format_seconds
from ..errors import InvalidInput, StoreError
from ..executors import Dask, Executor, Local, Slurm, SlurmOptions
from ..files import read_bytes
from ..study.estimate import Estimate, estimate
from ..study.folder import Folder
from ..study.plan import Study, read_study
from ..study.run import Outlook, Progress, Run, look
from ..study.schema import ExecutionTable, explain
from ..study.status import Status, read_status


def run(
    path: Path,
    results: Path,
    options: dict[str, Any],
    profile: Path | None,
    retry_failed: bool,
    console: Console,
) -> bool:
    """Run what is missing of a study; return whether all of it has a result."""
    study = read_study(path)
    execution = _execution(study, options, profile)
    folder = Folder(results)
    folder.open(study)
    try:
        for message in folder.set_aside_damaged() + folder.set_aside_outdated(study):
            console.print(Text(f"note: {message}, and made again"), soft_wrap=True)
        if retry_failed:
            for job in look(folder, study).failed:
                folder.failure(job).unlink()
        folder.write_plan(study)
        outlook = look(folder, study)
        _print_outlook(study, outlook, console)
        if outlook.missing:
            with _open(execution) as executor, _bar(console, study) as show:
                finished = Run(study, folder, executor, execution.part, show)()
            if not finished:
                console.print("stopped; the same command goes on from here")
    finally:
        folder.close()
    status = read_status(results)
    print_status(status, console, is_over=True)
    return status.done == status.total


def dry_run(
    path: Path,
    results: Path,
    options: dict[str, Any],
    profile: Path | None,
    probes: bool,
    console: Console,
) -> None:
    """List the work of a study, what is done, and what the rest will take."""
    study = read_study(path)
    execution = _execution(study, options, profile)
    folder = Folder(results)
    outlook = look(folder, study)
    _print_outlook(study, outlook, console)
    estimates: list[Estimate] = []
    if probes and outlook.missing:
        with _open(execution) as executor:
            with _probe_bar(console, len(outlook.missing)) as advance:
                estimates = estimate(outlook.missing, folder, executor, advance=advance)
            workers = executor.num_workers
    console.print(_work_table(study, outlook, estimates))
    if estimates:
        total = sum(found.seconds for found in estimates)
        unknown = sum(found.playing_seconds is None for found in estimates)
        console.print(
            f"About {_long(total)} of one core, {_long(total / workers)} with {workers} workers"
            + (f", not counting {unknown} jobs whose probe failed." if unknown else ".")
        )
    for found in [found for found in estimates if found.failure][:5]:
        console.print(Text(f"probe failed: {found.job}: {found.failure}"), soft_wrap=True)


def detach(path: Path, results: Path, arguments: Sequence[str], console: Console) -> None:
    """Start the same command once more, in the background."""
    read_study(path)  # what is wrong with it is better told now
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
    console.print(
        f"running as process {process.pid}; follow it with: "
        f"brlbench status {shlex.quote(str(results))}\n"
        f"stop it with: kill {process.pid}    what it prints: {log}",
        markup=False,
    )


def print_status(status: Status, console: Console, is_over: bool = False) -> None:
    """What is done, running, failed and left."""
    if status.title and not is_over:
        console.print(Text(status.title, style="bold"))
    parts = [f"{status.done} of {status.total} jobs done"]
    if status.failures:
        parts.append(f"{len(status.failures)} failed")
    if status.left:
        parts.append(f"{status.left} left ({status.begun} of them begun)")
    console.print(", ".join(parts))
    if not is_over:
        console.print(
            f"{status.trajectories_done:,} of {status.trajectories:,} trajectories played"
        )
        for name, (done, total) in status.by_experiment.items():
            console.print(Text(f"  {name}: {done} of {total}"))
        if status.owner:
            console.print(Text(f"running: {status.owner}"))
            for unit in status.running:
                console.print(Text(f"  {unit}"))
            if status.seconds_left is not None:
                console.print(f"about {_long(status.seconds_left)} left")
        elif status.left:
            console.print("not running; start it again with brlbench run")
    for failure in status.failures:
        text = f"failed: {failure.agent} on {failure.experiment}: {failure.reason}"
        console.print(Text(text), soft_wrap=True)
    if status.failures:
        console.print("try these again with brlbench run --retry-failed")


def _execution(study: Study, options: dict[str, Any], profile: Path | None) -> ExecutionTable:
    """Where to run: the study's own words, over them a profile's, over these the command line's."""
    chosen = study.table.execution.model_dump(exclude_unset=True)
    source = str(study.path)
    if profile is not None:
        source = str(profile)
        try:
            chosen |= tomllib.loads(read_bytes(profile).decode())
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise InvalidInput(f"{profile} is not a TOML file: {error}") from None
    chosen |= {name: value for name, value in options.items() if value is not None}
    if "scheduler" in chosen:
        chosen.setdefault("executor", "dask")
    try:
        return ExecutionTable.model_validate(chosen)
    except ValidationError as error:
        raise explain(error, source) from None


def _open(execution: ExecutionTable) -> Executor:
    if execution.executor == "dask":
        return Dask(execution.scheduler, execution.workers)
    if execution.executor == "slurm":
        options = SlurmOptions.read(execution.slurm, "execution.slurm")
        return Slurm(options, execution.workers)
    return Local(execution.workers)


def _print_outlook(study: Study, outlook: Outlook, console: Console) -> None:
    title = study.table.title or study.path.name
    console.print(Text(title, style="bold"))
    console.print(
        f"{len(study.agents)} agents, {len(study.experiments)} experiments, "
        f"{len(study.jobs)} jobs: {len(outlook.done)} done, {len(outlook.failed)} failed, "
        f"{len(outlook.missing)} to do"
    )
    for skipped in study.skipped:
        console.print(Text(f"skipped: {skipped.label}: {skipped.reason}", style="dim"))


def _work_table(study: Study, outlook: Outlook, estimates: list[Estimate]) -> Table:
    table = Table("experiment", "algorithm", box=None, padding=(0, 2, 0, 0))
    for name in ("jobs", "done", "to do", "training", "playing"):
        table.add_column(name, justify="right")
    jobs, done, missing = (
        Counter((job.experiment_name, job.agent.algorithm) for job in listed)
        for listed in (study.jobs, outlook.done, outlook.missing)
    )
    seconds: dict[tuple[str, str], tuple[float, float]] = {}
    for found in estimates:
        if found.training_seconds is not None and found.playing_seconds is not None:
            row = (found.job.experiment_name, found.job.agent.algorithm)
            training, playing = seconds.get(row, (0.0, 0.0))
            seconds[row] = training + found.training_seconds, playing + found.playing_seconds
    for row, number in jobs.items():
        times = map(_long, seconds[row]) if row in seconds else ("", "")
        table.add_row(*map(escape, row), str(number), str(done[row]), str(missing[row]), *times)
    return table


def _long(seconds: float) -> str:
    """A duration for planning: no more digits than it is known with."""
    return format_seconds(seconds, digits=2)


@contextmanager
def _bar(console: Console, study: Study) -> Iterator[Any]:
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("jobs, left: {task.fields[left]}"),
    )
    with Bar(*columns, console=console) as bar:
        task = bar.add_task("", total=len(study.jobs), left="?")

        def show(progress: Progress) -> None:
            left = progress.seconds_left
            doing = progress.running[0] if progress.running else ""
            if progress.stopping:
                doing = "stopping; once more: at once"
            room = max(10, min(60, console.width - 52))
            bar.update(
                task,
                completed=progress.done + progress.failed,
                description=escape(doing if len(doing) <= room else doing[: room - 1] + "…"),
                left="?" if left is None else _long(left),
            )

        yield show


@contextmanager
def _probe_bar(console: Console, total: int) -> Iterator[Any]:
    columns = (SpinnerColumn(), TextColumn("probing"), BarColumn(), MofNCompleteColumn())
    with Bar(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=total)
        yield lambda: bar.update(task, advance=1)
