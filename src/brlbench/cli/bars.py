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
from ..report.words import format_score
from .output import one_line

if TYPE_CHECKING:
    from ..analysis.bayes_bound import Growth
    from ..protocol.experiment import Experiment
    from ..study.run import Progress as StudyProgress
    from ..study.tally import Running

Advance = Callable[..., None]
"""Called with the trajectories played since the last call; keywords change the bar."""

_STOPPING = "stopping; Ctrl-C again stops at once"
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
def playing_bar(console: Console, total: int) -> Iterator[Callable[["StudyProgress"], None]]:
    """A bar that counts the trajectories of one job, with its score so far."""
    with trajectories_bar(console, total) as advance:

        def show(progress: "StudyProgress") -> None:
            doing = _score_text(progress.running[0]) if progress.running else ""
            if progress.stopping:
                doing = _STOPPING
            advance(completed=total - progress.trajectories_left, description=doing or "playing")

        yield show


def running_text(unit: "Running") -> str:
    """What is running, after its score so far if that is known."""
    return ": ".join(filter(None, [_score_text(unit), unit.what]))


def _score_text(unit: "Running") -> str:
    if unit.mean is None or unit.ci95 is None:
        return ""
    return f"{format_score(unit.mean, unit.ci95)} in {unit.num_mdps} MDPs"


@contextmanager
def study_bar(console: Console, total: int) -> Iterator[Callable[["StudyProgress"], None]]:
    """A bar that counts a study's jobs, with what is running, its score and the time left."""
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
            doing = running_text(_most_telling(progress.running)) if progress.running else ""
            if progress.stopping:
                doing = _STOPPING
            room = max(10, min(60, console.width - _OTHER_COLUMNS))
            bar.update(
                task,
                completed=progress.done + progress.failed,
                description=one_line(doing if len(doing) <= room else doing[: room - 1] + "…"),
                left="?" if left is None else format_seconds(left, digits=2),
            )

        yield show


def _most_telling(running: "list[Running]") -> "Running":
    """The first unit with a score, or the first."""
    return next((unit for unit in running if unit.mean is not None), running[0])


@contextmanager
def files_bar(console: Console) -> Iterator[Callable[[str, int, int], None]]:
    """A transient bar that counts files, and names the one that is made; terminals only."""
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
    )
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as bar:
        task = bar.add_task("reading results", total=None)

        def show(name: str, done: int, total: int) -> None:
            bar.update(task, completed=done, total=total, description=one_line(name))

        yield show


@contextmanager
def probes_bar(console: Console, total: int) -> Iterator[Callable[[], None]]:
    """A transient bar that counts probes."""
    columns = (SpinnerColumn(), TextColumn("probing"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=total)
        yield lambda: bar.update(task, advance=1)


@contextmanager
def luck_bar(console: Console, experiment: "Experiment") -> Iterator[Callable[[int, int], None]]:
    """A transient bar whose function takes the MDPs drawn since its last call, and their total."""
    columns = (
        SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(),
        MofNCompleteColumn(), TextColumn("MDPs, left:"), TimeRemainingColumn(),
    )  # fmt: skip
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(one_line(f"{experiment.name}: expected luck"), visible=False)
        yield lambda drawn, total: bar.update(task, advance=drawn, total=total, visible=True)


@contextmanager
def search_bar(
    console: Console, seconds: float | None, beliefs: int | None, depth: int | None
) -> Iterator[Callable[["Growth"], None]]:
    """A transient bar over the seconds or the beliefs of a search, with its bound so far."""
    from ..analysis.bayes_bound import SECONDS

    columns = (
        SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(),
        TextColumn("left:"), TimeRemainingColumn(),
    )  # fmt: skip
    if seconds is None and beliefs is None and depth is None:
        seconds = SECONDS
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("drawing MDPs", total=beliefs if seconds is None else seconds)

        def show(growth: "Growth") -> None:
            done = growth.beliefs if seconds is None else growth.seconds
            text = f"bound {growth.estimate:.4g}, {growth.beliefs:,} beliefs"
            bar.update(task, completed=done, description=text)

        yield show
