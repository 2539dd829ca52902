"""Builds all files of a report."""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import InvalidInput, did_you_mean
from ..files import atomic_write, check_free, make_folder, slugs
from ..results.sealed import pack_table
from .answers import ANYTHING, Answer, Question, answer_all, notes_on
from .data import ReportData
from .export import agents_json, csv_of
from .notes import Note
from .tables import agents_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = ("figures", "latex", "html", "csv", "json", "parquet")
_MEANT = {
    "pdf": "figures are PDF files, and latex makes a report as PDF: ",
    "png": "figures are PNG and PDF files: ",
    "tex": "latex makes report.tex and tables: ",
    "page": "html is the page: ",
}
"""Other names for formats, each with the beginning of the answer."""

Show = Callable[[str, int, int], None]
"""Progress callback(file, done, total)."""

Make = Callable[[], bytes | str | Note]
"""Makes the content of a file, or a note if it can't be made."""


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
    show: Show = lambda name, done, total: None,
) -> Built:
    """Write a report in the given formats; nothing is written if a file is in the way."""
    wanted = check_formats(formats)
    answers = answer_all(data, question)
    products = dict(_products(data, answers, folder, wanted))
    files, notes = write_files(folder, products, overwrite, show)
    return Built(answers, files, [*notes_on(data, answers), *notes])


def write_files(
    folder: Path, products: Mapping[str, Make], overwrite: bool, show: Show
) -> tuple[list[Path], list[Note]]:
    """Write files by name; returns their paths, and notes on those that could not be made."""
    made = made_before(folder)
    for name in products:
        make_folder((folder / name).parent)
        check_free(folder / name, overwrite or is_as_made(folder / name, made.get(name)))
    files, notes = [], []
    try:
        for done, (name, make) in enumerate(products.items()):
            show(name, done, len(products))
            content = make()
            if isinstance(content, Note):
                notes.append(content)
                continue
            data = content.encode() if isinstance(content, str) else content
            atomic_write(folder / name, data, overwrite or name in made)
            files.append(folder / name)
            made[name] = hashlib.sha256(data).hexdigest()
    finally:  # also if it is interrupted
        if files:
            atomic_write(folder / MADE, json.dumps(made, indent=1).encode(), overwrite=True)
    return files, notes


MADE = ".brlbench-made.json"
"""The file with the hashes of the files that were made in its folder: they may be replaced."""


def made_before(folder: Path) -> dict[str, str]:
    """The hashes of the files that an earlier report made in a folder, by name."""
    try:
        content = json.loads((folder / MADE).read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def is_as_made(path: Path, hashed: str | None) -> bool:
    """Whether a file is as it was made; nobody has changed it, so it may be replaced."""
    try:
        return hashed is not None and hashlib.sha256(path.read_bytes()).hexdigest() == hashed
    except OSError:
        return False


def default_folder(place: Path) -> Path:
    """The default folder of a report on a folder or a file."""
    return place / "report" if place.is_dir() else Path(f"{place.stem}-report")


def check_formats(formats: Sequence[str]) -> set[str]:
    """The set of formats that a user named; `all` stands for every one."""
    for name in formats:
        if name not in (*FORMATS, "all"):
            meant = _MEANT.get(name.lower(), "")
            hint = "" if meant else did_you_mean(name, FORMATS)
            raise InvalidInput(
                f"format = {name!r}{hint}: {meant}must be all or one of {', '.join(FORMATS)}"
            )
    return set(FORMATS) if "all" in formats else set(formats)


def shows_learning(formats: Sequence[str]) -> bool:
    """Whether a report in these formats has learning curves."""
    return "html" in check_formats(formats)


def _products(
    data: ReportData, answers: list[Answer], folder: Path, wanted: set[str]
) -> Iterator[tuple[str, Make]]:
    """The names of the report's files, each with the function that makes its content."""
    names = slugs([answer.experiment.name for answer in answers])
    if "html" in wanted:
        from .page import render_page

        yield "report.html", partial(render_page, data)
    if wanted & {"figures", "latex"}:  # the LaTeX report includes the figures as PDF
        suffixes = (".pdf", ".png") if "figures" in wanted else (".pdf",)
        yield from _figures(answers, names, suffixes)
    if "latex" in wanted:
        from . import latex

        for slug, answer in zip(names, answers, strict=True):
            for kind in latex.TABLES:
                yield f"tables/{slug}-{kind}.tex", partial(latex.render_table, kind, answer)
        yield "report.tex", partial(latex.render_report, data, answers, names)
        yield "report.pdf", partial(latex.make_pdf, folder / "report.tex")
    if "csv" in wanted:
        yield "agents.csv", lambda: csv_of(agents_table(answers))
    if "json" in wanted:
        yield "agents.json", partial(agents_json, data, answers)
    if "parquet" in wanted:  # marked, so that it is not mistaken for a result
        yield "agents.parquet", lambda: pack_table("table", agents_table(answers).to_dict(), {})


def _figures(
    answers: list[Answer], names: list[str], suffixes: Sequence[str]
) -> Iterator[tuple[str, Make]]:
    from .figures import score_against_time
    from .map import best_algorithms_map

    algorithms = sorted(
        {summary.algorithm for answer in answers for summary in answer.experiment.competitors}
    )
    for slug, answer in zip(names, answers, strict=True):
        against = partial(score_against_time, answer, algorithms=algorithms)
        figures = {
            "map": partial(best_algorithms_map, answer, algorithms),
            "online": partial(against, answer.question.feature),
            "offline": partial(against, "offline"),
        }
        for kind, make in figures.items():
            draw = cache(make)
            for suffix in suffixes:
                yield f"figures/{slug}-{kind}{suffix}", partial(_rendered, draw, suffix)


def _rendered(draw: "Callable[[], Figure]", suffix: str) -> bytes:
    from .figures import render

    return render(draw(), suffix)
