"""Tables and a complete report in LaTeX, and its PDF where LaTeX is installed."""

import math
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from ...arguments import counted, format_seconds
from ...errors import reason
from ...results.display import format_number
from ...results.schema import Place, shown_in
from .. import words
from ..answers import Answer, notes_on
from ..data import REFERENCE, ReportData
from ..notes import Note
from .escaping import Latex, breakable, escape, plain

TABLES = ("best", "tests", "agents")
"""The tables of an experiment, each with a template."""

_SECONDS = 600  # timeout of latexmk


@cache
def _environment() -> Environment:
    """Templates with marks that LaTeX never uses; every value in them is escaped."""
    environment = Environment(
        block_start_string="<%",
        block_end_string="%>",
        variable_start_string="<<",
        variable_end_string=">>",
        comment_start_string="<#",
        comment_end_string="#>",
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        finalize=escape,
        loader=PackageLoader("brlbench", "report/latex"),
    )
    environment.filters.update(breakable=breakable, counted=counted, plain=plain)
    environment.globals.update(
        REFERENCE=REFERENCE,
        PAST=words.PAST,
        LIMIT=words.LIMIT,
        PASSES=words.PASSES,
        bound=lambda bound: _minus(words.format_bound(bound)),
        feature=lambda name: words.feature_texts(name).sentence,
        quantities=shown_in(Place.LATEX),
        quantity=format_number,
        number=_number,
        p_value=words.format_p,
        score=lambda score: _minus(str(score)),
        seconds=format_seconds,
        sentence=words.sentence,
        read_map=words.read_map,
        version=version("brlbench"),
    )
    return environment


def render_table(kind: str, answer: Answer) -> str:
    """One of `TABLES` for an experiment, as LaTeX."""
    return _environment().get_template(f"{kind}.tex.j2").render(answer=answer)


def render_report(data: ReportData, answers: Sequence[Answer], slugs: Sequence[str]) -> str:
    """The report as LaTeX; it includes figures and tables, named by the experiments' slugs."""
    template = _environment().get_template("report.tex.j2")
    sections = list(zip(slugs, answers, strict=True))
    question = answers[0].question
    return template.render(
        sections=sections,
        notes=notes_on(data, answers),
        question=question,
        level=f"{100 * question.level:g}%",
        scale=words.scale_sentence([answer.experiment for answer in answers]),
        straddling=any(answer.straddling for answer in answers),
        has_bound=any(answer.experiment.upper_bound is not None for answer in answers),
    )


def _number(value: float | None, decimals: int = 2) -> Latex | str:
    if value is None or math.isnan(value):
        return Latex("--")
    if math.isinf(value):
        return Latex(r"$\infty$" if value > 0 else r"$-\infty$")
    return _minus(f"{value:.{decimals}f}")


def _minus(text: str) -> str:
    """The text with minus signs instead of hyphens before numbers."""
    return re.sub(r"(?<!\w)-(?=\d)", "\N{MINUS SIGN}", text)


def make_pdf(source: Path) -> bytes | Note:
    """Compile a report; returns the PDF, or a note if LaTeX is missing or fails."""
    target, latexmk = source.with_suffix(".pdf").name, shutil.which("latexmk")
    if latexmk is None:
        return Note(f"{target} was not made because latexmk is not installed; {source.name} was")
    try:
        with tempfile.TemporaryDirectory() as work:
            output = _compiled(latexmk, source, Path(work))
    except subprocess.TimeoutExpired:
        return Note(f"{target} was not made: latexmk took longer than {_SECONDS} seconds")
    except OSError as error:  # no place for temporary files, for example
        return Note(f"{target} was not made: {reason(error)}")
    if isinstance(output, str):
        return Note(f"{target} was not made: latexmk says {output}")
    return output


def _compiled(latexmk: str, source: Path, work: Path) -> bytes | str:
    """The PDF, or the complaint of latexmk."""
    # A copy without other files of the folder, in which LaTeX would look for packages.
    folder = source.parent
    for part in (source, *folder.glob("tables/*.tex"), *folder.glob("figures/*.pdf")):
        copied = work / part.relative_to(folder)
        copied.parent.mkdir(exist_ok=True)
        shutil.copyfile(part, copied)
    options = ["-norc", "-pdf", "-interaction=nonstopmode", "-halt-on-error"]
    run = subprocess.run(
        [latexmk, *options, "-latexoption=-no-shell-escape", source.name],
        cwd=work,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=_SECONDS,
        check=False,
    )
    pdf = work / (source.stem + ".pdf")
    if run.returncode or not pdf.exists():
        return _complaint(run.stdout + run.stderr)
    return pdf.read_bytes()


def _complaint(output: str) -> str:
    """The first error in the output of LaTeX."""
    errors = [line for line in output.splitlines() if line.startswith("!")]
    lines = errors or [line for line in output.splitlines() if line.strip()] or ["nothing"]
    return repr(lines[0] if errors else lines[-1])
