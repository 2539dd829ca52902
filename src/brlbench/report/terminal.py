"""Tables and progress for the terminal."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import polars as pl
from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Table

from ..agents.base import CompiledAgent
from ..agents.parameters import rules
from ..prior import FlatDirichlet
from .words import format_seconds as format_seconds

Advance = Callable[..., None]
"""Called with the work done since the last call and, if it changes, `description=`."""


def score_table(summary: pl.DataFrame) -> Table:
    """The agents of one experiment, the best first."""
    title = f"{summary['experiment'][0]}, {summary['num_mdps'][0]} MDPs"
    table = Table(title=escape(title), title_justify="left")
    table.add_column("agent", no_wrap=True)
    table.add_column("score ± 95% interval", justify="right")
    table.add_column("offline", justify="right")
    table.add_column("online, a decision", justify="right")
    for row in summary.sort("mean", descending=True).iter_rows(named=True):
        table.add_row(
            escape(row["agent"]),
            f"{row['mean']:.2f} ± {row['ci95']:.2f}",
            format_seconds(row["offline_seconds"]),
            format_seconds(row["online_seconds"]),
        )
    return table


def problem_table(problems: dict[str, FlatDirichlet]) -> Table:
    """The problems by name."""
    table = Table("name", "states", "actions", "possible transitions", "description")
    for name, problem in problems.items():
        sizes = (problem.num_states, problem.num_actions, len(problem.counts.values))
        table.add_row(name, *map(str, sizes), escape(problem.description))
    table.caption = "Before each name, uniform: makes a prior that knows the rewards only."
    return table


def agent_table(agents: dict[str, type[CompiledAgent]]) -> Table:
    """The agents with one line each, and their parameters with meaning and default."""
    table = Table("agent", "parameter", "default", "meaning", show_lines=False)
    for name, agent in agents.items():
        table.add_section()
        table.add_row(f"[bold]{name}[/bold]", "", "", (agent.__doc__ or "").splitlines()[0])
        for parameter, rule in rules(agent).items():
            default = getattr(agent, parameter)
            shown = "" if default is None else str(default)
            table.add_row("", parameter, shown, escape(f"{rule.meaning}; {rule.allowed}"))
    return table


@contextmanager
def progress(console: Console, total: int) -> Iterator[Advance]:
    """A bar with the time left, for work counted in trajectories."""
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("trajectories, left:"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as bar:
        task = bar.add_task("playing", total=total)

        def advance(done: int = 0, description: str | None = None) -> None:
            bar.update(task, advance=done, description=description)

        yield advance
