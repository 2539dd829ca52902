"""Scores as tables for the terminal."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from ..arguments import counted, format_seconds
from ..report.answers import Answer, Row
from ..report.data import ReportData
from ..report.line_breaks import break_name, least_width
from ..report.pairs import Pair
from ..report.words import bound_sentence, describe_bounds, format_p, mark
from ..results.display import format_number
from ..results.schema import Place, shown_in
from ..results.summary import Summary
from ..results.times import ONLINE
from .output import console, verbatim

_SCORE = "score ± 95%"


@dataclass
class ScoreTable:
    """A table of agents that never breaks a word of their names, if there is room at all.

    Where the terminal is narrow, names break after commas, and then `spare` columns are left out.
    """

    title: str
    names: str  # the title of the column of names
    feature: str = ONLINE  # the time feature of the column `online`
    columns: Sequence[str] = (_SCORE, "offline", "online")
    spare: Sequence[str] = ()  # columns to leave out, the first one first
    bound: float | None = None  # on the scores, said below the table
    rows: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)  # marks, name, cells
    summaries: list[Summary] = field(default_factory=list)  # of the rows
    references: int = 0  # how many of the rows, at the end, are no competitors

    def add(
        self, scored: Summary | Row, marks: tuple[bool, ...] = (), note: str = "", **more: str
    ) -> None:
        """Add an agent with its scores, times and quantities, and more cells by column."""
        summary = scored.summary if isinstance(scored, Row) else scored
        score, mean_return = (
            (scored.score, scored.unadjusted) if isinstance(scored, Row) else scored.scores
        )
        cells = {
            _SCORE: f"{score}" + ("" if mean_return is None else f"\n({mean_return})"),
            "offline": format_seconds(summary.seconds["offline"]),
            "online": format_seconds(summary.seconds[self.feature]),
            **more,
        }
        for each in shown_in(Place.TERMINAL):
            cells[each.title] = format_number(each, summary.quantities.get(each.name))
        signs = mark(summary, self.bound, *marks)
        self.rows.append((signs, summary.marked_label + note, cells))
        self.summaries.append(summary)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw the table as wide as its content, at most as wide as the terminal."""
        names = [verbatim(name).plain for _, name, _ in self.rows]
        needed = max(least_width(name, cell_len) for name in [self.names, *names])
        columns, spare = list(self.columns), list(self.spare)

        def room() -> int:
            """The width that is left for names."""
            nameless = self._table("", [""] * len(names), columns)
            return options.max_width - console.measure(nameless).maximum

        while spare and room() < needed:
            columns.remove(spare.pop(0))
        width = max(1, room())
        broken = ["\n".join(break_name(name, width, cell_len)) for name in names]
        yield self._table(self.names, broken, columns)

    def _table(self, title: str, names: Sequence[str], columns: Sequence[str]) -> Table:
        """Some of the columns, after the names and their title."""
        table = Table(
            title=verbatim(self.title, "table.title"),
            title_justify="left",
            box=box.SIMPLE_HEAD,
            padding=0,
            caption=bound_sentence(self.bound, self.summaries) or None,
            caption_justify="left",
        )
        table.add_column("", no_wrap=True, min_width=1)
        table.add_column(title, no_wrap=True)
        is_adjusted = any("\n" in cells[_SCORE] for _, _, cells in self.rows)
        for column in columns:
            mean_return = "\n(mean return)" if is_adjusted else "\n= mean return"
            below = mean_return if column == _SCORE else ""
            table.add_column(column + below, justify="right", no_wrap=True)
        first_reference = len(self.rows) - self.references
        for number, (name, (marks, _, cells)) in enumerate(zip(names, self.rows, strict=True)):
            if number == first_reference:
                table.add_section()
            texts = [cells.get(column, "") for column in columns]
            style = "dim" if number >= first_reference else ""
            table.add_row(marks, Text(name), *texts, style=style)
        return table


def print_tables(data: ReportData, most: int | None = None) -> None:
    """Print the scores of each experiment, at most `most`."""
    for each in data.experiments:
        console.print(score_table(each.name, each.summaries, each.upper_bound, most))


def score_table(
    experiment: str,
    summaries: Sequence[Summary],
    bound: float | None = None,
    most: int | None = None,
) -> ScoreTable:
    """The agents of one experiment, best first, at most `most`, and the bound on their scores."""
    title = f"{experiment}, {counted(max(len(each.returns) for each in summaries), 'MDP')}"
    table = ScoreTable(title, "agent", bound=bound)
    for summary in sorted(summaries, key=lambda each: each.order)[:most]:
        table.add(summary)
    return table


def best_table(answer: Answer) -> ScoreTable:
    """The best agent of each algorithm within the bounds of the question."""
    rows = []
    for row in answer.rows:
        p_value = format_p(row.test.p_holm) if row.test else ""
        rows.append((row, {"p Holm": p_value, "stable": f"{100 * row.stability:.0f}%"}))
    return _answer_table(answer, "best agents", rows, ["p Holm", "stable"], ["stable", "norm."])


def everyone_table(answer: Answer) -> ScoreTable:
    """Every agent within the bounds of the question."""
    known = {
        name
        for summary in answer.experiment.summaries
        for name, number in summary.quantities.items()
        if number is not None
    }
    quantities = [each.title for each in shown_in(Place.TERMINAL) if each.name in known]
    rows = []
    for place, row in enumerate(answer.allowed):
        is_tested = place and answer.num_tested > 1 and row.summary.is_candidate
        rows.append((row, {"p": format_p(row.p_value) if is_tested else ""}))
    return _answer_table(answer, "agents", rows, [*quantities, "p"], [*quantities, "norm."])


def pair_table(pair: Pair, feature: str, bound: float | None = None) -> ScoreTable:
    """The scores and times of two agents."""
    title = f"{pair.experiment}, {counted(pair.num_mdps, 'MDP')}"
    table = ScoreTable(title, "agents", feature, bound=bound)
    for summary in (pair.first, pair.second):
        table.add(summary)
    return table


def _answer_table(
    answer: Answer,
    names: str,
    rows: Sequence[tuple[Row, dict[str, str]]],
    columns: Sequence[str],
    spare: Sequence[str],
) -> ScoreTable:
    """Rows with further cells in further columns, and the reference below them."""
    number = counted(answer.num_tested, "MDP")
    parts = [answer.experiment.name, number, describe_bounds(answer.question)]
    table = ScoreTable(
        ", ".join(filter(None, parts)),
        names,
        answer.question.feature,
        (_SCORE, "norm.", "offline", "online", *columns),
        spare,
        answer.experiment.upper_bound,
    )
    winners = {summary.label for summary in answer.winners}
    for row, cells in rows:
        if row.normalised is not None:
            cells["norm."] = f"{row.normalised:.2f}"
        marks = row.summary.label in winners, answer.question.straddles(row.summary)
        table.add(row, marks, **cells)
    for summary in answer.experiment.summaries:
        if summary.is_reference:
            table.add(summary, note=" (reference)")
            table.references += 1
    return table
