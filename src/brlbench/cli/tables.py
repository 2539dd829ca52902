"""Scores as tables for the terminal."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from ..arguments import format_seconds
from ..report.answers import Answer, Row
from ..report.data import REFERENCE
from ..report.line_breaks import break_name, least_width
from ..report.pairs import Pair
from ..report.words import bound_sentence, describe_bounds, format_p, mark
from ..results.display import format_number
from ..results.schema import Place, Quantity, shown_in
from ..results.score import Score
from ..results.summary import Summary
from ..results.times import ONLINE
from .output import verbatim


@dataclass
class ScoreTable:
    """A table of agents that never breaks a word of their names, if there is room at all.

    Where the terminal is narrow, names break after commas, and then `spare` columns are left out.
    """

    title: str
    names: str  # the title of the column of names
    columns: list[str]  # the titles of the others
    spare: Sequence[str] = ()  # columns to leave out, the first one first
    rows: list[tuple[str, str, list[str]]] = field(default_factory=list)  # marks, name, cells
    references: int = 0  # how many of the rows, at the end, are no competitors
    caption: str = ""  # below the table

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw the table as wide as its content, at most as wide as the terminal."""
        names = [verbatim(name).plain for _, name, _ in self.rows]
        kept = self._fitting(options.max_width, names)
        room = max(1, options.max_width - self._width(kept))
        table = Table(
            title=verbatim(self.title, "table.title"),
            title_justify="left",
            box=box.SIMPLE_HEAD,
            padding=0,
            caption=self.caption or None,
            caption_justify="left",
        )
        table.add_column("", no_wrap=True)
        table.add_column(self.names, no_wrap=True)
        for i in kept:
            table.add_column(self.columns[i], justify="right", no_wrap=True)
        for number, (marks, _, cells) in enumerate(self.rows):
            if number == len(self.rows) - self.references:
                table.add_section()
            name = Text("\n".join(break_name(names[number], room, cell_len)))
            style = "dim" if number >= len(self.rows) - self.references else ""
            table.add_row(marks, name, *(cells[i] for i in kept), style=style)
        yield table

    def _fitting(self, width: int, names: Sequence[str]) -> list[int]:
        """The columns that leave room for every word of the names."""
        needed = max((least_width(name, cell_len) for name in [self.names, *names]), default=0)
        kept = list(range(len(self.columns)))
        for title in self.spare:
            if self._width(kept) + needed <= width:
                break
            kept.remove(self.columns.index(title))
        return kept

    def _width(self, kept: Sequence[int]) -> int:
        """The width of the table without names."""
        marked = max([1, *(cell_len(marks) for marks, _, _ in self.rows)])
        cells = [
            max(
                cell_len(line)
                for text in [self.columns[i], *(cells[i] for _, _, cells in self.rows)]
                for line in text.split("\n")
            )
            for i in kept
        ]
        return marked + sum(cells) + len(kept) + 3  # spaces between columns and at the ends


def score_table(
    experiment: str,
    summaries: Sequence[Summary],
    bound: float | None = None,
    most: int | None = None,
) -> ScoreTable:
    """The agents of one experiment, best first, at most so many; and what none of them can pass."""
    table = ScoreTable(
        f"{experiment}, {max(len(each.returns) for each in summaries)} MDPs",
        "agent",
        [_score_title(summaries), "offline", "online"],
        caption=bound_sentence(bound),
    )
    for summary in sorted(summaries, key=lambda each: -each.score.mean)[:most]:
        table.rows.append((mark(summary), summary.marked_label, _line(summary)))
    return table


def best_table(answer: Answer) -> ScoreTable:
    """The best agent of each algorithm within the bounds of the question."""
    columns = ["norm.", "offline", "online", "p Holm", "stable"]
    table = _answer_table(answer, "best agents", columns, spare=("stable", "norm."))
    for row in answer.rows:
        p_value = format_p(row.test.p_holm) if row.test else ""
        cells = [*_cells(row, answer), p_value, f"{100 * row.stability:.0f}%"]
        table.rows.append((mark(row.summary, row.winner), row.summary.marked_label, cells))
    _add_references(table, answer)
    return table


