"""The progress bars of commands: they appear at once; pipes get lines."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ..arguments import counted
from ..progress import Bar
from ..results.score import Score, named

if TYPE_CHECKING:
    from ..analysis.bayes_bound import Growth
    from ..protocol.experiment import Experiment
    from ..study.tally import Progress, Running
    from ..testing.findings import Requirement

_STOPPING = "stopping; Ctrl-C again stops at once"


@contextmanager
def training_bar() -> Iterator[Callable[[int, int], None]]:
    """A bar whose callback takes the trajectories played so far, and their total."""
    with Bar("training", None, "trajectory", delay=0) as bar:
        yield lambda done, total: bar.advance(done - bar.done, total)


@contextmanager
def luck_bar(experiment: "Experiment") -> Iterator[Callable[[int, int], None]]:
    """A bar whose callback takes the MDPs drawn since its last call, and their total."""
    with Bar(f"{experiment.name}: expected luck", None, "MDP", delay=0.5) as bar:
        yield bar.advance


@contextmanager
def playing_bar(total: int) -> Iterator[Callable[["Progress"], None]]:
    """A bar that counts the trajectories of one job, with its score so far."""
    with Bar("playing", total, "trajectory", delay=0) as bar:

        def show(progress: "Progress") -> None:
            score = _score_text(progress.running[0]) if progress.running else ""
            name = _STOPPING if progress.stopping else score or "playing"
            bar.show(total - progress.trajectories_left, progress.seconds_left, name=name)

        yield show


@contextmanager
def study_bar(total: int) -> Iterator[Callable[["Progress"], None]]:
    """A bar that counts a study's jobs, with what is running, its score and the time left."""
    with Bar("getting ready", total, "job", delay=0) as bar:

        def show(progress: "Progress") -> None:
            scored = [each for each in progress.running if each.mean is not None]
            texts = map(running_text, scored or progress.running)
            name = _STOPPING if progress.stopping else next(texts, "")
            bar.show(progress.done + progress.failed, progress.seconds_left, name=name)

        yield show


def running_text(running: "Running") -> str:
    """A running job, after its mean return so far if that is known."""
    return ": ".join(filter(None, [_score_text(running), running.what]))


def _score_text(running: "Running") -> str:
    if running.mean is None or running.ci95 is None:
        return ""
    return f"{named(Score(running.mean, running.ci95), None)} in {counted(running.num_mdps, 'MDP')}"


@contextmanager
def files_bar() -> Iterator[Callable[[str, int, int], None]]:
    """A bar that counts files, and names the current one."""
    with Bar("reading results", None, "file", delay=0) as bar:
        yield lambda name, done, total: bar.show(done, total=total, name=name)


@contextmanager
def rules_bar(agent: str, rules: "Mapping[str, Requirement]") -> Iterator[Callable[[str], None]]:
    """A bar that counts the rules that were checked, and states the current one."""
    with Bar(f"checking {agent}", len(rules), "rules", delay=0) as bar:
        numbers = {rule: number for number, rule in enumerate(rules)}
        yield lambda rule: bar.show(numbers[rule], name=rules[rule].statement)


@contextmanager
def search_bar(
    seconds: float | None, beliefs: int | None, depth: int | None
) -> Iterator[Callable[["Growth"], None]]:
    """A bar over the seconds or the beliefs of a search, with its bound so far."""
    from ..analysis.bayes_bound import SECONDS

    if seconds is None and beliefs is None and depth is None:
        seconds = SECONDS
    with Bar("drawing MDPs", beliefs if seconds is None else seconds, delay=0) as bar:

        def show(growth: "Growth") -> None:
            text = f"bound {growth.estimate:.4g}, {counted(growth.beliefs, 'belief', ',')}"
            done = growth.beliefs if seconds is None else growth.seconds
            left = None if seconds is None else max(0.0, seconds - growth.seconds)
            bar.show(done, left, name=text)

        yield show
