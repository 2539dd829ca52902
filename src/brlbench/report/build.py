"""Builds all files of a report."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

from matplotlib.figure import Figure

from ..errors import InvalidInput, did_you_mean
from ..files import atomic_write, check_free, make_folder, slugs
from ..results.sealed import write_table
from . import latex
from .answers import ANYTHING, Answer, Question, answer_all, notes_on
from .data import ReportData
from .export import agents_json, csv_of
from .figures import render, score_against_time
from .map import best_algorithms_map
from .notes import Note
from .tables import agents_table

FORMATS = ("figures", "latex", "html", "csv", "json", "parquet")

Write = Callable[[Path, bool], str | None]
"""Writes a file, replacing an old one if allowed; returns a note if it could not be made."""


@dataclass(frozen=True, eq=False, repr=False)
class Built:
    """A report that was built: its answers, its files, and notes on both."""

    answers: list[Answer]
    files: list[Path]
    notes: list[Note]

    def __repr__(self) -> str:
        return "\n".join(["Files:", *(f"  {path}" for path in self.files)])


def build(
    data: ReportData,
    folder: Path,
    formats: Sequence[str] = ("all",),
    question: Question = ANYTHING,
    overwrite: bool = False,
    show: Callable[[str, int, int], None] = lambda name, done, total: None,
) -> Built:
    """Write a report in the given formats; nothing is written if a file is in the way.

    `show` is a progress callback(file, done, total).
    """
    wanted = check_formats(formats)
    answers = answer_all(data, question)
    products = dict(_products(data, answers, wanted))
    for name in products:
        make_folder((folder / name).parent)
        check_free(folder / name, overwrite)
    notes = notes_on(data, answers)
    files = []
    for done, (name, write) in enumerate(products.items()):
        show(name, done, len(products))
        note = write(folder / name, overwrite)
        if note is None:
            files.append(folder / name)
        else:
            notes.append(Note(note))
    return Built(answers, files, notes)


def default_folder(place: Path) -> Path:
    """The default folder of a report on a folder or a file."""
    return place / "report" if place.is_dir() else Path(f"{place.stem}-report")


def check_formats(formats: Sequence[str]) -> set[str]:
    """The set of formats that a user named; `all` stands for every one."""
    for name in formats:
        if name not in (*FORMATS, "all"):
            raise InvalidInput(
                f"format = {name!r}{did_you_mean(name, FORMATS)}: must be all or one of "
                f"{', '.join(FORMATS)}"
            )
    return set(FORMATS) if "all" in formats else set(formats)


def shows_learning(formats: Sequence[str]) -> bool:
    """Whether a report in these formats has learning curves."""
    return "html" in check_formats(formats)


def _products(
    data: ReportData, answers: list[Answer], wanted: set[str]
) -> Iterator[tuple[str, Write]]:
    """The names of the report's files, each with the function that writes it."""
    if "html" in wanted:
        yield "report.html", partial(_write_page, data)
    if wanted & {"figures", "latex"}:  # the LaTeX report includes the figures
        yield from _figures(answers)
    if "latex" in wanted:
        yield from _latex(data, answers)
    if "csv" in wanted:
        yield "agents.csv", _content(lambda: csv_of(agents_table(answers)))
    if "json" in wanted:
        yield "agents.json", _content(partial(agents_json, data, answers))
    if "parquet" in wanted:
        yield "agents.parquet", lambda path, over: write_table(path, agents_table(answers), over)


def _names(answers: list[Answer]) -> list[str]:
    """The experiments' names for files."""
    return slugs([answer.experiment.name for answer in answers])


def _figures(answers: list[Answer]) -> Iterator[tuple[str, Write]]:
    algorithms = sorted(
        {summary.algorithm for answer in answers for summary in answer.experiment.competitors}
    )
    for slug, answer in zip(_names(answers), answers, strict=True):
        for kind in ("map", "online", "offline"):
            draw = cache(partial(_figure, answer, kind, algorithms))
            for suffix in (".pdf", ".png"):
                yield f"figures/{slug}-{kind}{suffix}", _content(partial(_rendered, draw, suffix))


def _figure(answer: Answer, kind: str, algorithms: list[str]) -> Figure:
    if kind == "map":
        return best_algorithms_map(answer, algorithms)
    feature = answer.question.feature if kind == "online" else "offline"
    return score_against_time(answer, feature, algorithms)


def _rendered(draw: Callable[[], Figure], suffix: str) -> bytes:
    return render(draw(), suffix)


def _latex(data: ReportData, answers: list[Answer]) -> Iterator[tuple[str, Write]]:
    names = _names(answers)
    for slug, answer in zip(names, answers, strict=True):
        for kind in latex.TABLES:
            yield f"tables/{slug}-{kind}.tex", _content(partial(latex.render_table, kind, answer))
    yield "report.tex", _content(partial(latex.render_report, data, answers, names))
    yield "report.pdf", lambda path, over: latex.make_pdf(path.with_suffix(".tex"), path, over)


def _write_page(data: ReportData, path: Path, overwrite: bool) -> None:
    from .page import write_page

    write_page(data, path, overwrite)


def _content(make: Callable[[], bytes | str]) -> Write:
    """A function that writes the result of another one."""

    def write(path: Path, overwrite: bool) -> None:
        content = make()
        atomic_write(path, content.encode() if isinstance(content, str) else content, overwrite)

    return write
