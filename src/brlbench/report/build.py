"""Makes all files of a report."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

from matplotlib.figure import Figure
from rich.console import Console
from rich.text import Text

from ..analysis.times import FEATURES
from ..cli import tables as terminal
from ..errors import InvalidInput, StoreError, did_you_mean
from ..files import atomic_write, check_free
from . import export, latex, words
from .data import ReportData
from .figures import Looks, render, score_against_time, styles
from .loading import load
from .map import best_algorithms_map
from .tables import ANYTHING, Answer, Question, answer_all, notes_on

FORMATS = ("figures", "latex", "html", "csv", "json", "parquet")

Write = Callable[[Path, bool], str | None]
"""Writes a file, over an old one or not; returns a note if there is something to say."""


@dataclass(frozen=True, eq=False)
class Report:
    """What was made, the answers in it, and what should be said about it."""

    answers: list[Answer]
    files: list[Path]
    notes: list[str]


def build(
    data: ReportData,
    folder: Path,
    formats: Sequence[str] = ("all",),
    question: Question = ANYTHING,
    overwrite: bool = False,
) -> Report:
    """Write a report in the given formats; nothing is written if a file is in the way."""
    wanted = check_formats(formats)
    answers = answer_all(data, question)
    products = dict(_products(data, answers, wanted))
    for name in products:
        _make_folder((folder / name).parent)
        check_free(folder / name, overwrite)
    notes = notes_on(data, answers)
    files = []
    for name, write in products.items():
        note = write(folder / name, overwrite)
        if note is None:
            files.append(folder / name)
        else:
            notes.append(note)
    return Report(answers, files, notes)


def load_for(places: Sequence[Path], question: Question) -> ReportData:
    """Read results of files and folders, with the time feature that is asked for."""
    return load(*places, own_features=[] if question.feature in FEATURES else [question.feature])


def usual_folder(place: Path) -> Path:
    """Where the report on a folder or a file goes, unless told otherwise."""
    return place / "report" if place.is_dir() else Path(f"{place.stem}-report")


def compare(
    data: ReportData,
    question: Question,
    experiment: str | None,
    form: str,
    console: Console,
    errors: Console,
) -> None:
    """Print the winners and the best agents as a table, CSV or JSON; notes go to `errors`."""
    if form not in ("table", "csv", "json"):
        raise InvalidInput(f"format = {form!r}: must be table, csv or json")
    answers = answer_all(data, question, experiment)
    if form == "table":
        terminal.print_answers(console, answers)
    elif form == "csv":
        console.out(export.best_csv(answers).decode(), end="", highlight=False)
    else:
        console.out(export.best_json(data, answers).decode(), end="", highlight=False)
    terminal.print_notes(errors, notes_on(data, answers))


def print_report(made: Report, console: Console, errors: Console) -> None:
    """Say which files were made, and what the answers are."""
    lines = [
        "Files:",
        *(f"  {path}" for path in made.files),
        "\nWinners:",
        *(f"  {words.sentence(found)}" for found in made.answers),
        "\nWinners as the bound on online time grows:",
        *(f"  {words.read_map(found)}" for found in made.answers),
    ]
    for line in lines:
        console.print(Text(line), soft_wrap=True)
    terminal.print_notes(errors, made.notes)


def check_formats(formats: Sequence[str]) -> set[str]:
    """The formats that are meant by what a user said."""
    for name in formats:
        if name not in (*FORMATS, "all"):
            raise InvalidInput(
                f"format = {name!r}{did_you_mean(name, FORMATS)}: must be all or one of "
                f"{', '.join(FORMATS)}"
            )
    return set(FORMATS) if "all" in formats else set(formats)


def slugs(answers: Sequence[Answer]) -> list[str]:
    """Names of experiments that fit into names of files, no two of them alike."""
    made: list[str] = []
    for number, found in enumerate(answers, start=1):
        slug = re.sub(r"[^A-Za-z0-9]+", "-", found.experiment.name)[:60].strip("-") or "experiment"
        taken = slug.lower() in (other.lower() for other in made)
        made.append(f"{slug}-{number}" if taken else slug)
    return made


def _products(
    data: ReportData, answers: list[Answer], wanted: set[str]
) -> Iterator[tuple[str, Write]]:
    """Names of files within the report, and what writes them."""
    if wanted & {"figures", "latex"}:  # the LaTeX report includes the figures
        yield from _figures(answers)
    if "latex" in wanted:
        yield from _latex(data, answers)
    if "html" in wanted:
        yield "report.html", partial(_write_page, data)
    if "csv" in wanted:
        yield "agents.csv", _content(partial(export.agents_csv, answers))
    if "json" in wanted:
        yield "agents.json", _content(partial(export.agents_json, data, answers))
    if "parquet" in wanted:
        yield "agents.parquet", lambda path, over: export.write_agents_parquet(path, answers, over)


def _figures(answers: list[Answer]) -> Iterator[tuple[str, Write]]:
    algorithms = {entry.algorithm for found in answers for entry in found.experiment.competitors}
    looks = styles(sorted(algorithms))
    for slug, found in zip(slugs(answers), answers, strict=True):
        for kind in ("map", "online", "offline"):
            draw = cache(partial(_figure, found, kind, looks))
            for suffix in (".pdf", ".png"):
                yield f"figures/{slug}-{kind}{suffix}", _content(partial(_rendered, draw, suffix))


def _figure(found: Answer, kind: str, looks: Looks) -> Figure:
    if kind == "map":
        return best_algorithms_map(found)
    feature = found.question.feature if kind == "online" else "offline"
    return score_against_time(found, feature, looks)


def _rendered(draw: Callable[[], Figure], suffix: str) -> bytes:
    return render(draw(), suffix)


def _latex(data: ReportData, answers: list[Answer]) -> Iterator[tuple[str, Write]]:
    names = slugs(answers)
    for slug, found in zip(names, answers, strict=True):
        for kind in latex.TABLES:
            yield f"tables/{slug}-{kind}.tex", _content(partial(latex.render_table, kind, found))
    yield "report.tex", _content(partial(latex.render_report, data, answers, names))
    yield "report.pdf", lambda path, over: latex.make_pdf(path.with_suffix(".tex"), path, over)


def _write_page(data: ReportData, path: Path, overwrite: bool) -> None:
    from .page import write_page

    write_page(data, path, overwrite)


def _content(make: Callable[[], bytes | str]) -> Write:
    """Write what a function makes."""

    def write(path: Path, overwrite: bool) -> None:
        made = make()
        atomic_write(path, made.encode() if isinstance(made, str) else made, overwrite)

    return write


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"{folder} can't be made: {error.strerror}") from None
