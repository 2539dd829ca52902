"""The demo: a study that comes with the package, its tables, a figure and a page."""

import os
from pathlib import Path

from ..files import atomic_write
from ..report.data import ReportData
from ..report.figures import render, score_against_online_time
from ..report.loading import load
from ..report.page import write_page
from ..study.folder import Folder
from ..study.start import prepare
from .output import console, say
from .running import run
from .tables import score_table

STUDY = Path(__file__).parent / "shipped" / "demo.toml"


def run_demo(output: Path, mdps: int, seed: int, workers: int | None) -> bool:
    """Run the study and show its results; returns True if it is complete."""
    study, execution = prepare(STUDY, {"workers": workers}, num_mdps=mdps, seed=seed)
    if not run(study, execution, output):
        return False
    folder = Folder(output)
    data = load(*(folder.result(job) for job in study.jobs))
    for experiment in data.experiments:
        console.print(score_table(experiment.name, experiment.summaries))
    _write_figure_and_page(data, output)
    return True


def _write_figure_and_page(data: ReportData, folder: Path) -> None:
    figure, page = folder / "score-against-online-time.png", folder / "report.html"
    drawn = render(score_against_online_time(data.experiments), figure.suffix)
    atomic_write(figure, drawn, overwrite=True)
    write_page(data, page, overwrite=True)
    say(f"Results: {folder}{os.sep}\nFigure:  {figure}\nReport:  {page}")
