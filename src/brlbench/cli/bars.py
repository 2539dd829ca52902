"""Progress bars."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeRemainingColumn,
)

from ..arguments import format_seconds
from .output import one_line

if TYPE_CHECKING:
    from ..study.run import Progress as StudyProgress

Advance = Callable[..., None]
"""Called with the trajectories played since the last call; keywords change the bar."""

_OTHER_COLUMNS = 52  # characters of a study's bar beside its description


@contextmanager
def trajectories_bar(
    console: Console, total: int, description: str = "playing", transient: bool = False
) -> Iterator[Advance]:
    """A bar with the time left, for work counted in trajectories; a transient one disappears."""
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
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
def training_bar(console: Console) -> Iterator[Callable[[int, int], None]]:
    """A bar whose function takes the number of trajectories done and their total."""
    with trajectories_bar(console, 1, "training", transient=True) as advance:
        yield lambda done, total: advance(completed=done, total=total)


@contextmanager
def study_bar(console: Console, total: int) -> Iterator[Callable[["StudyProgress"], None]]:
    """A bar that counts a study's jobs, with what is running and the time left."""
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("jobs, left: {task.fields[left]}"),
    )
    with Progress(*columns, console=console) as bar:
        task = bar.add_task("", total=total, left="?")

        def show(progress: "StudyProgress") -> None:
            left = progress.seconds_left
            doing = progress.running[0] if progress.running else ""
            if progress.stopping:
                doing = "stopping; Ctrl-C again stops at once"
            room = max(10, min(60, console.width - _OTHER_COLUMNS))
            bar.update(
                task,
                completed=progress.done + progress.failed,
                description=one_line(doing if len(doing) <= room else doing[: room - 1] + "…"),
                left="?" if left is None else format_seconds(left, digits=2),
            )

        yield show


@contextmanager
def probes_bar(console: Console, total: int) -> Iterator[Callable[[], None]]:
    """A transient bar that counts probes."""
    columns = (SpinnerColumn(), TextColumn("probing"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=total)
        yield lambda: bar.update(task, advance=1)
