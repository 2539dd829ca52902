"""Print the jobs of a study, its status, and the estimated time of the rest."""

from collections import Counter
from collections.abc import Sequence

from rich.table import Table

from ..arguments import format_seconds
from ..study.estimate import PROBE_COST_SECONDS, JobEstimate
from ..study.plan import Study
from ..study.run import Outlook
from ..study.status import Status
from .bars import running_text
from .output import console, say, verbatim

_MOST_FAILURES = 5  # failed probes that are printed


def print_outlook(study: Study, outlook: Outlook) -> None:
    """Print a study's title, and how many of its jobs are done."""
    console.print(verbatim(study.table.title or study.path.name, style="bold"))
    say(
        f"{len(study.agents)} agents, {len(study.experiments)} experiments, "
        f"{len(study.jobs)} jobs: {len(outlook.done)} done, {len(outlook.failed)} failed, "
        f"{len(outlook.missing)} to do"
    )
    for skipped in study.skipped:
        console.print(verbatim(f"skipped: {skipped.label}: {skipped.reason}", style="dim"))


def print_status(status: Status, is_over: bool = False) -> None:
    """Print what is done, running, failed and left."""
    if status.title and not is_over:
        console.print(verbatim(status.title, style="bold"))
    parts = [f"{status.done} of {status.total} jobs done"]
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
    say(f"{status.num_played:,} of {status.num_trajectories:,} trajectories played")
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


def print_cost_of_probes(number: int, workers: int) -> None:
    """Print what estimating will cost, before it begins."""
    seconds = number * PROBE_COST_SECONDS
    say(
        f"probing {number} jobs takes about {_long(seconds / workers)} with {workers} workers, and "
        "compiling new agents some seconds each; --no-probes only lists the jobs"
    )


def print_estimates(
    study: Study, outlook: Outlook, estimates: Sequence[JobEstimate], workers: int
) -> None:
    """Print the jobs of a study by algorithm, and the estimated time of the missing ones."""
    console.print(_job_table(study, outlook, estimates))
    if estimates:
        total = sum(estimate.seconds for estimate in estimates)
        unknown = sum(estimate.playing_seconds is None for estimate in estimates)
        about = "At most about" if any(job.rules for job in study.jobs) else "About"
        say(
            f"{about} {_long(total)} of one core, {_long(total / workers)} with {workers} workers"
            + (f", not counting {unknown} jobs whose probe failed." if unknown else ".")
        )
    for estimate in [estimate for estimate in estimates if estimate.failure][:_MOST_FAILURES]:
        say(f"probe failed: {estimate.job}: {estimate.failure}")


def _job_table(study: Study, outlook: Outlook, estimates: Sequence[JobEstimate]) -> Table:
    table = Table("experiment", "algorithm", box=None, padding=(0, 2, 0, 0))
    for name in ("jobs", "done", "to do", "training", "playing"):
        table.add_column(name, justify="right")
    jobs, done, missing = (
        Counter((job.experiment_name, job.agent.algorithm) for job in listed)
        for listed in (study.jobs, outlook.done, outlook.missing)
    )
    seconds: dict[tuple[str, str], tuple[float, float]] = {}
    for estimate in estimates:
        if estimate.training_seconds is not None and estimate.playing_seconds is not None:
            row = (estimate.job.experiment_name, estimate.job.agent.algorithm)
            training, playing = seconds.get(row, (0.0, 0.0))
            seconds[row] = training + estimate.training_seconds, playing + estimate.playing_seconds
    for row, number in jobs.items():
        times = map(_long, seconds[row]) if row in seconds else ("", "")
        table.add_row(*map(verbatim, row), str(number), str(done[row]), str(missing[row]), *times)
    return table


def _long(seconds: float) -> str:
    """A duration for planning, with two digits."""
    return format_seconds(seconds, digits=2)
