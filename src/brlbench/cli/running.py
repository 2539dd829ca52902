"""Studies in the terminal: running them here or in the background, status, estimated time."""

import shlex
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.table import Table

from ..arguments import counted, format_seconds
from ..errors import StoreError
from ..executors.read_only import can_make_read_only
from ..progress import Bar
from ..report.data import ReportData
from ..report.loading import load
from ..report.notes import random_notes
from ..study.estimate import PROBE_COST_SECONDS, JobEstimate, estimate
from ..study.folder import Folder
from ..study.levels import expected_mdps
from ..study.plan import Job, Study, read_study
from ..study.run import Outlook, StudyRun, find_expected_luck, survey
from ..study.schema import ExecutionTable
from ..study.start import make_executor, opened
from ..study.status import Status, read_status
from .answers import print_notes
from .bars import luck_bar, running_text, study_bar
from .ending import sentence_about
from .output import console, say, verbatim
from .tables import print_tables

_MOST_SCORES = 10  # of each experiment, after a run
_MOST_FAILURES = 5  # failed probes that are printed


def run(study: Study, execution: ExecutionTable, results: Path, retry_failed: bool = False) -> bool:
    """Run the jobs of a study that have no result yet; returns True if all have one now."""
    with opened(study, results, retry_failed) as (folder, messages):
        for message in messages:
            say(f"note: {message}, and made again")
        outlook = survey(folder, study.jobs)
        print_outlook(study, outlook)
        if outlook.missing:
            _note_on_protection(execution, results, outlook.missing)
            experiments = (job.experiment for job in outlook.missing)
            find_expected_luck(experiments, luck_bar)
            with (
                _resumable(),
                make_executor(execution) as executor,
                study_bar(len(study.jobs)) as show,
            ):
                rule = study.table.rule
                finished = StudyRun(study.jobs, folder, executor, execution.part, show, rule)()
            if not finished:
                say("stopped; the same command resumes it")
    status = read_status(results)
    print_status(status, is_over=True)
    return status.done == status.total


def _note_on_protection(execution: ExecutionTable, results: Path, jobs: Sequence[Job]) -> None:
    """Say if agents could change results on this machine."""
    is_here = execution.executor == "local"
    if is_here and any(job.guest for job in jobs) and not can_make_read_only(results):
        say("note: this system does not let brlbench protect results from your agents' mistakes")


def load_scores(study: Study, results: Path, learning: bool = False) -> ReportData | None:
    """This study's results only, with learning curves if wanted; None if none exist."""
    folder = Folder(results)
    files = [path for job in study.jobs for path in folder.results(job)]
    return load(*files, learning=learning) if files else None


def print_scores(study: Study, results: Path) -> None:
    """Print the best scores of each experiment, and what to type next, if the study is over."""
    is_over = not survey(Folder(results), study.jobs).missing
    data = load_scores(study, results) if is_over else None
    if data is None:
        return
    print_tables(data, _MOST_SCORES)
    print_notes(list(random_notes(data.experiments)), in_full=True)
    folder = shlex.quote(str(results))
    most = max(len(experiment.summaries) for experiment in data.experiments)
    commands = {
        f"brlbench compare {folder}": "the winners, and how sure that is",
        f"brlbench report {folder}": "figures, tables and an interactive page",
    }
    if most > _MOST_SCORES:
        commands[f"brlbench compare {folder} --all"] = f"all agents; {_MOST_SCORES} are shown here"
    print_next(commands)


def print_next(commands: Mapping[str, str]) -> None:
    """Print what to type next, and what it is for."""
    width = max(map(len, commands))
    say("Next:")
    for command, purpose in commands.items():
        say(f"  {command:{width}}  # {purpose}")


@contextmanager
def _resumable() -> Iterator[None]:
    """Tells users that nothing is lost if the folder becomes unusable."""
    try:
        yield
    except (OSError, StoreError) as error:
        raise StoreError(
            f"the run stopped: {sentence_about(error)}; the same command resumes it"
        ) from error


def dry_run(study: Study, execution: ExecutionTable, results: Path, probes: bool) -> None:
    """Print the jobs of a study, and what the missing ones will take."""
    folder = Folder(results)
    outlook = survey(folder, study.jobs)
    print_outlook(study, outlook)
    number, workers = len(outlook.missing), 1
    estimates: list[JobEstimate] = []
    if probes and number:
        with make_executor(execution) as executor:
            workers = executor.num_workers
            seconds = number * PROBE_COST_SECONDS / workers
            say(
                f"probing {counted(number, 'job')} takes about {_long(seconds)} with "
                f"{counted(workers, 'worker')}, and compiling new agents some seconds each; "
                "--no-probes only lists the jobs"
            )
            with Bar("probing", number, "job", delay=0) as bar:
                estimates = estimate(
                    outlook.missing,
                    folder,
                    executor,
                    on_probe=lambda: bar.advance(1),
                    expected_mdps=expected_mdps(study.jobs, study.table.rule),
                )
    print_estimates(study, outlook, estimates, workers)


