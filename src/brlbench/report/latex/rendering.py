"""Fills the templates of the tables and of the report."""

import math
import re
from collections.abc import Sequence
from functools import cache
from importlib.metadata import version

from jinja2 import Environment, PackageLoader, StrictUndefined

from ...arguments import format_seconds
from ...results.display import format_number
from ...results.schema import Place, shown_in
from .. import words
from ..answers import Answer, notes_on
from ..data import REFERENCE, ReportData
from .escaping import Latex, breakable, escape, plain

TABLES = ("best", "tests", "agents")
"""The tables of an experiment, each with a template."""


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
    environment.filters.update(breakable=breakable, plain=plain)
    environment.globals.update(
        REFERENCE=REFERENCE,
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
