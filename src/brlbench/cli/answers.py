"""The output of `compare` and `report`."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..arguments import counted, is_unit
from ..errors import InvalidInput
from ..report import tables as exported
from ..report.answers import Answer
from ..report.data import ReportData
from ..report.export import answers_json, csv_of, pairs_json
from ..report.notes import Note
from ..report.pairs import make_pairs
from ..report.words import OWN, STRADDLES, WINNER, read_map, scale_sentence, sentence
from .output import console, errors, say, verbatim, write_out
from .tables import best_table, everyone_table, pair_table

if TYPE_CHECKING:  # importing Matplotlib takes long, and a folder for its fonts
    from ..report.build import Built

FORMATS = ("table", "csv", "json")
_MOST_NOTES = 3  # in the line that stands for all


def check_format(name: str) -> None:
    """Refuse an unknown format of answers."""
    if name not in FORMATS:
        raise InvalidInput(f"format = {name!r}: must be table, csv or json")


def divide(arguments: Sequence[Path]) -> tuple[tuple[str, str] | None, list[Path]]:
    """The two agents among the arguments, if any, and the files and folders."""
    agents = [str(each) for each in arguments if not os.path.exists(each)]
    places = [each for each in arguments if os.path.exists(each)]
    if not agents or not places:
        return None, list(arguments)
    if len(agents) == 2:
        return (agents[0], agents[1]), places
    if unit := next(filter(is_unit, agents), None):
        raise InvalidInput(
            f"{unit!r} stands alone: write a time without a space, as in 5us, or in quotes"
        )
    raise InvalidInput(
        f"there is no {agents[0]}: give folders or files with results, and before them two agents "
        "or none"
    )


def print_answers(data: ReportData, answers: Sequence[Answer], form: str, everyone: bool) -> None:
    """Print the winners and the best agents of every experiment, or everyone."""
    if form == "csv":
        table = exported.everyone_table if everyone else exported.best_table
        write_out(csv_of(table(answers)))
    elif form == "json":
        write_out(answers_json(data, answers, everyone))
    else:
        for answer in answers:
            console.print(everyone_table(answer) if everyone else best_table(answer))
            _print_paragraph(sentence(answer))
        if not everyone and all(len(answer.experiment.summaries) == 2 for answer in answers):
            for answer in (each for each in answers if each.num_tested > 1):
                one, other = answer.experiment.summaries
                _print_paragraph(str(answer.pair(one.label, other.label)))
        console.print(verbatim(_legend(answers, everyone), style="dim"))


def print_pairs(
    data: ReportData, answers: Sequence[Answer], agents: tuple[str, str], form: str
) -> None:
    """Print how two agents compare, in every experiment that has both."""
    pairs = make_pairs(answers, *agents)
    if form == "csv":
        write_out(csv_of(exported.pairs_table(pairs)))
    elif form == "json":
        write_out(pairs_json(data, answers, pairs))
    else:
        bounds = {each.experiment.name: each.experiment.upper_bound for each in answers}
        for pair in pairs:
            console.print(pair_table(pair, answers[0].question.feature, bounds[pair.experiment]))
            _print_paragraph(str(pair))


def _print_paragraph(text: str) -> None:
    console.print(verbatim(text + "\n"))


def _legend(answers: Sequence[Answer], everyone: bool) -> str:
    """The meaning of the marks and the columns of the tables."""
    question = answers[0].question
    summaries = [row.summary for answer in answers for row in answer.rows]
    own = f"{OWN} your own agents. " if any(summary.is_own for summary in summaries) else ""
    way = (
        "The first quarter of the MDPs chose the agents; scores and tests are of the others. "
        if question.honest
        else "As in the paper, the same MDPs chose and tested agents, which flatters the best. "
    )
    tests = (
        "p: the test's p-value, without correction for the number of tests."
        if everyone
        else "p Holm: the test's p-value, corrected for the number of tests. stable: how often the "
        "algorithm wins when the MDPs are resampled."
    )
    experiments = [answer.experiment for answer in answers]
    scale = scale_sentence(experiments)
    straddling = f"{STRADDLES} the 95% interval of the processor time contains the online bound. "
    if not any(answer.straddling for answer in answers):
        straddling = ""
    is_adjusted = any(summary.adjusted is not None for summary in summaries)
    scores = "score: the mean return with its luck taken out. " if is_adjusted else ""
    return (
        f"{WINNER} winners: not significantly worse than the best (paired one-sided test, level "
        f"{100 * question.level:g}%). {own}{straddling}{way}{scores}norm.: {scale}. {tests}"
    )


def print_notes(notes: Sequence[Note], in_full: bool, how: str = "--notes lists all") -> None:
    """Print notes on results: in full, or the first ones in one line and how to see them all."""
    for line in [note.in_full for note in notes] if in_full else _collapsed(notes, how):
        errors.print(verbatim(f"note: {line}"), soft_wrap=True)


def _collapsed(notes: Sequence[Note], how: str) -> list[str]:
    """One line with the first notes, each with one of its results; no line without notes."""
    first = [note.naming(1) for note in notes[:_MOST_NOTES]]
    rest = len(notes) - len(first)
    is_cut = rest > 0 or any(len(note.results) > 1 for note in notes)
    line = "; ".join([*first, *([f"and {counted(rest, 'more note')}"] if rest else [])])
    return [line + (f" ({how})" if is_cut else "")] if notes else []


def print_built(built: "Built") -> None:
    """Print the files of a report and its answers."""
    pages = [path for path in built.files if path.suffix == ".html"]
    lines = [
        *(f"Page: {path}" for path in pages),
        "Files:",
        *(f"  {path}" for path in built.files if path not in pages),
        "\nWinners:",
        *(f"  {sentence(answer)}" for answer in built.answers),
        "\nWinners as the bound on online time grows:",
        *(f"  {read_map(answer)}" for answer in built.answers),
    ]
    for line in lines:
        say(line)
    print_notes(built.notes, False, "the report and brlbench compare --notes have them all")
