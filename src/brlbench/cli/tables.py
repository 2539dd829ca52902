"""Scores as tables for the terminal."""

from collections.abc import Sequence
from typing import Any

from rich import box
from rich.table import Table

from ..analysis.times import ONLINE
from ..arguments import format_seconds
from ..protocol.score import Score
from ..protocol.summary import Summary
from ..report.answers import Answer
from ..report.data import REFERENCE
from ..report.words import describe_bounds, format_p, format_score
from .output import verbatim


def score_table(experiment: str, summaries: Sequence[Summary]) -> Table:
    """The agents of one experiment, best first."""
    title = f"{experiment}, {len(summaries[0].returns)} MDPs"
    table = _table(title)
    table.add_column("agent", overflow="fold")
    for name in (_score_title(summaries), "offline", "online, per decision"):
        table.add_column(name, justify="right", no_wrap=True)
    for summary in sorted(summaries, key=lambda each: -each.score.mean):
        table.add_row(
            verbatim(summary.label),
            _scores(summary.score, summary.unadjusted if summary.adjusted else None),
            *_times(summary, ONLINE),
        )
    return table


def best_table(found: Answer) -> Table:
    """The best agent of each algorithm within the bounds of the question."""
    bounds = describe_bounds(found.question)
    title = f"{found.experiment.name}, {found.num_tested} MDPs{f', {bounds}' if bounds else ''}"
    table = _table(title, box=box.SIMPLE_HEAD, padding=0)
    table.add_column("")
    table.add_column("best agents", overflow="fold")
    title = _score_title(found.experiment.summaries)
    for name in (title, "norm.", "offline", "online", "p Holm", "stable"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in found.rows:
        table.add_row(
            "★" if row.winner else "",
            verbatim(row.summary.label),
            _scores(row.score, row.unadjusted),
            "" if row.normalised is None else f"{row.normalised:.2f}",
            *_times(row.summary, found.question.feature),
            format_p(row.test.holm) if row.test else "",
            f"{100 * row.stability:.0f}%",
        )
    table.add_section()
    for summary in found.experiment.summaries:
        if summary.algorithm == REFERENCE:
            score = _scores(summary.score, summary.unadjusted if summary.adjusted else None)
            label = verbatim(f"{summary.label} (reference)")
            times = _times(summary, found.question.feature)
            table.add_row("", label, score, "", *times, style="dim")
    return table


def _score_title(summaries: Sequence[Summary]) -> str:
    is_adjusted = any(summary.adjusted is not None for summary in summaries)
    return "score ± 95%" + ("\n(mean return)" if is_adjusted else "")


def _scores(score: Score, unadjusted: Score | None) -> str:
    """A score, and below it the mean return if the score is adjusted."""
    below = "" if unadjusted is None else f"\n({format_score(*unadjusted)})"
    return format_score(*score) + below


def _table(title: str, **options: Any) -> Table:
    return Table(title=verbatim(title, "table.title"), title_justify="left", **options)


def _times(summary: Summary, feature: str) -> tuple[str, str]:
    offline, online = summary.seconds["offline"], summary.seconds[feature]
    return format_seconds(offline), format_seconds(online)
