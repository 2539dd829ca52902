"""What `compare` and `report` print."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..errors import InvalidInput
from ..report.answers import Answer
from ..report.data import REFERENCE, ReportData
from ..report.export import best_csv, best_json
from ..report.words import read_map, sentence
from .output import console, say, verbatim, write_out
from .tables import best_table

if TYPE_CHECKING:  # importing Matplotlib takes long, and a folder for its fonts
    from ..report.build import Built

FORMATS = ("table", "csv", "json")


def check_format(name: str) -> None:
    """Refuse an unknown format of answers."""
    if name not in FORMATS:
        raise InvalidInput(f"format = {name!r}: must be table, csv or json")


def print_answers(data: ReportData, answers: Sequence[Answer], form: str) -> None:
    """Print the winners and the best agents of every experiment."""
    if form == "csv":
        write_out(best_csv(answers))
    elif form == "json":
        write_out(best_json(data, answers))
    else:
        for found in answers:
            console.print(best_table(found))
            console.print(verbatim(sentence(found) + "\n"))
        console.print(verbatim(_legend(answers[0]), style="dim"))


def _legend(found: Answer) -> str:
    """What the columns of the tables of best agents mean."""
    question = found.question
    halves = (
        "Agents were chosen on one half of the MDPs; scores and tests are from the other half. "
        if question.honest
        else ""
    )
    return (
        f"★ winners: not significantly worse than the best (paired one-sided Z-test, level "
        f"{100 * question.level:g}%). {halves}norm.: 0 is random, 1 is {REFERENCE}, a reference "
        "that never competes. p Holm: the test's p-value, corrected for the number of tests. "
        "stable: how often the algorithm wins when the MDPs are resampled."
    )


def print_built(built: "Built") -> None:
    """Print the files of a report and its answers."""
    pages = [path for path in built.files if path.suffix == ".html"]
    lines = [
        *(f"Page: {path}" for path in pages),
        "Files:",
        *(f"  {path}" for path in built.files if path not in pages),
        "\nWinners:",
        *(f"  {sentence(found)}" for found in built.answers),
        "\nWinners as the bound on online time grows:",
        *(f"  {read_map(found)}" for found in built.answers),
    ]
    for line in lines:
        say(line)
