"""Tables and a complete report in LaTeX, and the PDF where LaTeX is installed."""

import math
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from ... import __version__
from ...arguments import format_seconds
from ...files import atomic_write
from .. import words
from ..data import REFERENCE, ReportData
from ..tables import Answer, notes_on
from .escaping import Latex, breakable, escape, plain

TABLES = ("best", "tests", "agents")
"""The tables of an experiment; each has a template."""

_SECONDS = 600  # how long latexmk may take


@cache
def _environment() -> Environment:
    """Templates whose marks LaTeX never uses; every value in them is escaped."""
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
    environment.filters.update(breakable=breakable, plain=plain)
    environment.globals.update(
        REFERENCE=REFERENCE,
        feature=words.describe_feature,
        number=_number,
        p_value=words.format_p,
        score=lambda mean, half_width: _minus(words.format_score(mean, half_width)),
        seconds=format_seconds,
        sentence=words.sentence,
        read_map=words.read_map,
        version=__version__,
    )
    return environment


def render_table(kind: str, found: Answer) -> str:
    """One of `TABLES` for an experiment."""
    return _environment().get_template(f"{kind}.tex.j2").render(found=found)


def render_report(data: ReportData, answers: Sequence[Answer], slugs: Sequence[str]) -> str:
    """The report; figures and tables are files beside it, named by the experiments' slugs."""
    template = _environment().get_template("report.tex.j2")
    sections = list(zip(slugs, answers, strict=True))
    question = answers[0].question
    return template.render(
        sections=sections, notes=notes_on(data, answers), question=question,
        level=f"{100 * question.level:g}%",
    )  # fmt: skip


def make_pdf(source: Path, target: Path, overwrite: bool = False) -> str | None:
    """Compile a report; returns a note if there is no LaTeX, or if it fails."""
    latexmk = shutil.which("latexmk")
    if latexmk is None:
        return f"{target.name} was not made, for latexmk is not installed; {source.name} was"
    command = [latexmk, "-norc", "-pdf", "-interaction=nonstopmode", "-halt-on-error"]
    with tempfile.TemporaryDirectory() as work:
        try:
            run = subprocess.run(
                [*command, f"-outdir={work}", source.name], cwd=source.parent,
                capture_output=True, text=True, errors="replace", timeout=_SECONDS, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return f"{target.name} was not made: latexmk took longer than {_SECONDS} seconds"
        made = Path(work, source.stem + ".pdf")
        if run.returncode or not made.exists():
            return f"{target.name} was not made: latexmk says {_complaint(run.stdout + run.stderr)}"
        atomic_write(target, made.read_bytes(), overwrite)
    return None


def _complaint(output: str) -> str:
    """The first error in the output of LaTeX."""
    errors = [line for line in output.splitlines() if line.startswith("!")]
    lines = errors or [line for line in output.splitlines() if line.strip()] or ["nothing"]
    return repr(lines[0] if errors else lines[-1])


def _number(value: float | None, decimals: int = 2) -> Latex | str:
    if value is None or math.isnan(value):
        return Latex("--")
    if math.isinf(value):
        return Latex(r"$\infty$" if value > 0 else r"$-\infty$")
    return _minus(f"{value:.{decimals}f}")


def _minus(text: str) -> str:
    """A text whose negative numbers have a minus sign instead of a hyphen."""
    return re.sub(r"(?<!\w)-(?=\d)", "\N{MINUS SIGN}", text)
