"""The demo: a study that comes with the package, its tables, a figure and a page."""

import os
import shlex
from pathlib import Path

from rich.padding import Padding

from ..analysis.bounds import LEVEL
from ..files import atomic_write
from ..report.answers import ANYTHING, Answer, Question, answer_all
from ..report.data import ReportData
from ..report.figures import render, score_against_online_time
from ..report.page import write_page
from ..report.words import sentence
from ..results.times import ONLINE
from ..study.start import prepare
from .output import console, say, verbatim
from .running import load_scores, print_next, run
from .tables import print_tables

_OFFLINE, _ONLINE = "100ms", "20us"  # bounds that change the winners: no time to train or to plan
STUDY = Path(__file__).parent / "shipped" / "demo.toml"


def run_demo(output: Path, mdps: int, seed: int, workers: int | None) -> bool:
    """Run the study and show its results; returns True if it is complete."""
    study, execution = prepare(STUDY, {"workers": workers}, num_mdps=mdps, seed=seed)
    if not run(study, execution, output):
        return False
    data = load_scores(study, output, learning=True)
    assert data is not None
    print_tables(data)
    _write_figure_and_page(data, output)
    _print_winners(data)
    folder, bounds = shlex.quote(str(output)), f"--offline {_OFFLINE} --online {_ONLINE}"
    print_next(
        {
            f"brlbench compare {folder} {bounds}": "tables and tests",
            f"brlbench report {folder}": "figures, LaTeX and PDF, exports",
        }
    )
    return True


def _print_winners(data: ReportData) -> None:
    """Print the winners without bounds, and within bounds where these change them."""
    bounded = Question.parse(_OFFLINE, _ONLINE, ONLINE, LEVEL, honest=True)
    answers = [answer_all(data, question) for question in (ANYTHING, bounded)]
    changed = [
        within
        for without, within in zip(*answers, strict=True)
        if _algorithms(without) != _algorithms(within)
    ]
    for title, group in (("Winners:", answers[0]), ("Bounds on time change them:", changed)):
        if group:
            say(title)
        for each in group:
            console.print(Padding(verbatim(sentence(each)), (0, 0, 0, 2)))


def _algorithms(answer: Answer) -> list[str]:
    """The winning algorithms, in alphabetical order."""
    return sorted(summary.algorithm for summary in answer.winners)


def _write_figure_and_page(data: ReportData, folder: Path) -> None:
    figure, page = folder / "score-against-online-time.png", folder / "report.html"
    image = render(score_against_online_time(data.experiments), figure.suffix)
    atomic_write(figure, image, overwrite=True)
    write_page(data, page, overwrite=True)
    say(f"Results: {folder}{os.sep}\nFigure:  {figure}\nReport:  {page}")