def detach(path: Path, rules: Sequence[str], results: Path, arguments: Sequence[str]) -> None:
    """Start the same command again, in the background."""
    read_study(path, rules)  # fail before detaching
    log = results / "run.log"
    try:
        results.mkdir(parents=True, exist_ok=True)
        output = log.open("ab")
    except OSError as error:
        raise StoreError(f"{log} can't be written: {error.strerror}") from None
    with output:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "brlbench", *arguments],
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


def print_outlook(study: Study, outlook: Outlook) -> None:
    """Print a study's title, and how many of its jobs are done."""
    console.print(verbatim(study.table.title or study.path.name, style="bold"))
    say(
        f"{counted(len(study.agents), 'agent')}, {counted(len(study.experiments), 'experiment')}, "
        f"{counted(len(study.jobs), 'job')}: {len(outlook.done)} done, "
        f"{len(outlook.failed)} failed, {len(outlook.missing)} to do"
    )
    for skipped in study.skipped:
        console.print(verbatim(f"skipped: {skipped.label}: {skipped.reason}", style="dim"))


def print_status(status: Status, is_over: bool = False) -> None:
    """Print what is done, running, failed and left."""
    if status.title and not is_over:
        console.print(verbatim(status.title, style="bold"))
    parts = [f"{status.done} of {counted(status.total, 'job')} done"]
    if status.failures:
        parts.append(f"{len(status.failures)} failed")
    if status.left:
        parts.append(f"{status.left} left ({status.begun} of them begun)")
    say(", ".join(parts))
    if not is_over:
        _print_details(status)
    if is_over and status.stopped:
        say(f"{len(status.stopped)} of them stopped early; brlbench status says why")
    for job in [] if is_over else status.stopped:
        say(f"{job.agent} on {job.experiment}: {job.reason}")
    for failure in status.failures:
        say(f"failed: {failure.agent} on {failure.experiment}: {failure.reason}")
    if status.failures:
        say("try these again with brlbench run --retry-failed; tracebacks are in failures/")
    for failure in status.interruptions:
        say(f"interrupted: {failure.agent} on {failure.experiment}: {failure.reason}")
    if status.interruptions:
        say("the next brlbench run tries these again")


def _print_details(status: Status) -> None:
    say(f"{status.num_played:,} of {counted(status.num_trajectories, 'trajectory', ',')} played")
    for name, (done, total) in status.by_experiment.items():
        say(f"  {name}: {done} of {total}")
    if status.owner:
        say(f"{'stopping' if status.stopping else 'running'}: {status.owner}")
        for running in status.running:
            say(f"  {running_text(running)}")
        if status.seconds_left is not None:
            say(f"about {_long(status.seconds_left)} left")
    elif status.left:
        say("not running; start it again with brlbench run")


def print_estimates(
    study: Study, outlook: Outlook, estimates: Sequence[JobEstimate], workers: int
) -> None:
    """Print the jobs of a study by algorithm, and the estimated time of the missing ones."""
    console.print(_job_table(study, outlook, estimates))
    if estimates:
        total = sum(each.seconds for each in estimates)
        unknown = sum(each.playing_seconds is None for each in estimates)
        about = "At most about" if any(job.rules for job in study.jobs) else "About"
        say(
            f"{about} {_long(total)} of one core, {_long(total / workers)} with "
            + counted(workers, "worker")
            + (f", not counting {counted(unknown, 'job')} whose probe failed." if unknown else ".")
        )
    for failed in [each for each in estimates if each.failure][:_MOST_FAILURES]:
        say(f"probe failed: {failed.job}: {failed.failure}")


def _job_table(study: Study, outlook: Outlook, estimates: Sequence[JobEstimate]) -> Table:
    table = Table("experiment", "algorithm", box=None, padding=(0, 2, 0, 0))
    for name in ("jobs", "done", "to do", "training", "playing"):
        table.add_column(name, justify="right")
    groups = (study.jobs, outlook.done, outlook.missing)
    jobs, done, missing = (Counter(map(_row, each)) for each in groups)
    training: dict[tuple[str, str], float] = defaultdict(float)
    playing: dict[tuple[str, str], float] = defaultdict(float)
    for each in estimates:
        if each.training_seconds is not None and each.playing_seconds is not None:
            training[_row(each.job)] += each.training_seconds
            playing[_row(each.job)] += each.playing_seconds
    for row, number in jobs.items():
        times = (_long(training[row]), _long(playing[row])) if row in training else ("", "")
        table.add_row(*map(verbatim, row), str(number), str(done[row]), str(missing[row]), *times)
    return table


def _row(job: Job) -> tuple[str, str]:
    return job.experiment_name, job.agent.algorithm


def _long(seconds: float) -> str:
    """A duration for planning, with two digits."""
    return format_seconds(seconds, digits=2)
