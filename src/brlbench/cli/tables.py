"""Tables and progress for the terminal."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import polars as pl
from rich import box
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
from rich.text import Text

from ..arguments import format_seconds
from ..report.data import REFERENCE, Entry
from ..report.tables import Answer
from ..report.words import describe_bounds, format_p, format_score, sentence

Advance = Callable[..., None]
"""Called with the work done since the last call and, if it changes, `description=` or `total=`."""


def score_table(summary: pl.DataFrame) -> Table:
    """The agents of one experiment, the best first."""
    title = f"{summary['experiment'][0]}, {summary['num_mdps'][0]} MDPs"
    table = Table(title=escape(title), title_justify="left")
    table.add_column("agent", overflow="fold")
    for name in ("score ± 95% interval", "offline", "online, a decision"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in summary.sort("mean", descending=True).iter_rows(named=True):
        table.add_row(
            escape(row["agent"]),
            f"{row['mean']:.2f} ± {row['ci95']:.2f}",
            format_seconds(row["offline_seconds"]),
            format_seconds(row["online_seconds"]),
        )
    return table


def best_table(found: Answer) -> Table:
    """The best agent of each algorithm within the bounds that were asked for."""
    bounds = describe_bounds(found.question)
    title = f"{found.experiment.name}, {found.num_tested} MDPs{f', {bounds}' if bounds else ''}"
    table = Table(title=escape(title), title_justify="left", box=box.SIMPLE_HEAD, padding=0)
    table.add_column("")
    table.add_column("best agents", overflow="fold")
    for name in ("score ± 95%", "norm.", "offline", "online", "p Holm", "stable"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in found.rows:
        table.add_row(
            "★" if row.winner else "",
            Text(row.entry.label),
            format_score(row.mean, row.ci95),
            "" if row.normalised is None else f"{row.normalised:.2f}",
            *_times(row.entry, found),
            format_p(row.test.adjusted) if row.test else "",
            f"{100 * row.stability:.0f}%",
        )
    table.add_section()
    for entry in found.experiment.entries:
        if entry.algorithm == REFERENCE:
            score = format_score(entry.mean, entry.ci95)
            label = Text(f"{entry.label} (reference)")
            table.add_row("", label, score, "", *_times(entry, found), style="dim")
    return table


def _times(entry: Entry, found: Answer) -> tuple[str, str]:
    online = entry.features[found.question.feature]
    return format_seconds(entry.features["offline"]), format_seconds(online)


def explain(answers: Sequence[Answer]) -> str:
    """What the columns of the tables of best agents mean."""
    question = answers[0].question
    halves = (
        "Agents were chosen on one half of the MDPs; scores and tests are from the other half. "
        if question.honest
        else ""
    )
    return (
        f"★ winners: not significantly worse than the best (paired one-sided Z-test, level "
        f"{100 * question.level:g}%). {halves}norm.: 0 is random, 1 is {REFERENCE}, a reference "
        "that never competes. p Holm: of the test, corrected for the number of tests. stable: how "
        "often the algorithm wins when the MDPs are resampled."
    )


def print_answers(console: Console, answers: Sequence[Answer]) -> None:
    """The winners in a sentence an experiment, and the tables."""
    for found in answers:
        console.print(best_table(found))
        console.print(Text(sentence(found) + "\n"))
    console.print(Text(explain(answers)), style="dim")


def print_notes(console: Console, notes: Sequence[str]) -> None:
    """What should be known about results."""
    for note in notes:
        console.print(Text(f"note: {note}"), soft_wrap=True)


@contextmanager
def progress(
    console: Console, total: int, description: str = "playing", transient: bool = False
) -> Iterator[Advance]:
    """A bar with the time left, for work counted in trajectories; a transient one goes away."""
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("trajectories, left:"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=transient) as bar:
        task = bar.add_task(description, total=total)

        def advance(done: int = 0, **changes: Any) -> None:
            bar.update(task, advance=done, **changes)

        yield advance


@contextmanager
def training_progress(console: Console) -> Iterator[Callable[[int, int], None]]:
    """A bar with the time left, told how many trajectories are done and how many there will be."""
    with progress(console, 1, "training", transient=True) as advance:
        yield lambda done, total: advance(completed=done, total=total)
