"""Commands for studies: demo, run, status, retime."""

import sys
from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from ..arguments import counted
from .completion import executor_names
from .options import Results, Seed, Workers
from .output import say


def demo(
    output: Annotated[Path, Option("--output", "-o", help="The folder for results.")] = Path(
        "demo-results"
    ),
    mdps: Annotated[int, Option(min=2, help="MDPs in each experiment.")] = 500,
    seed: Seed = 0,
    workers: Workers = None,
) -> None:
    """Run a small real study: three problems, accurate and uniform priors, twelve agents.

    Results that are already in the folder are kept and not played again.

    Example: [bold]brlbench demo --mdps 100 --output /tmp/demo[/bold]
    """
    from .demo import run_demo

    if not run_demo(output, mdps, seed, workers):
        raise typer.Exit(1)


def run(
    study: Annotated[Path, Argument(help="A study file (TOML); see studies/quick.toml.")],
    results: Annotated[
        Path | None,
        Option("--results", "-r", help="The folder for results; by default ./STUDY-results."),
    ] = None,
    dry: Annotated[
        bool, Option("--dry-run", help="List the jobs and estimate their time.")
    ] = False,
    probes: Annotated[
        bool, Option(help="With --dry-run: estimate the time from short probes.")
    ] = True,
    workers: Workers = None,
    executor: Annotated[
        str | None,
        Option(help="local, dask or slurm; the study's by default.", autocompletion=executor_names),
    ] = None,
    scheduler: Annotated[
        str | None, Option(help="The address of a Dask scheduler; a new one by default.")
    ] = None,
    profile: Annotated[
        Path | None, Option(help="A TOML file with the keys of a study's execution table.")
    ] = None,
    retry_failed: Annotated[
        bool, Option("--retry-failed", help="Retry jobs that failed before.")
    ] = False,
    race: Annotated[
        bool, Option("--race", help="Stop agents early that are surely not the best.")
    ] = False,
    halving: Annotated[
        bool,
        Option("--halving", help="Of expensive algorithms, let only the best agents play all."),
    ] = False,
    detach: Annotated[
        bool, Option("--detach", help="Run in the background; see brlbench status.")
    ] = False,
) -> None:
    """Run a study: many agents in several experiments, described in one file.

    Results that are already in the folder are not made again: the same command resumes a run that
    was stopped or killed at any moment. Ctrl-C stops cleanly; a second one stops at once.

    Examples: [bold]brlbench run studies/quick.toml --results quick[/bold],
    [bold]brlbench run studies/paper-accurate.toml --dry-run[/bold],
    [bold]brlbench run study.toml --executor slurm --profile cluster.toml --detach[/bold]
    """
    from ..study.start import default_folder, prepare, rules_of
    from . import running

    folder = results or default_folder(study)
    options = {"executor": executor, "workers": workers, "scheduler": scheduler}
    rules = rules_of(race, halving)
    if detach and not dry:
        running.detach(study, rules, folder, [each for each in sys.argv[1:] if each != "--detach"])
    elif dry:
        running.dry_run(*prepare(study, options, profile, rules), folder, probes)
    else:
        planned, execution = prepare(study, options, profile, rules)
        is_complete = running.run(planned, execution, folder, retry_failed)
        running.print_scores(planned, folder)
        if not is_complete:
            raise typer.Exit(1)


def status(
    results: Annotated[Path, Argument(help="A folder with a study, from brlbench run.")],
) -> None:
    """Show what is done, running, failed and left in a study.

    Example: [bold]brlbench status quick[/bold]
    """
    from ..study.status import read_status
    from .running import print_status

    print_status(read_status(results))


def retime(
    results: Results,
    agent: Annotated[
        list[str] | None,
        Option(help="A class of yours, module:Class, whose agents may be run; repeatable."),
    ] = None,
) -> None:
    """Measure the times of results anew: together, on this machine, with this version.

    Agents are trained again and play a few of their MDPs, in turn over all. Where the returns are
    those that are stored, the files get the new times; all else in them stays as it is. Nothing
    else should run meanwhile.

    Examples: [bold]brlbench retime results[/bold], [bold]brlbench retime small.parquet[/bold]
    """
    from ..progress import Bar
    from ..study.retime import retime as measure

    with Bar("timing", None, "step", delay=0) as bar:
        files = measure(results, agent or (), lambda name, *of: bar.show(of[0], None, of[1], name))
    for path, number, omissions in files:
        say(f"{path}: new times of {number - len(omissions)} of {counted(number, 'result')}")
        for name, reason in omissions.items():
            say(f"  {name}: {reason}")
