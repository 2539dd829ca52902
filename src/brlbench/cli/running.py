"""The command `brlbench run`: run a study here or in the background, or estimate its time."""

import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from ..errors import StoreError
from ..progress import Bar
from ..report.data import ReportData
from ..report.loading import load
from ..study.estimate import JobEstimate, estimate
from ..study.folder import Folder
from ..study.plan import Study, read_study
from ..study.run import StudyRun, find_expected_luck, survey
from ..study.schema import ExecutionTable
from ..study.start import make_executor, opened
from ..study.status import read_status
from .bars import luck_bar, study_bar
from .ending import sentence_about
from .output import console, say
from .progress import print_cost_of_probes, print_estimates, print_outlook, print_status
from .tables import score_table

_MOST_SCORES = 10  # of each experiment, after a run


def run(study: Study, execution: ExecutionTable, results: Path, retry_failed: bool = False) -> bool:
    """Run the jobs of a study that have no result yet; returns True if all have one now."""
    with opened(study, results, retry_failed) as (folder, messages):
        for message in messages:
            say(f"note: {message}, and made again")
        outlook = survey(folder, study.jobs)
        print_outlook(study, outlook)
        if outlook.missing:
            experiments = (job.experiment for job in outlook.missing)
            find_expected_luck(experiments, luck_bar)
            with (
                _resumable(),
                make_executor(execution) as executor,
                study_bar(len(study.jobs)) as show,
            ):
                racing = study.table.racing
                finished = StudyRun(study.jobs, folder, executor, execution.part, show, racing)()
            if not finished:
                say("stopped; the same command resumes it")
    status = read_status(results)
    print_status(status, is_over=True)
    return status.done == status.total


def load_scores(study: Study, results: Path) -> ReportData | None:
    """This study's results only; None if none exist."""
    folder = Folder(results)
    files = [path for job in study.jobs for path in folder.results(job)]
    return load(*files) if files else None


def print_scores(study: Study, results: Path) -> None:
    """Print the best scores of each experiment, and what to type next, if the study is over."""
    is_over = not survey(Folder(results), study.jobs).missing
    data = load_scores(study, results) if is_over else None
    if data is None:
        return
    for experiment in data.experiments:
        bound = experiment.upper_bound
        console.print(score_table(experiment.name, experiment.summaries, bound, _MOST_SCORES))
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
    outlook = survey(folder, study.jobs)
    print_outlook(study, outlook)
    estimates: list[JobEstimate] = []
    workers = 1
    if probes and outlook.missing:
        with make_executor(execution) as executor:
            workers = executor.num_workers
            print_cost_of_probes(len(outlook.missing), workers)
            with Bar("probing", len(outlook.missing), "jobs", delay=0) as bar:
                estimates = estimate(
                    outlook.missing, folder, executor, on_probe=lambda: bar.advance(1)
                )
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