def everyone_table(answer: Answer) -> ScoreTable:
    """Every agent within the bounds of the question."""
    quantities = _known_quantities(answer.experiment.summaries)
    titles = [each.title for each in quantities]
    columns = ["norm.", "offline", "online", *titles, "p"]
    table = _answer_table(answer, "agents", columns, spare=(*titles, "norm."))
    winners = {summary.label for summary in answer.winners}
    for place, each in enumerate(answer.allowed):
        shown = format_p(each.p_value) if place and answer.num_tested > 1 else ""
        marked = mark(each.summary, each.summary.label in winners)
        cells = [*_cells(each, answer), *_numbers(each.summary, quantities), shown]
        table.rows.append((marked, each.summary.marked_label, cells))
    _add_references(table, answer, quantities)
    return table


def pair_table(pair: Pair, feature: str) -> ScoreTable:
    """The scores and times of two agents."""
    agents = (pair.first, pair.second)
    columns = [_score_title(agents), "offline", "online"]
    table = ScoreTable(f"{pair.experiment}, {pair.num_mdps} MDPs", "agents", columns)
    for summary in agents:
        table.rows.append((mark(summary), summary.marked_label, _line(summary, feature)))
    return table


def _answer_table(
    answer: Answer, names: str, columns: Sequence[str], spare: Sequence[str]
) -> ScoreTable:
    bounds = describe_bounds(answer.question)
    title = f"{answer.experiment.name}, {answer.num_tested} MDPs{f', {bounds}' if bounds else ''}"
    columns = [_score_title(answer.experiment.summaries), *columns]
    caption = bound_sentence(answer.experiment.upper_bound)
    return ScoreTable(title, names, columns, spare, caption=caption)


def _cells(row: Row, answer: Answer) -> list[str]:
    normalised = row.normalised
    return [
        _scores(row.score, row.unadjusted),
        "" if normalised is None else f"{normalised:.2f}",
        *_times(row.summary, answer.question.feature),
    ]


def _known_quantities(summaries: Sequence[Summary]) -> list[Quantity]:
    """The quantities that the terminal shows, without those that no agent has."""
    return [
        each
        for each in shown_in(Place.TERMINAL)
        if any(summary.quantities.get(each.name) is not None for summary in summaries)
    ]


def _numbers(summary: Summary, quantities: Sequence[Quantity]) -> list[str]:
    return [format_number(each, summary.quantities.get(each.name)) for each in quantities]


def _add_references(table: ScoreTable, answer: Answer, quantities: Sequence[Quantity] = ()) -> None:
    for summary in answer.experiment.summaries:
        if summary.algorithm == REFERENCE:
            score, *times = _line(summary, answer.question.feature)
            cells = [score, "", *times, *_numbers(summary, quantities)]
            empty = [""] * (len(table.columns) - len(cells))
            table.rows.append(("", f"{summary.marked_label} (reference)", [*cells, *empty]))
            table.references += 1


def _line(summary: Summary, feature: str = ONLINE) -> list[str]:
    unadjusted = None if summary.adjusted is None else summary.unadjusted
    return [_scores(summary.score, unadjusted), *_times(summary, feature)]


def _score_title(summaries: Sequence[Summary]) -> str:
    is_adjusted = any(summary.adjusted is not None for summary in summaries)
    return "score ± 95%" + ("\n(mean return)" if is_adjusted else "")


def _scores(score: Score, unadjusted: Score | None) -> str:
    """A score, and below it the mean return if the score is adjusted."""
    below = "" if unadjusted is None else f"\n({unadjusted})"
    return f"{score}{below}"


def _times(summary: Summary, feature: str) -> tuple[str, str]:
    offline, online = summary.seconds["offline"], summary.seconds[feature]
    return format_seconds(offline), format_seconds(online)
