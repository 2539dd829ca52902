"""The demo: a study that comes with the package, its winners, a figure and a page."""

import shlex
from pathlib import Path

from rich import box
from rich.table import Table

from ..analysis.bounds import LEVEL
from ..files import atomic_write
from ..report.answers import ANYTHING, Answer, Question, answer_all
from ..report.data import ReportData
from ..report.figures import render, score_against_online_time
from ..report.page import write_page
from ..report.words import describe_bounds
from ..results.times import ONLINE
from ..study.folder import Folder
from ..study.run import survey
from ..study.start import prepare
from .output import console, say, verbatim
from .running import load_scores, print_next, run

_OFFLINE, _ONLINE = "100ms", "20us"  # bounds that change the winners: no time to train or to plan
_MOST_NAMES = 4  # of winners
STUDY = Path(__file__).parent / "shipped" / "demo.toml"


def run_demo(output: Path, mdps: int, seed: int, workers: int | None) -> bool:
    """Run the study and show its results; returns True if it is complete."""
    study, execution = prepare(STUDY, {"workers": workers}, num_mdps=mdps, seed=seed)
    if survey(Folder(output), study.jobs).missing:
        say(
            "Two cores take about a minute, and two to three the first time, when code is compiled."
        )
    if not run(study, execution, output):
        return False
    data = load_scores(study, output, learning=True)
    assert data is not None
    figure, page = output / "score-against-online-time.png", output / "report.html"
    image = render(score_against_online_time(data.experiments), figure.suffix)
    atomic_write(figure, image, overwrite=True)
    write_page(data, page, overwrite=True)
    console.print(_winners(data))
    say(f"Page:    {page} (open it in a browser, and move the bounds on time)\nFigure:  {figure}")
    folder, bounds = shlex.quote(str(output)), f"--offline {_OFFLINE} --online {_ONLINE}"
    print_next(
        {
            f"brlbench compare {folder} {bounds}": "scores, times and tests",
            f"brlbench report {folder}": "figures, LaTeX and PDF, exports",
        }
    )
    return True


def _winners(data: ReportData) -> Table:
    """The winners of all experiments, without bounds on time and within some."""
    bounded = Question.parse(_OFFLINE, _ONLINE, ONLINE, LEVEL, honest=True)
    table = Table(
        title="\nWinners: the best algorithm, and those not significantly worse",
        title_justify="left",
        box=box.SIMPLE_HEAD,
        padding=(0, 2, 0, 0),
        show_edge=False,
    )
    table.add_column("experiment", no_wrap=True)
    table.add_column("best score", justify="right", no_wrap=True)
    table.add_column("winners")
    table.add_column(f"within {describe_bounds(bounded)}")
    for free, within in zip(*(answer_all(data, each) for each in (ANYTHING, bounded)), strict=True):
        score = str(free.rows[0].score) if free.rows else ""
        names, names_within = _algorithms(free), _algorithms(within)
        changed = "the same" if sorted(names) == sorted(names_within) else _listed(names_within)
        cells = (free.experiment.name, score, _listed(names), changed)
        table.add_row(*map(verbatim, cells))
    return table


def _algorithms(answer: Answer) -> list[str]:
    """The winning algorithms, the best first."""
    return [summary.algorithm for summary in answer.winners]


def _listed(names: list[str]) -> str:
    """The first names, and how many more there are."""
    rest = len(names) - _MOST_NAMES
    return ", ".join(names[:_MOST_NAMES]) + (f" and {rest} more" if rest > 0 else "")
